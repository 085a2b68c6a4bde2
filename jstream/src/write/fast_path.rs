//! Fast path for messages that consist of a header and a flat root. Their length is a constant of
//! the type. They are built on the stack or, if the root is copied, in the destination buffer.
//!
//! Decision 050 has the reasons.

use std::io::IoSlice;
use std::mem::{MaybeUninit, align_of, size_of};
use std::ptr;
use std::slice;

use super::draft::RECORD_MIN_BYTES;
use super::error::WriteError;
use super::writer::{Writer, takes_fast_path};
use crate::buffer::{ALIGNMENT, LEAST_ALIGNMENT, Space};
use crate::model::{InPlace, Transportable};
use crate::wire::{HEADER_LEN, Header, align_up, root_end};

/// Storage for such a message, aligned for the form.
#[repr(C)]
struct FlatMessage<F> {
    header: Header,
    root: F,
}

impl Writer {
    /// Like [`gather`](Self::gather), for a form that [takes the fast path](takes_fast_path) and is
    /// within the limit.
    #[inline]
    pub(super) fn gather_fast<T: Transportable, R>(
        &mut self,
        value: &T,
        send: impl FnOnce(&[IoSlice<'_>]) -> R,
    ) -> Result<R, WriteError> {
        let mut message = MaybeUninit::<FlatMessage<T::InPlace<'_>>>::uninit();
        let base = message.as_mut_ptr().cast::<u8>();
        // SAFETY: the root is at the offset at which `repr(C)` puts it, so there is room and it is
        // aligned.
        unsafe { self.write_fast(value, base)? };
        // SAFETY: `root_end` bytes were just zeroed and then written to. By its contract, `write`
        // leaves none of them uninitialised, and neither does a copy of memory that is wire form.
        // Nothing writes to the bytes while they are lent.
        let bytes = unsafe { slice::from_raw_parts(base, root_end::<T::InPlace<'_>>()) };
        Ok(send(&[IoSlice::new(bytes)]))
    }

    /// Writes the message of a value that is copied, and returns its length. Returns `None`, with
    /// nothing written, if the value must be converted or does not fit.
    #[inline]
    pub(super) fn copy_plain<T: Transportable>(
        &mut self,
        value: &T,
        into: &Space<'_>,
    ) -> Option<usize> {
        if !T::WIRE_IS_MEMORY || !fits::<T::InPlace<'_>>(into) {
            return None;
        }
        let descriptor = self.descriptors.descriptor::<T::InPlace<'_>>();
        // SAFETY: the space has room for the message, its base is aligned for the form, and the
        // memory of the value is its wire form.
        unsafe { copy_root(descriptor, value, into.base().as_ptr()) };
        Some(root_end::<T::InPlace<'_>>())
    }

    /// Like [`copy_plain`](Self::copy_plain). Also returns `None` if the last message was of
    /// another type. Does not panic.
    #[inline(always)]
    pub(super) fn copy_known_plain<T: Transportable>(
        &mut self,
        value: &T,
        into: &Space<'_>,
    ) -> Option<usize> {
        if !T::WIRE_IS_MEMORY || !fits::<T::InPlace<'_>>(into) {
            return None;
        }
        let descriptor = self.descriptors.last_if::<T::InPlace<'_>>()?;
        // SAFETY: the space has room for the message, its base is aligned for the form, and the
        // memory of the value is its wire form.
        unsafe { copy_root(descriptor, value, into.base().as_ptr()) };
        Some(root_end::<T::InPlace<'_>>())
    }

    /// Writes the message of a form that takes the fast path. Initialises each byte up to the end
    /// of the root.
    ///
    /// # Safety
    ///
    /// `base` must be aligned for the form, and valid for writes up to the end of the root.
    #[inline(always)]
    unsafe fn write_fast<T: Transportable>(
        &mut self,
        value: &T,
        base: *mut u8,
    ) -> Result<(), WriteError> {
        let descriptor = self.descriptors.descriptor::<T::InPlace<'_>>();
        if T::WIRE_IS_MEMORY {
            // SAFETY: the caller's promise is passed on, and this is such a value.
            unsafe { copy_root(descriptor, value, base) };
            return Ok(());
        }
        // SAFETY: the caller's promise is passed on.
        let root = unsafe { begin_root(descriptor, base) };
        let mut writing = self.writing(None, RECORD_MIN_BYTES);
        // SAFETY: the slot is aligned, writable and zeroed. A flat form has no pointers to other
        // memory.
        unsafe { value.write(root, &mut writing) };
        writing.refused.take().map_or(Ok(()), Err)
    }
}

/// Returns true if messages of this form take the fast path, and one has room in `into`, whose base
/// is aligned for the form.
#[inline(always)]
fn fits<F: InPlace>(into: &Space<'_>) -> bool {
    let is_aligned =
        align_of::<F>() <= LEAST_ALIGNMENT || into.base().addr().get() % ALIGNMENT == 0;
    takes_fast_path::<F>() && root_end::<F>() <= into.capacity() && is_aligned
}

/// Writes the header of a message that consists of a root, and zeroes the root. Returns its slot.
///
/// # Safety
///
/// `base` must be aligned for the form, and valid for writes up to the end of the root.
#[inline(always)]
unsafe fn begin_root<F>(descriptor: u64, base: *mut u8) -> *mut F {
    let end = root_end::<F>();
    // SAFETY: the caller has room for all of it.
    unsafe { ptr::write_bytes(base, 0, end) };
    let header = Header::of_root(descriptor, end);
    // SAFETY: as above.
    unsafe { base.cast::<Header>().write_unaligned(header) };
    base.wrapping_add(align_up(HEADER_LEN, align_of::<F>()))
        .cast()
}

/// Writes the message of a value whose memory is its wire form.
///
/// # Safety
///
/// As for [`begin_root`], and `T::WIRE_IS_MEMORY` must be true.
#[inline(always)]
unsafe fn copy_root<T: Transportable>(descriptor: u64, value: &T, base: *mut u8) {
    debug_assert!(T::WIRE_IS_MEMORY);
    // SAFETY: the caller's promise is passed on.
    let root = unsafe { begin_root::<T::InPlace<'_>>(descriptor, base) };
    let bytes = ptr::from_ref(value).cast::<u8>();
    // SAFETY: `WIRE_IS_MEMORY` guarantees that all bytes of the value are initialised and not
    // behind a cell, and that the form has the same size.
    unsafe { ptr::copy_nonoverlapping(bytes, root.cast(), size_of::<T::InPlace<'_>>()) };
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small numbers")]
pub(super) mod tests {
    use std::cell::Cell;
    use std::num::NonZeroU32;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;
    use std::time::Duration;

    use super::*;
    use crate::received::Wire;
    use crate::write::writer::LONGEST;
    use crate::{Adapter, EmptyBuffer, Limits, ReadError, Reader, Transportable};

    #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
    #[repr(C, align(64))]
    struct Wide {
        a: u8,
        b: (u32, bool),
    }

    #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
    #[repr(u8)]
    enum Shape {
        Point,
        Round(f32),
        Box { width: u16, height: u64 },
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct Gaps {
        a: u8,
        #[transportable(skip)]
        skipped: u32,
        b: Option<u64>,
        c: [char; 2],
        #[transportable(with = Even)]
        d: u16,
    }

    /// An adapter that reads even numbers, and panics if it has to write a 13.
    pub(in crate::write) struct Even;

    impl Adapter<u16> for Even {
        type Wire = u16;
        type Error = &'static str;

        fn to_wire(value: &u16) -> u16 {
            assert_ne!(*value, 13, "unlucky");
            *value
        }

        fn from_wire(wire: &u16) -> Result<u16, &'static str> {
            if wire % 2 == 0 { Ok(*wire) } else { Err("odd") }
        }
    }

    #[derive(Transportable, Debug, PartialEq)]
    #[transportable(verify = low)]
    struct Low(u32);

    fn low(number: &Low) -> Result<(), &'static str> {
        if number.0 < 10 { Ok(()) } else { Err("high") }
    }

    const GAPS: Gaps = Gaps {
        a: 1,
        skipped: 0,
        b: Some(2),
        c: ['x', 'ü'],
        d: 4,
    };

    fn joined<T: Transportable>(value: &T) -> Vec<u8> {
        let join = |segments: &[IoSlice<'_>]| segments.iter().flat_map(|s| s.to_vec()).collect();
        Writer::new()
            .gather_graph(value, RECORD_MIN_BYTES, join)
            .unwrap()
    }

    /// Checks that both paths produce the same bytes, and that these are read as the value.
    fn check<T>(value: &T)
    where
        T: Transportable + crate::Covariant + std::fmt::Debug + 'static,
        for<'b> T::InPlace<'b>: std::fmt::Debug,
    {
        let expected = joined(value);
        let mut writer = Writer::new();
        let mut bytes = Vec::new();
        writer.write_vec(value, &mut bytes).unwrap();
        assert_eq!(bytes, expected);
        let len = expected.len();
        let filled = writer.write(value, EmptyBuffer::heap(len)).unwrap();
        assert_eq!(filled.as_bytes(), expected);
        let unwritten = writer.write(value, EmptyBuffer::heap(len - 1)).unwrap_err();
        assert!(matches!(unwritten.error, WriteError::EndOfStream { .. }));
        let limits = Limits {
            bytes: len - 1,
            ..Limits::default()
        };
        let limited = Writer::with_limits(limits).gather(value, |_| ());
        let is_too_long = matches!(limited, Err(WriteError::TooLong { .. }));
        assert_eq!(is_too_long, len > LONGEST, "{len}");
        let received = Reader::default().read::<T>(filled).unwrap();
        assert_eq!(format!("{:?}", received.get()), format!("{value:?}"));
        assert_eq!(received.wire(), Wire::AsRead);
    }

    #[test]
    fn both_ways_make_the_same_message() {
        check(&());
        check(&7u8);
        check(&u128::MAX);
        check(&true);
        check(&(1u8, 2u64, false));
        check(&[0x55u8; LONGEST - HEADER_LEN]);
        check(&[0x55u8; LONGEST - HEADER_LEN + 1]);
        check(&[(1u8, 2u16); 20]);
        check(&Some(3u32));
        check(&None::<u32>);
        check(&Duration::from_millis(1500));
        check(&NonZeroU32::new(9).unwrap());
        check(&GAPS);
        check(&Low(3));
        check(&Wide { a: 1, b: (2, true) });
        for shape in [
            Shape::Point,
            Shape::Round(0.5),
            Shape::Box {
                width: 3,
                height: 4,
            },
        ] {
            check(&shape);
            check(&(shape, 5u8));
        }
    }

    #[test]
    fn each_bit_of_the_header_counts() {
        let bytes = joined(&(1u64, true));
        let mut reader = Reader::default();
        for bit in 0..HEADER_LEN * 8 {
            let mut bytes = bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            assert!(reader.read::<(u64, bool)>(message).is_err(), "bit {bit}");
        }
        for len in 0..bytes.len() {
            let message = EmptyBuffer::heap(bytes.len())
                .copy_from(&bytes[..len])
                .unwrap();
            assert!(reader.read::<(u64, bool)>(message).is_err(), "{len} bytes");
        }
        let longer = [&bytes[..], &[0]].concat();
        let message = EmptyBuffer::heap(longer.len()).copy_from(&longer).unwrap();
        assert!(reader.read::<(u64, bool)>(message).is_err());
        let limits = Limits {
            bytes: bytes.len() - 1,
            ..Limits::default()
        };
        let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
        let failure = Reader::new(limits).read::<(u64, bool)>(message);
        assert!(matches!(
            failure.unwrap_err().error,
            ReadError::TooLong { .. }
        ));
    }

    #[test]
    fn a_header_that_writers_do_not_make_may_be_one() {
        let mut bytes = joined(&5u64);
        bytes[4] = 64;
        bytes.resize(64, 0);
        let message = EmptyBuffer::heap(64).copy_from(&bytes).unwrap();
        let received = Reader::default().read::<u64>(message).unwrap();
        assert_eq!(*received.get(), 5);
    }

    #[test]
    fn faults_are_found_between_other_messages() {
        let shared = Rc::new("text".to_owned());
        let graph = (shared.clone(), shared, Some(Box::new(1u8)));
        let cell = Cell::new(None::<&u32>);
        let mut reader = Reader::default();
        let read_graph = |reader: &mut Reader| {
            let message = Writer::new().write(&graph, EmptyBuffer::heap(256)).unwrap();
            let received = reader
                .read::<(Rc<String>, Rc<String>, Option<Box<u8>>)>(message)
                .unwrap();
            received.with(|(a, b, _)| assert!(std::ptr::eq(&**a, &**b)));
            let message = Writer::new().write(&cell, EmptyBuffer::heap(64)).unwrap();
            let received = reader.read::<Cell<Option<&u32>>>(message).unwrap();
            assert_eq!(received.wire(), Wire::Changed);
        };
        let broken = |value: &Gaps, at: usize, byte: u8| {
            let mut bytes = joined(value);
            bytes[at] = byte;
            EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap()
        };
        let place = |offset: usize| HEADER_LEN + offset;
        let cases = [
            (std::mem::offset_of!(Gaps, d), "Gaps.d: odd"),
            (std::mem::offset_of!(Gaps, b) + 8, "Gaps.b"),
            (std::mem::offset_of!(Gaps, c) + 7, "Gaps.c[1]"),
        ];
        for (offset, text) in cases {
            read_graph(&mut reader);
            let failure = reader.read::<Gaps>(broken(&GAPS, place(offset), 0x77));
            let error = failure.unwrap_err().error.to_string();
            assert!(error.contains(text), "{error}");
        }
        read_graph(&mut reader);
        let message = Writer::new()
            .write(&Low(11), EmptyBuffer::heap(64))
            .unwrap();
        let error = reader.read::<Low>(message).unwrap_err().error.to_string();
        assert!(error.contains("high"), "{error}");
        read_graph(&mut reader);
        let message = Writer::new().write(&GAPS, EmptyBuffer::heap(128)).unwrap();
        assert_eq!(reader.read::<Gaps>(message).unwrap().get(), &GAPS);
    }

    #[test]
    fn a_panic_leaves_the_writer_fit_for_use() {
        let mut writer = Writer::new();
        let unlucky = Gaps { d: 13, ..GAPS };
        let write = AssertUnwindSafe(|| writer.gather(&unlucky, |_| ()));
        assert!(catch_unwind(write).is_err());
        let mut bytes = Vec::new();
        writer.write_vec(&GAPS, &mut bytes).unwrap();
        assert_eq!(bytes, joined(&GAPS));
        bytes.clear();
        writer.write_vec(&"text".to_owned(), &mut bytes).unwrap();
        assert_eq!(bytes, joined(&"text".to_owned()));
    }
}
