//! All checks of a type.

use std::any::type_name;
use std::cell::{OnceCell, RefCell};
use std::fmt::{self, Debug, Write};
use std::mem::{align_of, size_of};
use std::rc::Rc;

use super::attack::Attack;
use super::damage::{Script, framed};
use super::finding::{Finding, Tally, Wrong};
use super::places::{Places, places_of, plan_of};
use crate::buffer::Spent;
use crate::model::Transportable;
use crate::read::{Limits, ReadError, Reader};
use crate::received::Received;
use crate::walk::Plan;
use crate::wire::{HEADER_LEN, align_up};
use crate::write::{ForwardedMessage, WriteError, Writer};

type Visit<T> = dyn for<'x> Fn(&'x <T as Transportable>::InPlace<'x>);

/// How messages of a type are checked.
///
/// ```
/// use std::cell::Cell;
///
/// use jstream::Transportable;
/// use jstream::testing::Kit;
///
/// #[derive(Transportable)]
/// struct Ring<'b> {
///     name: &'b str,
///     next: Cell<Option<&'b Ring<'b>>>,
/// }
///
/// # fn main() -> Result<(), jstream::testing::Finding> {
/// let (a, b) = (Ring { name: "a", next: Cell::default() }, Ring { name: "b", next: Cell::default() });
/// a.next.set(Some(&b));
/// b.next.set(Some(&a));
/// let kit = Kit::<Ring<'_>>::visiting(|ring| {
///     let next = ring.next.get().map(|next| next.name.len());
///     std::hint::black_box((ring.name.len(), next));
/// });
/// kit.check(&a)?;
/// # Ok(())
/// # }
/// ```
pub struct Kit<T: Transportable + 'static> {
    limits: Limits,
    visit: Box<Visit<T>>,
    write_again: fn(&Received<T>, &mut Writer) -> Result<Vec<u8>, WriteError>,
    forward: fn(Received<T>, &mut Writer) -> Result<ForwardedMessage, WriteError>,
    most: usize,
    writer: RefCell<Writer>,
    reader: RefCell<Reader>,
    plan: OnceCell<Rc<Plan>>,
}

/// How many messages are made in each way of damaging, by default.
const MOST: usize = 20_000;

impl<T: Transportable + 'static> Default for Kit<T>
where
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Transportable + 'static> Kit<T> {
    /// A kit that prints what it accepts, as far as 16 KiB.
    #[must_use]
    pub fn new() -> Self
    where
        for<'x> T::InPlace<'x>: Transportable + Debug,
    {
        Self::visiting(|form| {
            // That it is cut off is no fault.
            let _ = write!(Cut { left: PRINTED }, "{form:?}");
        })
    }

    /// A kit that shows what it accepts to `visit`, which does with it what the program would do.
    #[must_use]
    pub fn visiting(visit: impl for<'x> Fn(&'x T::InPlace<'x>) + 'static) -> Self
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        Self {
            limits: Limits::default(),
            visit: Box::new(visit),
            write_again: |received, writer| received.with(|form| gathered(writer, form)),
            forward: |received, writer| {
                let forwarded = writer.forward(received);
                forwarded.map_err(|unforwarded| unforwarded.error)
            },
            most: MOST,
            writer: RefCell::default(),
            reader: RefCell::default(),
            plan: OnceCell::new(),
        }
    }

    /// The same, with limits of one's own.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The same, with at most so many messages in each way of damaging (default 20,000). Where there
    /// would be more, they are chosen evenly.
    #[must_use]
    pub fn most(self, most: usize) -> Self {
        Self {
            most: most.max(1),
            ..self
        }
    }

    /// All checks of a value of `T`, whatever its lifetimes.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn check<V: Transportable>(&self, value: &V) -> Result<Tally, Finding> {
        let sound = self.round_trip(value)?;
        let lengths = self.lengths(&sound)?;
        let limits = self.lowered_limits(&sound)?;
        let bytes = self.bytes(&sound)?;
        let structure = self.structure(&sound)?;
        Ok(lengths.and(limits).and(bytes).and(structure))
    }

    /// Sends a value, and what arrives once more, written and forwarded, which must give the same
    /// message. Returns it.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn round_trip<V: Transportable>(&self, value: &V) -> Result<Vec<u8>, Finding> {
        self.arrives(value, |_| true)
    }

    /// As [`round_trip`](Self::round_trip), and what arrives must be right in the eyes of `is_same`.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn arrives<V: Transportable>(
        &self,
        value: &V,
        is_same: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> bool,
    ) -> Result<Vec<u8>, Finding> {
        let name = type_name::<T>();
        let finding = |wrong, sound: &[u8]| Finding::new(name, wrong, sound, sound);
        let writer = &mut *self.writer.borrow_mut();
        let sound = gathered(writer, value);
        let sound = sound.map_err(|error| finding(Wrong::WriteFailure(error.to_string()), &[]))?;
        let written = writer.write(value, Spent::heap(sound.len()));
        let written =
            written.map_err(|error| finding(Wrong::WriteFailure(error.to_string()), &sound))?;
        if let Some(at) = difference(&sound, written.as_bytes()) {
            return Err(finding(Wrong::TwoWays { at }, &sound));
        }
        let reader = &mut *self.reader.borrow_mut();
        reader.set_limits(self.limits);
        let received = reader.read::<T>(written);
        let received =
            received.map_err(|failure| finding(Wrong::Refused(failure.error), &sound))?;
        received.with(|form| (self.visit)(form));
        if !received.with(is_same) {
            return Err(finding(Wrong::Unlike, &sound));
        }
        let again = (self.write_again)(&received, writer);
        let again =
            again.map_err(|error| finding(Wrong::WriteFailure(error.to_string()), &sound))?;
        if let Some(at) = difference(&sound, &again) {
            return Err(Finding::new(name, Wrong::Changed { at }, &sound, &again));
        }
        let forwarded = (self.forward)(received, writer);
        let forwarded =
            forwarded.map_err(|error| finding(Wrong::WriteFailure(error.to_string()), &sound))?;
        let message = forwarded.message.as_bytes();
        match difference(&sound, message) {
            Some(at) => Err(Finding::new(
                name,
                Wrong::ForwardedMessage { at },
                &sound,
                message,
            )),
            None if !forwarded.in_place => Err(finding(Wrong::Copied, &sound)),
            None => Ok(sound),
        }
    }

    /// Cuts a message short everywhere, and makes it longer, of which neither may be accepted.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn lengths(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.lengths())
    }

    /// Lowers each limit to where it refuses a sound message, which it must do by its name.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn lowered_limits(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.lowered_limits())
    }

    /// Damages each byte of a message in several ways.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn bytes(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.bytes())
    }

    /// Puts values at the edge of what may stand there into all [`places`](super::places) of a message.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn structure(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.structure(&self.places(sound)))
    }

    /// Does to a message what a script says; says whether it was accepted.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn script(&self, sound: &[u8], script: &Script) -> Result<bool, Finding> {
        let message = script.apply(sound, &self.places(sound));
        self.attack(sound, |attack| attack.one(&message))
    }

    /// Does to the message of `value` what `input` says; says whether it was accepted. The first
    /// byte of the input, modulo 4, says what the rest is: 0 a message but for the descriptor, which
    /// is made to fit; 1 what follows the header, which is made to fit too: the binary logarithm of
    /// the bulk segment's alignment, the lengths of bulk and text in two bytes each, and the three
    /// segments; else a [`Script`]. From 128 on it limits the depth to its bits 2 to 4.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn fuzz<V: Transportable>(&self, value: &V, input: &[u8]) -> Result<bool, Finding> {
        let sound = match input.first() {
            Some(first) if first % 4 < 2 => Vec::new(),
            _ => self.round_trip(value)?,
        };
        self.fuzz_message(&sound, input)
    }

    /// As [`fuzz`](Self::fuzz), to a message that was written before.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn fuzz_message(&self, sound: &[u8], input: &[u8]) -> Result<bool, Finding> {
        let message = self.damaged(sound, input);
        self.attack(sound, |attack| {
            if let Some(first) = input.first().filter(|first| **first >= 0x80) {
                attack.limits.depth = Some(u32::from(first >> 2 & 7));
            }
            attack.one(&message)
        })
    }

    /// The message that `input` makes of a sound one, as [`fuzz`](Self::fuzz) has it.
    #[must_use]
    pub fn damaged(&self, sound: &[u8], input: &[u8]) -> Vec<u8> {
        let Some((&first, rest)) = input.split_first() else {
            return sound.to_vec();
        };
        let descriptor = crate::schema::descriptor::<T>();
        match first % 4 {
            0 => {
                let mut message = rest.to_vec();
                if let Some(place) = message.get_mut(8..16) {
                    place.copy_from_slice(&descriptor.to_le_bytes());
                }
                message
            }
            1 => {
                let align = align_of::<T::InPlace<'static>>();
                let root = align_up(HEADER_LEN, align).wrapping_sub(HEADER_LEN);
                let root = root.saturating_add(size_of::<T::InPlace<'static>>());
                framed(rest, descriptor, root)
            }
            _ => Script(rest.to_vec()).apply(sound, &self.places(sound)),
        }
    }

    fn places(&self, message: &[u8]) -> Places {
        places_of(self.plan.get_or_init(plan_of::<T>), message)
    }

    fn attack<R>(&self, sound: &[u8], with: impl FnOnce(&mut Attack<'_>) -> R) -> R {
        with(&mut Attack {
            of: type_name::<T>(),
            sound,
            limits: self.limits,
            most: self.most,
            reader: &self.reader,
            uses: &|reader, message| self.used(reader, message),
        })
    }

    /// Reads a message, and uses what it holds; gives the error if it is refused.
    fn used(&self, reader: &mut Reader, message: &[u8]) -> Result<Option<ReadError>, Wrong> {
        let received = match read::<T>(reader, message) {
            Ok(received) => received,
            Err(error) => return Ok(Some(error)),
        };
        received.with(|form| (self.visit)(form));
        let unwritten = |error: WriteError| Wrong::WriteFailure(error.to_string());
        let writer = &mut *self.writer.borrow_mut();
        let again = (self.write_again)(&received, writer).map_err(unwritten)?;
        let second = read::<T>(reader, &again).map_err(Wrong::RefusedAgain)?;
        second.with(|form| (self.visit)(form));
        let third = (self.write_again)(&second, writer).map_err(unwritten)?;
        if let Some(at) = difference(&again, &third) {
            return Err(Wrong::ChangedAgain { at });
        }
        let forwarded = match (self.forward)(received, writer) {
            Ok(forwarded) => forwarded.message,
            // By hand only comes what the type leaves out.
            Err(WriteError::Displaced) => return Ok(None),
            Err(error) => return Err(unwritten(error)),
        };
        let fourth = reader.read::<T>(forwarded);
        let fourth = fourth.map_err(|failure| Wrong::RefusedAgain(failure.error))?;
        let fifth = (self.write_again)(&fourth, writer).map_err(unwritten)?;
        match difference(&again, &fifth) {
            Some(at) => Err(Wrong::ForwardedMessage { at }),
            None => Ok(None),
        }
    }
}

impl<T: Transportable + 'static> Debug for Kit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit")
            .field("limits", &self.limits)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

/// Reads a message in a jbuf of just its length, so that sanitizers see every step past its end.
fn read<T: Transportable + 'static>(
    reader: &mut Reader,
    bytes: &[u8],
) -> Result<Received<T>, ReadError> {
    let mut filling = Spent::heap(bytes.len()).filling();
    if !filling.extend(bytes) {
        unreachable!("the jbuf has the length of the message");
    }
    let read = reader.read::<T>(filling.finish());
    read.map_err(|failure| {
        assert_eq!(failure.spent.capacity(), bytes.len(), "the jbuf comes back");
        failure.error
    })
}

/// The message of a value.
fn gathered<V: Transportable>(writer: &mut Writer, value: &V) -> Result<Vec<u8>, WriteError> {
    writer.gather(value, |segments| {
        let segments: Vec<&[u8]> = segments.iter().map(|segment| &**segment).collect();
        segments.concat()
    })
}

/// The first byte in which two messages differ, or where one ends.
fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let differ = a.iter().zip(b).position(|(a, b)| a != b);
    differ.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))
}

/// How much of an object is printed. Bounds the stack and the time that printing takes where
/// objects lead to each other in a circle, or in many ways.
const PRINTED: usize = 16 << 10;

/// Looks at what is printed, and fails when there is more.
struct Cut {
    left: usize,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // Text that is none would not get past this.
        assert_eq!(
            std::str::from_utf8(std::hint::black_box(text.as_bytes())),
            Ok(text)
        );
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}
