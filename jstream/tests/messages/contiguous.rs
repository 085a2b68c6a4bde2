//! Messages in contiguous memory: in a `Vec`, and through `std::io::Write`.

use std::io::{self, ErrorKind, IoSlice, Write};

use jstream::{Adapter, EmptyBuffer, ReadError, Reader, Transportable, WriteError, Writer};
use proptest::collection::vec;
use proptest::prelude::*;

/// A writer that accepts a few bytes per call, is interrupted, and is full at some point.
struct Slow<'a> {
    /// The maximum number of bytes that each call accepts; 0 stands for an interruption.
    turns: std::iter::Cycle<std::slice::Iter<'a, usize>>,
    room: usize,
    taken: Vec<u8>,
}

impl Write for Slow<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(bytes)])
    }

    fn write_vectored(&mut self, segments: &[IoSlice<'_>]) -> io::Result<usize> {
        let most = match self.turns.next() {
            Some(0) => return Err(ErrorKind::Interrupted.into()),
            Some(most) => (*most).min(self.room - self.taken.len()),
            None => 0,
        };
        let before = self.taken.len();
        for segment in segments {
            let left = before + most - self.taken.len();
            self.taken
                .extend_from_slice(&segment[..left.min(segment.len())]);
        }
        Ok(self.taken.len() - before)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A writer that reports more bytes than it was given.
struct Liar;

impl Write for Liar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len() + 1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns values with padding, which are written to aligned memory or not, as what precedes them
/// is lent or copied.
fn padded() -> impl Strategy<Value = Vec<(u32, u8)>> {
    vec(any::<(u32, u8)>(), 0..9)
}

/// Returns text of up to 1,800 bytes.
fn text() -> impl Strategy<Value = String> {
    (0..3usize, 0..600usize).prop_map(|(kind, len)| ["x", "ä", "語"][kind].repeat(len))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A buffer, a `Vec` and a writer get the same bytes, whatever is lent and however many bytes
    /// each call accepts.
    #[test]
    fn all_ways_write_the_same(
        values in vec((vec(any::<u16>(), 0..700), text(), padded(), any::<Option<char>>()), 0..90),
        mut turns in vec(0..3000usize, 1..9),
        lent_from in 0..1500usize,
        room in proptest::option::of(0..5000usize),
    ) {
        turns.push(1);
        let mut writer = Writer::new().lend_from(lent_from);
        let mut bytes = b"before".to_vec();
        let len = writer.write_vec(&values, &mut bytes).unwrap();
        prop_assert_eq!(bytes.len(), 6 + len);
        let filled = Writer::new().write(&values, EmptyBuffer::heap(len)).unwrap();
        prop_assert_eq!(filled.as_bytes(), &bytes[6..]);
        let (turns, room) = (turns.iter().cycle(), room.unwrap_or(usize::MAX));
        let mut slow = Slow { turns, room, taken: Vec::new() };
        match writer.write_io(&values, &mut slow) {
            Ok(written) => {
                prop_assert_eq!(written, len);
                prop_assert_eq!(&slow.taken, &bytes[6..]);
            }
            Err(WriteError::Io(error)) => {
                prop_assert_eq!(error.kind(), ErrorKind::WriteZero);
                prop_assert!(room < len);
                prop_assert_eq!(&slow.taken, &bytes[6..6 + room]);
            }
            Err(other) => prop_assert!(false, "{other}"),
        }
    }
}

/// Long text is a segment in the program's own memory, between the text before and after it.
#[test]
fn long_text_is_lent() {
    let long = "語".repeat(1000);
    let value = ("before", long.as_str(), "after", [0u64; 1000].as_slice());
    let mut writer = Writer::new();
    let bytes = writer
        .gather(&value, |segments| {
            assert!(segments.iter().any(|lent| lent.as_ptr() == long.as_ptr()));
            segments
                .iter()
                .flat_map(|of| of.to_vec())
                .collect::<Vec<u8>>()
        })
        .unwrap();
    assert_eq!(bytes, jstream::to_vec(&value).unwrap());
    assert!(bytes.ends_with(format!("before{long}after").as_bytes()));
    let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let received = Reader::default().read::<(&str, &str, &str, &[u64])>(message);
    assert_eq!(*received.unwrap().get(), value);
}

/// The limit of the text counts text that is lent, whether the next string is lent or not.
#[test]
fn lent_text_has_a_limit() {
    let (half, short) = ("x".repeat(500), "x".repeat(63));
    let fits = vec![half.as_str(); 2];
    let value = (fits.as_slice(), "");
    let len = Writer::new().message_len(&value).unwrap();
    let mut writer = crate::common::limited(len);
    assert!(writer.write_vec(&value, &mut Vec::new()).is_ok());
    assert!(writer.write_vec(&fits, &mut Vec::new()).is_ok());
    for more in [half.as_str(), short.as_str(), "x"] {
        let value = (fits.as_slice(), more);
        let error = writer.write_vec(&value, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, WriteError::TooLong { .. }), "{more}");
    }
}

#[test]
fn errors_are_values() {
    let mut writer = crate::common::limited(1000);
    let mut bytes = vec![1, 2, 3];
    let error = writer.write_vec(&vec![0u64; 1000], &mut bytes).unwrap_err();
    assert!(matches!(error, WriteError::TooLong { .. }));
    assert_eq!(bytes, [1, 2, 3]);
    let error = writer.write_io(&vec![0u64; 1000], &mut bytes).unwrap_err();
    assert!(matches!(error, WriteError::TooLong { .. }));
    assert_eq!(bytes, [1, 2, 3]);
    let error = writer.write_io(&7u32, &mut Liar).unwrap_err();
    assert!(error.to_string().contains("more bytes were written"));
    // The writer stays usable after an error.
    writer.write_io(&7u32, &mut bytes).unwrap();
    let filled = EmptyBuffer::heap(64).copy_from(&bytes[3..]).unwrap();
    assert_eq!(*Reader::default().read::<u32>(filled).unwrap().get(), 7);
}

/// The functions of the crate root write and read the same bytes as a writer and a reader, at any
/// alignment of the slice.
#[test]
fn one_call_each_way() {
    let value = (
        7u64,
        vec!["seven".to_owned(), "eight".to_owned()],
        vec![0.5f64; 300],
    );
    let bytes = jstream::to_vec(&value).unwrap();
    let message = Writer::new()
        .write(&value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    assert_eq!(bytes, message.as_bytes());
    for shift in 0..16 {
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(&bytes);
        let received =
            jstream::from_slice::<(u64, Vec<String>, Vec<f64>)>(&shifted[shift..]).unwrap();
        drop(shifted);
        assert_eq!(received.to_owned().unwrap(), value);
    }
}

/// Damaged, short and foreign messages are errors, and the thread's reader remains fit for use.
#[test]
fn hostile_slices_are_errors() {
    let bytes = jstream::to_vec(&(1u8, "text")).unwrap();
    for len in 0..bytes.len() {
        assert!(jstream::from_slice::<(u8, &str)>(&bytes[..len]).is_err());
    }
    assert!(matches!(
        jstream::from_slice::<(u8, &str)>(&[]),
        Err(ReadError::Short { len: 0 })
    ));
    assert!(matches!(
        jstream::from_slice::<(u8, u8)>(&bytes),
        Err(ReadError::Descriptor { .. })
    ));
    let mut damaged = bytes.clone();
    *damaged.last_mut().unwrap() = 0xff;
    let error = jstream::from_slice::<(u8, &str)>(&damaged).unwrap_err();
    assert!(error.to_string().contains("UTF-8"), "{error}");
    let received = jstream::from_slice::<(u8, &str)>(&bytes).unwrap();
    assert_eq!(received.get(), &(1, "text"));
}

/// An adapter that uses the functions of the crate root itself, and panics on request.
struct Nested;

impl Adapter<u32> for Nested {
    type Wire = u32;
    type Error = ReadError;

    fn to_wire(value: &u32) -> u32 {
        assert_ne!(*value, 13, "on request");
        let bytes = jstream::to_vec(&(*value, vec!["nested".to_owned()])).unwrap();
        u32::try_from(bytes.len()).unwrap()
    }

    fn from_wire(wire: &u32) -> Result<u32, ReadError> {
        let bytes = jstream::to_vec(wire).unwrap();
        Ok(*jstream::from_slice::<u32>(&bytes)?.get() + 1)
    }
}

#[derive(Transportable, Debug, PartialEq)]
struct Outer {
    #[transportable(with = Nested)]
    inner: u32,
    name: String,
}

/// The program may call the functions while they run, and may panic in them.
#[test]
fn the_functions_can_be_nested() {
    let outer = |inner| Outer {
        inner,
        name: "outer".to_owned(),
    };
    let panicked = std::panic::catch_unwind(|| jstream::to_vec(&outer(13)).is_ok());
    assert!(panicked.is_err());
    let bytes = jstream::to_vec(&outer(7)).unwrap();
    let nested = jstream::to_vec(&(7u32, vec!["nested".to_owned()])).unwrap();
    let received = jstream::from_slice::<Outer>(&bytes).unwrap();
    assert_eq!(received.get().inner as usize, nested.len() + 1);
    assert_eq!(received.get().name, "outer");
}

/// The error for a buffer that is too small says how many bytes are needed, and with that many the
/// message fits.
#[test]
fn a_small_buffer_is_told_what_it_needs() {
    fn check<T: Transportable>(value: &T) {
        let mut writer = Writer::new();
        let error = writer.write(value, EmptyBuffer::heap(8)).unwrap_err().error;
        let WriteError::EndOfStream {
            capacity: 8,
            needed: Some(needed),
        } = error
        else {
            panic!("{error}");
        };
        assert!(
            error.to_string().contains(&format!("{needed} bytes")),
            "{error}"
        );
        assert!(error.to_string().contains("larger buffer"), "{error}");
        assert_eq!(writer.message_len(value).unwrap(), needed);
        assert!(writer.write(value, EmptyBuffer::heap(needed - 1)).is_err());
        let message = writer.write(value, EmptyBuffer::heap(needed)).unwrap();
        assert_eq!(message.len(), needed);
    }
    check(&7u32);
    check(&"text");
    check(&vec![vec!["a".to_owned(); 9]; 3]);
    check(&vec![0.5f64; 1000]);
    // Messages that are long are not measured unless the program asks for it.
    let long = vec![0u8; 1 << 20];
    let mut writer = Writer::new();
    let error = writer.write(&long, EmptyBuffer::heap(8)).unwrap_err().error;
    assert!(error.to_string().contains("message_len"), "{error}");
    let needed = writer.message_len(&long).unwrap();
    assert_eq!(
        writer
            .write(&long, EmptyBuffer::heap(needed))
            .unwrap()
            .len(),
        needed
    );
    // The limit of the writer holds again.
    assert!(writer.write(&long, EmptyBuffer::heap(needed)).is_ok());
}
