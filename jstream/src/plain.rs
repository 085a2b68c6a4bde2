//! Plain values that are passed between threads without being written as messages.

use std::fmt;
use std::marker::PhantomData;
use std::mem::{MaybeUninit, align_of, needs_drop, size_of};
use std::ptr;

use crate::buffer::{ALIGNMENT, EmptyBuffer};
use crate::model::{InPlace, Transportable};
use crate::received::Received;

/// The bytes of a plain value. A type is plain if it consists of numbers without padding, and if no
/// function of the program has to verify it. [`place`](Self::place) puts the bytes into a buffer,
/// on any thread. The result is the same object that reading the value's message would give.
/// ```
/// use jstream::{EmptyBuffer, Plain};
///
/// let plain = Plain::of(&[1u64, 2, 3]).unwrap();
/// let received = plain.place(EmptyBuffer::heap(24)).unwrap();
/// assert_eq!(received.get(), &[1, 2, 3]);
/// assert!(Plain::of(&"text".to_owned()).is_none());
/// ```
pub struct Plain<T> {
    /// Invariant: the initialised bytes of a value of `T`, for which `IS_PLAIN` is true.
    bytes: MaybeUninit<T>,
    /// Keeps properties that hold only for values of `T`, such as auto traits, from applying to the
    /// bytes.
    of: PhantomData<fn() -> T>,
}

// SAFETY: only bytes move to another thread, as with a message. The object is made of them on the
// receiving thread, as it is when a message is read.
unsafe impl<T> Send for Plain<T> {}

impl<T: Transportable + 'static> Plain<T> {
    /// True if the bytes of any value are its in-place form, and any bytes are a valid value of
    /// that form.
    const IS_PLAIN: bool = T::WIRE_IS_MEMORY
        && T::InPlace::<'static>::SHAPE.plain
        && T::InPlace::<'static>::SHAPE.flat
        && !T::InPlace::<'static>::SHAPE.verified
        && !needs_drop::<T>()
        && size_of::<T>() == size_of::<T::InPlace<'static>>()
        && align_of::<T::InPlace<'static>>() <= ALIGNMENT;

    /// Copies the bytes of `value`. Returns `None` if the type is not plain, so the result is the
    /// same for all values of a type.
    #[must_use]
    pub fn of(value: &T) -> Option<Self> {
        if !Self::IS_PLAIN {
            return None;
        }
        let from = ptr::from_ref(value).cast::<MaybeUninit<T>>();
        Some(Self {
            // SAFETY: a reference is valid for reads, and aligned. No byte is inside a cell
            // (`WIRE_IS_MEMORY`), so no thread writes to the value during the read. The result is a
            // `MaybeUninit` and not a second value of `T`.
            bytes: unsafe { from.read() },
            of: PhantomData,
        })
    }

    /// Puts the object into a buffer.
    ///
    /// # Errors
    ///
    /// Returns the buffer if the object does not fit.
    pub fn place(self, empty: EmptyBuffer) -> Result<Received<T>, EmptyBuffer> {
        let root = empty.base().cast::<T::InPlace<'static>>();
        if empty.capacity() < size_of::<T>() || !root.is_aligned() {
            return Err(empty);
        }
        // SAFETY: the buffer has enough aligned space, and no other pointer refers to it. The form
        // has the size of `T`.
        unsafe { root.cast::<MaybeUninit<T>>().write(self.bytes) };
        let slot = empty.writer().finish().into_slot();
        // SAFETY: the bytes are initialised and the layout of `T` is that of the form
        // (`WIRE_IS_MEMORY`). Any bytes are a valid value of the form (`plain`), and the form has
        // no references (`flat`).
        Ok(unsafe { Received::new(slot, root) })
    }
}

impl<T> fmt::Debug for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plain").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pool, Transportable};

    #[derive(Transportable, Debug, PartialEq)]
    struct Point {
        x: u32,
        y: f32,
    }

    #[derive(Transportable)]
    struct Gap {
        _a: u8,
        _b: u32,
    }

    #[derive(Transportable)]
    #[transportable(verify = even)]
    struct Even(u32);

    fn even(number: &Even) -> Result<(), &'static str> {
        if number.0 % 2 == 0 {
            Ok(())
        } else {
            Err("odd")
        }
    }

    #[test]
    fn plain_values_arrive_unchanged() {
        let pool = Pool::default();
        let plain = Plain::of(&Point { x: 7, y: 0.5 }).unwrap();
        let placed = std::thread::spawn({
            let pool = pool.clone();
            move || plain.place(pool.take(8).unwrap()).unwrap()
        });
        let received = placed.join().unwrap();
        assert_eq!(received.get(), &Point { x: 7, y: 0.5 });
        drop(received);
        assert_eq!(pool.stats().in_use, 0);
    }

    #[test]
    fn a_jbuf_that_is_too_small_comes_back() {
        let plain = Plain::of(&[1u64; 3]).unwrap();
        assert_eq!(
            plain.place(EmptyBuffer::heap(23)).unwrap_err().capacity(),
            23
        );
    }

    #[test]
    fn others_are_not_plain() {
        assert!(Plain::of(&Gap { _a: 1, _b: 2 }).is_none());
        assert!(Plain::of(&Even(2)).is_none());
        assert!(Plain::of(&true).is_none());
        assert!(Plain::of(&"text").is_none());
        assert!(Plain::of(&vec![1]).is_none());
    }
}
