//! Tests of one's own types: what is sent arrives, and nobody is hurt by what is not what was sent.
//!
//! With the feature `testing`. One line for each type:
//!
//! ```
//! use jstream::{Transportable, testing};
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug))]
//! struct Player {
//!     name: String,
//!     lives: Option<u8>,
//!     inventory: Vec<Item>,
//! }
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug))]
//! enum Item {
//!     Coins(u32),
//!     Book { pages: Vec<String> },
//! }
//!
//! # fn main() {
//! let pages = vec!["once".to_owned(), "upon".to_owned()];
//! let inventory = vec![Item::Coins(3), Item::Book { pages }];
//! let player = Player { name: "Ada".to_owned(), lives: Some(7), inventory };
//! let tally = testing::check(&player);
//! assert!(tally.refused > 1000);
//! # }
//! ```
//!
//! [`check`] sends the value, and what arrives once more. Then it damages the message: each byte in
//! several ways; offsets, lengths, tags, numbers of shared objects, classes and plain values, which
//! the type's [schema](crate::schema) leads to, by values at the edge of what may stand there; all
//! by the words of others; and by its length. It also lowers each of the [`Limits`] to where the
//! message is refused. A damaged message that is accepted is used: printed, sent on, received again.
//!
//! A sample should be small, of a few hundred bytes, and have something of everything: each variant,
//! strings that are not ASCII, shared objects that are met twice. A [`Kit`] is for types that live for
//! less than `'static`, for forms that don't implement [`Debug`], and for what the program does with
//! its objects beyond printing them.
//!
//! With the feature `proptest`, `property` does the like for values of a strategy. In a
//! fuzz target, [`fuzz`] has the fuzzer's bytes decide what is done to a message.

mod damage;
mod finding;
mod limits;
mod places;
#[cfg(feature = "proptest")]
mod property;

use std::fmt::{self, Debug, Write};
use std::marker::PhantomData;
use std::mem::{align_of, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use self::damage::Script;
pub use self::finding::{Finding, Tally, Wrong};
pub use self::places::{Part, Place, Places, places};
#[cfg(feature = "proptest")]
pub use self::property::{property, scripts};

use self::damage::Boundary;
use crate::buffer::Spent;
use crate::model::Transportable;
use crate::read::{Limits, ReadError, Reader};
use crate::received::Received;
use crate::wire::{HEADER_LEN, align_up};
use crate::write::{WriteError, Writer};

/// Checks that `value` arrives, and that nothing comes of damage to its message.
///
/// # Panics
///
/// With a [`Finding`], when something does.
pub fn check<T>(value: &T) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    must(Kit::<T>::new().check(value))
}

/// As [`check`]; and what arrives must be right in the eyes of `is_same` too, for which mostly
/// `|form| *form == value` will do.
///
/// # Panics
///
/// As [`check`].
pub fn check_by<T>(value: &T, is_same: impl for<'x> FnOnce(&'x T::InPlace<'x>) -> bool) -> Tally
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    let kit = Kit::<T>::new();
    must(kit.arrives(value, is_same));
    must(kit.check(value))
}

/// Does to the message of `value` what `input` says, and checks that nothing comes of it; says
/// whether the message was accepted. What a fuzz target calls with the fuzzer's bytes:
///
/// ```
/// # let input: &[u8] = &[2, 0, 9, 0, 3];
/// // fuzz_target!(|input: &[u8]| {
/// jstream::testing::fuzz(&vec![Some("text".to_owned()), None], input);
/// // });
/// ```
///
/// As [`Kit::fuzz`].
///
/// # Panics
///
/// With a [`Finding`], when something does come of it.
pub fn fuzz<T>(value: &T, input: &[u8]) -> bool
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    must(Kit::<T>::new().fuzz(value, input))
}

fn must<R>(result: Result<R, Finding>) -> R {
    result.unwrap_or_else(|finding| panic!("{finding}"))
}

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
    write_again: fn(&Received<T>) -> Result<Vec<u8>, WriteError>,
    most: usize,
    of: PhantomData<fn() -> T>,
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
            write_again: |received| received.with(|form| gathered(form)),
            most: MOST,
            of: PhantomData,
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

    /// Sends a value, and what arrives once more, which must give the same message. Returns it.
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
        let finding = |wrong, sound: &[u8]| Finding::new::<T>(wrong, sound, sound);
        let sound = gathered(value);
        let sound = sound.map_err(|error| finding(Wrong::Unwritten(error.to_string()), &[]))?;
        let written = Writer::new().write(value, Spent::heap(sound.len()));
        let written =
            written.map_err(|error| finding(Wrong::Unwritten(error.to_string()), &sound))?;
        if let Some(at) = difference(&sound, written.as_bytes()) {
            return Err(finding(Wrong::TwoWays { at }, &sound));
        }
        let received = Reader::new(self.limits).read::<T>(written);
        let received =
            received.map_err(|failure| finding(Wrong::Refused(failure.error), &sound))?;
        received.with(|form| (self.visit)(form));
        if !received.with(is_same) {
            return Err(finding(Wrong::Unlike, &sound));
        }
        let again = (self.write_again)(&received);
        let again = again.map_err(|error| finding(Wrong::Unwritten(error.to_string()), &sound))?;
        match difference(&sound, &again) {
            Some(at) => Err(Finding::new::<T>(Wrong::Changed { at }, &sound, &again)),
            None => Ok(sound),
        }
    }

    /// Cuts a message short everywhere, and makes it longer, of which neither may be accepted.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn lengths(&self, sound: &[u8]) -> Result<Tally, Finding> {
        let mut attack = Attack::new(self, sound);
        let step = self.step(sound.len());
        for len in (0..sound.len()).rev().step_by(step) {
            attack.on(sound.get(..len).unwrap_or_default())?;
        }
        let mut longer = sound.to_vec();
        for more in [0, 0, 1, 0xff] {
            longer.push(more);
            attack.on(&longer)?;
        }
        if let Some(accepted) = attack.accepted {
            return Err(Finding::new::<T>(Wrong::Accepted, sound, &accepted));
        }
        attack.end()
    }

    /// Damages each byte of a message in several ways.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn bytes(&self, sound: &[u8]) -> Result<Tally, Finding> {
        let mut attack = Attack::new(self, sound);
        let mut bytes = sound.to_vec();
        let step = self.step(sound.len().saturating_mul(8));
        for (at, own) in sound.iter().enumerate().step_by(step) {
            for byte in damage::bytes_instead_of(*own) {
                if let Some(place) = bytes.get_mut(at) {
                    *place = byte;
                }
                attack.on(&bytes)?;
            }
            if let Some(place) = bytes.get_mut(at) {
                *place = *own;
            }
        }
        attack.end()
    }

    /// Puts values at the edge of what may stand there into all [`places`] of a message.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn structure(&self, sound: &[u8]) -> Result<Tally, Finding> {
        let mut attack = Attack::new(self, sound);
        let places = places::<T>(sound);
        let boundary = Boundary::of(sound, &places);
        let mut all = Vec::new();
        for place in &places.all {
            all.extend(
                boundary
                    .values(place)
                    .into_iter()
                    .map(|value| (place, value)),
            );
        }
        let mut bytes = sound.to_vec();
        for (place, value) in all.iter().step_by(self.step(all.len())) {
            if boundary.put(&mut bytes, place, *value) {
                attack.on(&bytes)?;
            }
            bytes.copy_from_slice(sound);
        }
        let mut found = Ok(());
        boundary.aliases(|bytes| {
            if found.is_ok() {
                found = attack.on(bytes);
            }
        });
        found?;
        attack.end()
    }

    /// Does to a message what a script says; says whether it was accepted.
    ///
    /// # Errors
    ///
    /// A [`Finding`] says what is wrong.
    pub fn script(&self, sound: &[u8], script: &Script) -> Result<bool, Finding> {
        let mut attack = Attack::new(self, sound);
        attack.on(&script.apply(sound, &places::<T>(sound)))?;
        Ok(attack.tally.accepted > 0)
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
        let Some((&first, rest)) = input.split_first() else {
            return Ok(false);
        };
        let descriptor = crate::schema::descriptor::<T>();
        let message = match first % 4 {
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
                damage::framed(rest, descriptor, root)
            }
            _ => {
                let sound = self.round_trip(value)?;
                Script(rest.to_vec()).apply(&sound, &places::<T>(&sound))
            }
        };
        let mut attack = Attack::new(self, &message);
        if first >= 0x80 {
            let mut limits = self.limits;
            limits.depth = Some(u32::from(first >> 2 & 7));
            attack.reader.set_limits(limits);
        }
        attack.on(&message)?;
        Ok(attack.tally.accepted > 0)
    }

    /// The distance between two of `count` messages that are tried.
    fn step(&self, count: usize) -> usize {
        count.div_ceil(self.most).max(1)
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

/// Damaged messages of one kind, one after another, and one reader for all of them.
struct Attack<'k, T: Transportable + 'static> {
    kit: &'k Kit<T>,
    sound: &'k [u8],
    reader: Reader,
    tally: Tally,
    /// The first message that was accepted.
    accepted: Option<Vec<u8>>,
}

impl<'k, T: Transportable + 'static> Attack<'k, T> {
    fn new(kit: &'k Kit<T>, sound: &'k [u8]) -> Self {
        Self {
            kit,
            sound,
            reader: Reader::new(kit.limits),
            tally: Tally::default(),
            accepted: None,
        }
    }

    /// Reads a message, and uses what it holds.
    fn on(&mut self, bytes: &[u8]) -> Result<(), Finding> {
        let used = catch_unwind(AssertUnwindSafe(|| used(self.kit, &mut self.reader, bytes)));
        let wrong = match used {
            Ok(Ok(true)) => {
                self.tally.accepted = self.tally.accepted.wrapping_add(1);
                self.accepted.get_or_insert_with(|| bytes.to_vec());
                return Ok(());
            }
            Ok(Ok(false)) => {
                self.tally.refused = self.tally.refused.wrapping_add(1);
                return Ok(());
            }
            Ok(Err(wrong)) => wrong,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or(panic.downcast_ref::<&str>().map(ToString::to_string));
                Wrong::Panicked(text.unwrap_or_default())
            }
        };
        Err(Finding::new::<T>(wrong, self.sound, bytes))
    }

    /// Whatever the refused messages left behind must not harm the next one.
    fn end(mut self) -> Result<Tally, Finding> {
        match read::<T>(&mut self.reader, self.sound) {
            Ok(_) => Ok(self.tally),
            Err(error) => Err(Finding::new::<T>(
                Wrong::Refused(error),
                self.sound,
                self.sound,
            )),
        }
    }
}

/// Whether a message is accepted; then it is used.
fn used<T: Transportable + 'static>(
    kit: &Kit<T>,
    reader: &mut Reader,
    bytes: &[u8],
) -> Result<bool, Wrong> {
    let received = match read::<T>(reader, bytes) {
        Ok(received) => received,
        Err(error) if error.to_string().is_empty() => return Err(Wrong::Refused(error)),
        Err(_) => return Ok(false),
    };
    received.with(|form| (kit.visit)(form));
    let unwritten = |error: WriteError| Wrong::Unwritten(error.to_string());
    let again = (kit.write_again)(&received).map_err(unwritten)?;
    let second = read::<T>(reader, &again).map_err(Wrong::RefusedAgain)?;
    received.with(|form| (kit.visit)(form));
    let third = (kit.write_again)(&second).map_err(unwritten)?;
    match difference(&again, &third) {
        Some(at) => Err(Wrong::ChangedAgain { at }),
        None => Ok(true),
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
fn gathered<V: Transportable>(value: &V) -> Result<Vec<u8>, WriteError> {
    Writer::new().gather(value, |segments| {
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
