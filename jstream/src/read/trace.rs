//! From a fault's address back to the path of the field.
//!
//! A pass records nothing of how it came to a slot; it would cost every message what only a
//! broken one needs. When a pass has failed, the walk is repeated over what it made native, in
//! the same order and by the same types, until it meets the slot at fault. What lies behind that
//! slot is still wire form and is never looked at. No reference is made to any target; `Option`s
//! that were read are asked, by reference, where their payload lies.

use std::any::type_name;
use std::fmt::Write as _;
use std::mem::size_of;

use super::pass::{Fault, FaultKind};
use crate::model::InPlace;

/// A walk in search of one slot.
#[derive(Debug)]
pub struct Trace {
    wanted: usize,
    path: Vec<Step>,
    found: Option<Found>,
    /// Whether there were too many targets to go on.
    lost: bool,
    /// Targets met, in the order of the pass; `None` while only a path is wanted.
    targets: Option<Vec<Targets>>,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Field(&'static str),
    Index(usize),
}

/// What stands in the slot at fault.
#[derive(Debug, Clone, Copy)]
struct Found {
    type_name: &'static str,
    size: usize,
}

/// The targets of one pointer.
#[derive(Debug, Clone, Copy)]
struct Targets {
    start: *const u8,
    count: usize,
    stride: usize,
    many: bool,
    trace: unsafe fn(*const u8, &mut Trace),
    /// The slot of the pointer.
    slot: usize,
}

impl Targets {
    /// Which of them `address` lies in.
    fn index_of(&self, address: usize) -> Option<usize> {
        let offset = address.checked_sub(self.start.addr())?;
        offset
            .checked_div(self.stride)
            .filter(|index| *index < self.count)
    }
}

/// A walk that meets more targets than this ends without a path: words are not worth more memory.
const MOST_TARGETS: usize = 1 << 20;

/// Paths longer than this many pointers are shown by their end.
const SHOWN: usize = 12;

impl Trace {
    /// Whether the walk is over: it was before, or the slot sought is this one.
    ///
    /// Called for each slot that `read` could have blamed, before anything is made of its bytes.
    #[must_use]
    pub fn hit<T>(&mut self, slot: *const T) -> bool {
        if !self.is_over() && slot.addr() == self.wanted {
            self.found = Some(Found {
                type_name: type_name::<T>(),
                size: size_of::<T>(),
            });
        }
        self.is_over()
    }

    /// Whether the walk is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.found.is_some() || self.lost
    }

    /// Which of `count` values from `first` on holds the slot sought.
    pub(crate) fn element_of<T>(&self, first: *const T, count: usize) -> Option<usize> {
        let offset = self.wanted.checked_sub(first.addr())?;
        let index = offset.checked_div(size_of::<T>())?;
        (index < count).then_some(index)
    }

    /// Steps into a field.
    pub fn enter(&mut self, field: &'static str) {
        self.path.push(Step::Field(field));
    }

    /// Steps into an element.
    pub fn enter_index(&mut self, index: usize) {
        self.path.push(Step::Index(index));
    }

    /// Steps out again, and says whether the walk is over; if so the path stays as it is.
    #[must_use]
    pub fn leave(&mut self) -> bool {
        if !self.is_over() {
            self.path.pop();
        }
        self.is_over()
    }

    /// Notes that the pointer in `slot` leads to `count` values from `start` on.
    pub(crate) fn target<S, T: InPlace>(
        &mut self,
        slot: *const S,
        start: *const T,
        count: usize,
        many: bool,
    ) {
        let found = Targets {
            start: start.cast(),
            count,
            stride: size_of::<T>(),
            many,
            trace: trace_at::<T>,
            slot: slot.addr(),
        };
        if !T::SHAPE.flat {
            if let Some(targets) = &mut self.targets {
                self.lost = targets.len() >= MOST_TARGETS;
                targets.push(found);
            }
        } else if let Some(index) = self.element_of(start, count) {
            // Flat targets are read at once, so they are walked at once.
            if many {
                self.enter_index(index);
            }
            // SAFETY: the pointer was read, so `count` values of `T` were claimed at `start`, and
            // the one with this index holds the slot at fault, so all before it were read.
            unsafe { T::trace(start.wrapping_add(index), self) };
        }
    }
}

/// # Safety
///
/// As for [`InPlace::trace`], with a `T` at `slot`.
unsafe fn trace_at<T: InPlace>(slot: *const u8, trace: &mut Trace) {
    // SAFETY: the caller's promise is passed on.
    unsafe { T::trace(slot.cast(), trace) }
}

/// Where a fault lies, in words.
#[derive(Debug)]
pub(crate) struct Located {
    pub(crate) path: String,
    pub(crate) what: String,
}

/// Says in words where the fault of a pass lies and what it is.
///
/// # Safety
///
/// `fault` must be that of a pass over the message whose root of type `T` stands at `root`, and
/// the buffer must not have been touched since.
pub(super) unsafe fn locate<T: InPlace>(root: *const T, fault: Fault) -> Located {
    let mut trace = Trace {
        wanted: fault.slot.addr().get(),
        path: Vec::new(),
        found: None,
        lost: false,
        targets: Some(vec![Targets {
            start: root.cast(),
            count: 1,
            stride: size_of::<T>(),
            many: false,
            trace: trace_at::<T>,
            slot: 0,
        }]),
    };
    // SAFETY: the first entry is the root, with which the pass began.
    let holder = unsafe { trace.walk() };
    let what = match trace.found {
        // SAFETY: `found` says that `size` bytes of a slot begin at the fault, in the buffer.
        Some(found) => unsafe { describe(fault, found) },
        None => "the bytes are not valid here".to_owned(),
    };
    let targets = trace.targets.take().unwrap_or_default();
    let path = match holder {
        // SAFETY: every target in the list was read by the pass up to its own pointers.
        Some(holder) if trace.found.is_some() => unsafe { path_of(trace, &targets, holder) },
        _ => "…".to_owned(),
    };
    Located {
        path: format!("{}{path}", short(type_name::<T>())),
        what,
    }
}

impl Trace {
    /// Walks all targets in order until the slot is found; gives the one that holds it.
    ///
    /// # Safety
    ///
    /// As for [`locate`].
    unsafe fn walk(&mut self) -> Option<(usize, usize)> {
        let mut next = 0;
        while let Some(targets) = self.targets.as_ref().and_then(|all| all.get(next)).copied() {
            for index in 0..targets.count {
                self.path.clear();
                let at = targets
                    .start
                    .wrapping_add(index.wrapping_mul(targets.stride));
                // SAFETY: the pass met these values in this order and the walk ends at its fault,
                // so this one was read, or begun.
                unsafe { (targets.trace)(at, self) };
                if self.is_over() {
                    return Some((next, index));
                }
            }
            next = next.wrapping_add(1);
        }
        None
    }
}

/// The path from the root to the slot that `trace` found in the target `holder`.
///
/// # Safety
///
/// `targets` must be what a walk collected over an unchanged buffer.
unsafe fn path_of(mut trace: Trace, targets: &[Targets], holder: (usize, usize)) -> String {
    let mut pieces = Vec::new();
    let mut hidden = 0usize;
    let (mut entry, mut index) = holder;
    while let Some(of) = targets.get(entry) {
        let mut piece = String::new();
        if of.many {
            let _ = write!(piece, "[{index}]");
        }
        for step in &trace.path {
            let _ = match step {
                Step::Field(name) => write!(piece, ".{name}"),
                Step::Index(index) => write!(piece, "[{index}]"),
            };
        }
        if pieces.len() < SHOWN {
            pieces.push(piece);
        } else {
            hidden = hidden.wrapping_add(1);
        }
        if of.slot == 0 {
            break;
        }
        // The targets stand in ascending order, so the one that holds the pointer is found by
        // bisection; then its own walk tells the pointer's name.
        entry = targets
            .partition_point(|t| t.start.addr() <= of.slot)
            .saturating_sub(1);
        let Some(holder) = targets.get(entry) else {
            break;
        };
        index = holder.index_of(of.slot).unwrap_or(0);
        if pieces.len() < SHOWN {
            trace.wanted = of.slot;
            trace.found = None;
            trace.path.clear();
            let at = holder.start.wrapping_add(index.wrapping_mul(holder.stride));
            // SAFETY: this target was read up to the pointer at `slot`, and the walk ends there.
            unsafe { (holder.trace)(at, &mut trace) };
        }
    }
    let mut path = String::new();
    if hidden > 0 {
        let _ = write!(path, "…({hidden} more)…");
    }
    for piece in pieces.iter().rev() {
        path.push_str(piece);
    }
    path
}

/// What is wrong with the slot at fault.
///
/// # Safety
///
/// `found.size` initialised bytes must stand at the fault.
unsafe fn describe(fault: Fault, found: Found) -> String {
    let name = short(found.type_name);
    match fault.kind {
        FaultKind::Invalid => {
            let mut bytes = [0u8; 8];
            match bytes.get_mut(..found.size) {
                Some(shown) => {
                    for (i, byte) in shown.iter_mut().enumerate() {
                        // SAFETY: the caller vouches for `size` bytes from the slot on.
                        *byte = unsafe { fault.slot.as_ptr().wrapping_add(i).read() };
                    }
                    let value = u64::from_le_bytes(bytes);
                    if found.size == 1 {
                        format!("byte {value} is not {}", with_article(&name))
                    } else {
                        format!("{value:#x} is not {}", with_article(&name))
                    }
                }
                None => format!("the bytes are not {}", with_article(&name)),
            }
        }
        FaultKind::Tag => format!("the tag of the {name}, in the text, is neither 0 nor 1"),
        FaultKind::Misplaced => {
            format!("the {name} does not point to the next free place of its segment")
        }
        FaultKind::PastEnd => format!("the {name} reaches past the end of its segment"),
        FaultKind::SplitCharacter => "the string ends inside a UTF-8 character".to_owned(),
        FaultKind::ZeroSized => {
            format!("the {name} has more elements without size than Limits::zero_sized allows")
        }
        FaultKind::Pending => {
            format!("the {name} puts off more work than Limits::pending allows")
        }
        FaultKind::Depth => format!("the {name} leads deeper than Limits::depth allows"),
    }
}

/// A type's name behind the article that it takes.
fn with_article(name: &str) -> String {
    let vowel = name.starts_with(['A', 'E', 'I', 'O', 'a', 'e', 'i', 'o']);
    format!("{} {name}", if vowel { "an" } else { "a" })
}

/// A type's name without modules and lifetimes, which some compilers name and some don't.
pub(crate) fn short(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(end) = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let (token, tail) = rest.split_at(end);
        out.push_str(token.rsplit("::").next().unwrap_or(token));
        let mut chars = tail.chars();
        out.extend(chars.next());
        rest = chars.as_str();
    }
    out.push_str(rest.rsplit("::").next().unwrap_or(rest));
    out.replace("<'_>", "")
        .replace("'_, ", "")
        .replace("&'_ ", "&")
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn names_lose_their_modules() {
        assert_eq!(short("a::b::Side"), "Side");
        assert_eq!(short("u8"), "u8");
        assert_eq!(short("a::Order<'_>"), "Order");
        assert_eq!(short("&'_ a::Pair<'_, u8>"), "&Pair<u8>");
        assert_eq!(
            short("core::option::Option<(&[a::Leg], x::y::Z)>"),
            "Option<(&[Leg], Z)>"
        );
    }
}
