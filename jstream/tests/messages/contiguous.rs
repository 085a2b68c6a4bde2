//! Messages in contiguous memory: in a `Vec`, and through `std::io::Write`.

use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Write};

use jstream::{Reader, Spent, WriteError, Writer};
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A buffer, a `Vec` and a writer get the same bytes, whatever is lent and however many bytes
    /// each call accepts.
    #[test]
    fn all_ways_write_the_same(
        values in vec(vec(any::<u16>(), 0..700), 0..150),
        mut turns in vec(0..3000usize, 1..9),
        lent_from in 0..1500usize,
        room in proptest::option::of(0..5000usize),
    ) {
        turns.push(1);
        let mut writer = Writer::new().lend_from(lent_from);
        let mut bytes = b"before".to_vec();
        let len = writer.write_vec(&values, &mut bytes).unwrap();
        prop_assert_eq!(bytes.len(), 6 + len);
        let filled = Writer::new().write(&values, Spent::heap(len)).unwrap();
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

#[test]
fn errors_are_values() {
    let mut writer = Writer::with_limit(1000);
    let mut bytes = vec![1, 2, 3];
    let error = writer.write_vec(&vec![0u64; 1000], &mut bytes).unwrap_err();
    assert!(matches!(error, WriteError::TooLong { .. }));
    assert_eq!(bytes, [1, 2, 3]);
    let error = writer.write_io(&vec![0u64; 1000], &mut bytes).unwrap_err();
    assert!(matches!(error, WriteError::TooLong { .. }));
    assert_eq!(bytes, [1, 2, 3]);
    let error = writer.write_io(&7u32, &mut Liar).unwrap_err();
    assert!(
        error
            .source()
            .unwrap()
            .to_string()
            .contains("more bytes were written")
    );
    // The writer stays usable after an error.
    writer.write_io(&7u32, &mut bytes).unwrap();
    let filled = Spent::heap(64).copy_from(&bytes[3..]).unwrap();
    assert_eq!(*Reader::default().read::<u32>(filled).unwrap().get(), 7);
}
