//! Forged and damaged streams: errors or valid objects, and no endless loop.

use crate::aligned;

use std::fmt::Debug;

use aligned::{A32, A128, Wide};
use jstream::{
    EmptyBuffer, Limits, Reader, StreamError, StreamReader, StreamWriter, Transportable, Writer,
};
use proptest::collection::vec;
use proptest::prelude::*;

type Words = Vec<Vec<String>>;
type Flags = Vec<(bool, char)>;

/// A stream of items of several types, two of them behind padding.
fn sound() -> Vec<u8> {
    let mut writer = Writer::new();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
    let words = vec![vec!["once".to_owned(), "ünd".to_owned()], Vec::new()];
    stream.write(&mut writer, &7u32).unwrap();
    stream.write(&mut writer, &words).unwrap();
    stream.write(&mut writer, &A128([3; 16])).unwrap();
    stream
        .write(&mut writer, &vec![(true, 'x'), (false, 'ß')])
        .unwrap();
    stream.write(&mut writer, &Wide::of(&[4, 5])).unwrap();
    stream
        .uninit_slice::<u32>(&mut writer, 5)
        .unwrap()
        .fill_with(|_| 6);
    stream.finish().as_bytes().to_vec()
}

/// The outcome of reading a stream.
#[derive(Debug, Default, PartialEq)]
struct Outcome {
    read: usize,
    damaged: usize,
    skipped: usize,
    /// The error at which reading stopped, or `None` at the end of the stream.
    broken: Option<StreamError>,
}

/// Reads each item as the first type that fits, skips the others, and finally looks at all objects.
fn drain(bytes: &[u8], reader: &mut Reader) -> Outcome {
    fn any<'s, T>(
        stream: &'s StreamReader,
        reader: &mut Reader,
    ) -> Result<Box<dyn Debug + 's>, StreamError>
    where
        T: Transportable + 'static,
        T::InPlace<'s>: Debug,
    {
        let object = stream.next::<T>(reader)?;
        Ok(Box::new(object))
    }
    let all = [
        any::<u32>,
        any::<Words>,
        any::<A128>,
        any::<Flags>,
        any::<Vec<A32>>,
        any::<Vec<u32>>,
    ];
    let stream = StreamReader::new(EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap());
    let mut objects = Vec::new();
    let mut outcome = Outcome::default();
    'items: loop {
        let position = stream.position();
        assert!(position <= bytes.len());
        match stream.peek() {
            Ok(Some(upcoming)) => assert!(upcoming.offset + upcoming.len <= bytes.len()),
            Ok(None) => break,
            Err(error) => {
                assert_eq!(stream.peek().unwrap_err(), error);
                assert_eq!(stream.next::<u32>(reader).unwrap_err(), error);
                assert_eq!(stream.skip().unwrap_err(), error);
                assert_eq!(stream.objects::<u32>(reader).count(), 1);
                outcome.broken = Some(error);
                break;
            }
        }
        for read in all {
            match read(&stream, reader) {
                Ok(object) => {
                    outcome.read += 1;
                    objects.push(object);
                }
                Err(StreamError::Damaged { error, .. }) => {
                    assert!(!error.to_string().is_empty());
                    outcome.damaged += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    assert_eq!(stream.position(), position);
                    continue;
                }
            }
            assert!(stream.position() >= position + 40);
            continue 'items;
        }
        assert!(!stream.skip().unwrap().as_bytes().is_empty());
        outcome.skipped += 1;
    }
    // Formatting reads every field, including those of objects that were read before later items.
    assert!(
        objects
            .iter()
            .all(|object| !format!("{object:?}").is_empty())
    );
    outcome
}

#[test]
fn a_sound_stream_is_read_to_its_end() {
    let outcome = drain(&sound(), &mut Reader::default());
    // `Wide` is not among the types that `drain` tries.
    assert_eq!((outcome.read, outcome.skipped), (5, 1));
    assert_eq!((outcome.damaged, outcome.broken), (0, None));
}

#[test]
fn each_truncation_is_an_error_or_a_shorter_stream() {
    let (sound, mut reader) = (sound(), Reader::default());
    let mut whole = 0;
    for len in 0..sound.len() {
        let outcome = drain(&sound[..len], &mut reader);
        assert_eq!(outcome.damaged, 0, "{len}");
        whole += usize::from(outcome.broken.is_none());
    }
    // Only a cut at the start or at the end of one of the first five items leaves a sound stream.
    assert_eq!(whole, 6);
}

#[test]
fn each_byte_counts_or_does_no_harm() {
    let (sound, mut reader) = (sound(), Reader::default());
    for at in 0..sound.len() {
        for bits in [1, 0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[at] ^= bits;
            drain(&bytes, &mut reader);
            // The same bytes as a single message.
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            assert!(reader.read::<u32>(filled).is_err());
        }
    }
}

/// A `u32`, correct padding, and a message that needs the padding for its alignment.
fn padded() -> Vec<u8> {
    let mut writer = Writer::new();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(1024));
    stream.write(&mut writer, &7u32).unwrap();
    stream.write(&mut writer, &A128([1; 16])).unwrap();
    let bytes = stream.finish().as_bytes().to_vec();
    assert_eq!(bytes[48..56], *b"jsp\x01\x50\0\0\0");
    bytes
}

#[test]
fn padding_that_lies_is_an_error() {
    let (sound, mut reader) = (padded(), Reader::default());
    assert_eq!(drain(&sound, &mut reader).read, 2);
    let lengths = [
        0,
        1,
        8,
        15,
        16,
        48,
        64,
        79,
        81,
        96,
        112,
        128,
        208,
        1 << 20,
        u32::MAX,
    ];
    for len in lengths {
        let mut bytes = sound.clone();
        bytes[52..56].copy_from_slice(&len.to_le_bytes());
        let outcome = drain(&bytes, &mut reader);
        let broken = matches!(
            outcome.broken,
            Some(StreamError::Framing { offset: 48, .. })
        );
        assert!(broken && outcome.read == 1, "{len}: {outcome:?}");
    }
    for at in 56..128 {
        let mut bytes = sound.clone();
        bytes[at] = 1;
        assert!(drain(&bytes, &mut reader).broken.is_some(), "{at}");
    }
    // Two padding blocks in a row.
    let mut twice = sound.clone();
    twice.splice(128..128, [&b"jsp\x01\x80\0\0\0"[..], &[0; 120]].concat());
    assert!(drain(&twice, &mut reader).broken.is_some());
    // Padding before a message that needs none, because it begins at a multiple of 128 anyway.
    let mut needless = [&b"jsp\x01\x80\0\0\0"[..], &[0; 120]].concat();
    needless.extend_from_slice(&sound[..44]);
    let outcome = drain(&needless, &mut reader);
    let broken = matches!(outcome.broken, Some(StreamError::Framing { offset: 0, .. }));
    assert!(broken && outcome.read == 0, "{outcome:?}");
    assert!(drain(&sound[..128], &mut reader).broken.is_some());
    assert!(drain(&sound[48..128], &mut reader).broken.is_some());
}

#[test]
fn bytes_between_items_are_zero() {
    let (sound, mut reader) = (padded(), Reader::default());
    for at in 44..48 {
        let mut bytes = sound.clone();
        bytes[at] = 1;
        let outcome = drain(&bytes, &mut reader);
        let broken = matches!(
            outcome.broken,
            Some(StreamError::Framing { offset: 48, .. })
        );
        assert!(broken && outcome.read == 1, "{outcome:?}");
    }
    let mut longer = sound;
    longer.push(0);
    assert!(
        drain(&longer, &mut reader).broken.is_some(),
        "a byte follows the last item"
    );
}

#[test]
fn a_length_that_leads_out_is_an_error() {
    let (sound, mut reader) = (sound(), Reader::default());
    for word in [16, 24, 32] {
        for value in [
            u64::MAX,
            u64::MAX - 127,
            1 << 63,
            sound.len() as u64 + 1,
            1 << 40,
        ] {
            let mut bytes = sound.clone();
            bytes[word..word + 8].copy_from_slice(&value.to_le_bytes());
            let outcome = drain(&bytes, &mut reader);
            assert_eq!(outcome.read, 0);
            assert!(matches!(
                outcome.broken,
                Some(StreamError::Framing { offset: 0, .. })
            ));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_damage_has_an_end(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..9),
        cut in proptest::option::of(any::<prop::sample::Index>()),
        zero_sized in 0..3usize,
        depth in 0..3u32,
    ) {
        let mut bytes = sound();
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let mut limits = Limits::default();
        limits.zero_sized = zero_sized;
        limits.depth = Some(depth);
        drain(&bytes, &mut Reader::new(limits));
    }

    #[test]
    fn noise_has_an_end(bytes in vec(any::<u8>(), 0..600)) {
        drain(&bytes, &mut Reader::default());
    }
}
