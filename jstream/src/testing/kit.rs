//! The tests of a type.

use std::any::type_name;
use std::cell::{OnceCell, RefCell};
use std::fmt::{self, Debug, Write};
use std::mem::{align_of, size_of};
use std::rc::Rc;

use super::attack::Attack;
use super::damage::{Script, framed};
use super::finding::{Finding, Tally, Wrong};
use super::places::{Places, places_of, plan_of};
use crate::buffer::EmptyBuffer;
use crate::model::Transportable;
use crate::read::{Limits, ReadError, Reader};
use crate::received::Received;
use crate::walk::Plan;
use crate::wire::{HEADER_LEN, align_up};
use crate::write::{ForwardedMessage, WriteError, Writer};

type Visit<T> = dyn for<'x> Fn(&'x <T as Transportable>::InPlace<'x>);

/// Configurable tests of the messages of a type.
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
    write_copy: fn(&Received<T>, &mut Writer) -> Result<Vec<u8>, WriteError>,
    forward: fn(Received<T>, &mut Writer) -> Result<ForwardedMessage, WriteError>,
    most: usize,
    writer: RefCell<Writer>,
    reader: RefCell<Reader>,
    plan: OnceCell<Rc<Plan>>,
}

/// Default maximum number of messages for each kind of damage.
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
    /// Creates a kit that formats accepted objects with `Debug`, up to 16 KiB.
    #[must_use]
    pub fn new() -> Self
    where
        for<'x> T::InPlace<'x>: Transportable + Debug,
    {
        Self::visiting(|form| {
            // Truncation is not an error.
            let _ = write!(Cut { left: PRINTED }, "{form:?}");
        })
    }

    /// Creates a kit that passes accepted objects to `visit`, which uses them as the program would.
    #[must_use]
    pub fn visiting(visit: impl for<'x> Fn(&'x T::InPlace<'x>) + 'static) -> Self
    where
        for<'x> T::InPlace<'x>: Transportable,
    {
        Self {
            limits: Limits::default(),
            visit: Box::new(visit),
            write_copy: |received, writer| received.with(|form| gathered(writer, form)),
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

    /// Sets the limits for reading.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Sets the maximum number of messages for each kind of damage (default 20,000). If there would
    /// be more, an evenly spaced selection is tested.
    #[must_use]
    pub fn most(self, most: usize) -> Self {
        Self {
            most: most.max(1),
            ..self
        }
    }

    /// Runs all tests on a value of `T`, with any lifetimes.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn check<V: Transportable>(&self, value: &V) -> Result<Tally, Finding> {
        let sound = self.round_trip(value)?;
        let lengths = self.lengths(&sound)?;
        let limits = self.lowered_limits(&sound)?;
        let bytes = self.bytes(&sound)?;
        let structure = self.structure(&sound)?;
        Ok(lengths.and(limits).and(bytes).and(structure))
    }

    /// Sends a value, and sends the received object again, both written and forwarded. All must
    /// produce the same message, which is returned.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn round_trip<V: Transportable>(&self, value: &V) -> Result<Vec<u8>, Finding> {
        self.arrives(value, |_| true)
    }

    /// Like [`round_trip`](Self::round_trip); additionally, `is_same` must accept the received
    /// object.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
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
        let written = writer.write(value, EmptyBuffer::heap(sound.len()));
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
        let second = (self.write_copy)(&received, writer);
        let second =
            second.map_err(|error| finding(Wrong::WriteFailure(error.to_string()), &sound))?;
        if let Some(at) = difference(&sound, &second) {
            return Err(Finding::new(name, Wrong::Changed { at }, &sound, &second));
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

    /// Truncates a message at every length, and extends it. All these messages must be refused.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn lengths(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.lengths())
    }

    /// Lowers each limit until it refuses a sound message. The errors must name the limit.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn lowered_limits(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.lowered_limits())
    }

    /// Damages each byte of a message in several ways.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn bytes(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.bytes())
    }

    /// Writes boundary values to all [`places`](super::places) of a message.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn structure(&self, sound: &[u8]) -> Result<Tally, Finding> {
        self.attack(sound, |attack| attack.structure(&self.places(sound)))
    }

    /// Applies a script to a message; returns true if the result is accepted.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn script(&self, sound: &[u8], script: &Script) -> Result<bool, Finding> {
        let message = script.apply(sound, &self.places(sound));
        self.attack(sound, |attack| attack.one(&message))
    }

    /// Damages the message of `value` as `input` describes; returns true if the result is accepted.
    ///
    /// The first byte of the input, modulo 4, determines the meaning of the rest:
    ///
    /// - 0: a complete message, whose descriptor is corrected
    /// - 1: the content behind the header, for which a header is made: the binary logarithm of the
    ///   bulk segment's alignment, the lengths of bulk and text in two bytes each, and the three
    ///   segments
    /// - otherwise a [`Script`]
    ///
    /// If the first byte is at least 128, its bits 2 to 4 are the limit of the depth.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn fuzz<V: Transportable>(&self, value: &V, input: &[u8]) -> Result<bool, Finding> {
        let sound = match input.first() {
            Some(first) if first % 4 < 2 => Vec::new(),
            _ => self.round_trip(value)?,
        };
        self.fuzz_message(&sound, input)
    }

    /// Like [`fuzz`](Self::fuzz), for a message that was written before.
    ///
    /// # Errors
    ///
    /// A [`Finding`] describes the first error.
    pub fn fuzz_message(&self, sound: &[u8], input: &[u8]) -> Result<bool, Finding> {
        let message = self.damaged(sound, input);
        self.attack(sound, |attack| {
            if let Some(first) = input.first().filter(|first| **first >= 0x80) {
                attack.limits.depth = Some(u32::from(first >> 2 & 7));
            }
            attack.one(&message)
        })
    }

    /// Returns the message that [`fuzz`](Self::fuzz) tests: a sound message, damaged as `input`
    /// describes.
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

    /// Reads a message and uses its object; returns the error if the message is refused.
    fn used(&self, reader: &mut Reader, message: &[u8]) -> Result<Option<ReadError>, Wrong> {
        let received = match read::<T>(reader, message) {
            Ok(received) => received,
            Err(error) => return Ok(Some(error)),
        };
        received.with(|form| (self.visit)(form));
        let unwritten = |error: WriteError| Wrong::WriteFailure(error.to_string());
        let writer = &mut *self.writer.borrow_mut();
        let second = (self.write_copy)(&received, writer).map_err(unwritten)?;
        let reread = read::<T>(reader, &second).map_err(Wrong::RefusedAgain)?;
        reread.with(|form| (self.visit)(form));
        let third = (self.write_copy)(&reread, writer).map_err(unwritten)?;
        if let Some(at) = difference(&second, &third) {
            return Err(Wrong::ChangedAgain { at });
        }
        let forwarded = match (self.forward)(received, writer) {
            Ok(forwarded) => forwarded.message,
            // Only hand-written implementations return this error; such types do not support it.
            Err(WriteError::Displaced) => return Ok(None),
            Err(error) => return Err(unwritten(error)),
        };
        let fourth = reader.read::<T>(forwarded);
        let fourth = fourth.map_err(|failure| Wrong::RefusedAgain(failure.error))?;
        let fifth = (self.write_copy)(&fourth, writer).map_err(unwritten)?;
        match difference(&second, &fifth) {
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

/// Reads a message in a buffer of exactly its length, so that sanitizers detect every access beyond
/// its end.
fn read<T: Transportable + 'static>(
    reader: &mut Reader,
    bytes: &[u8],
) -> Result<Received<T>, ReadError> {
    let mut filling = EmptyBuffer::heap(bytes.len()).writer();
    if !filling.extend(bytes) {
        unreachable!("the buffer has the length of the message");
    }
    let read = reader.read::<T>(filling.finish());
    read.map_err(|failure| {
        assert_eq!(
            failure.buffer.capacity(),
            bytes.len(),
            "the buffer comes back"
        );
        failure.error
    })
}

/// Returns the message of a value.
fn gathered<V: Transportable>(writer: &mut Writer, value: &V) -> Result<Vec<u8>, WriteError> {
    writer.gather(value, |segments| {
        let segments: Vec<&[u8]> = segments.iter().map(|segment| &**segment).collect();
        segments.concat()
    })
}

/// Returns the offset of the first byte in which two messages differ, or the length of the shorter
/// one.
fn difference(a: &[u8], b: &[u8]) -> Option<usize> {
    let differ = a.iter().zip(b).position(|(a, b)| a != b);
    differ.or_else(|| (a.len() != b.len()).then(|| a.len().min(b.len())))
}

/// Maximum number of bytes of an object that are formatted. It limits the stack and the time if
/// objects form cycles or are reachable by many paths.
const PRINTED: usize = 16 << 10;

/// Writer that validates the formatted text, and fails beyond the limit.
struct Cut {
    left: usize,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // The assertion detects invalid UTF-8.
        assert_eq!(
            std::str::from_utf8(std::hint::black_box(text.as_bytes())),
            Ok(text)
        );
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        Ok(())
    }
}
