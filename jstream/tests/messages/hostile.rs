//! Forged and damaged messages: a read gives either an error or a valid object.

use crate::common;

use common::{Arenas, Node, message, plant, seeds, walk};
use jstream::{EmptyBuffer, Limits, ReadError, Reader, Transportable};
use proptest::prelude::*;

/// Reads `bytes` as a `T` and walks the received object.
fn attack<T>(bytes: &[u8]) -> Result<(), ReadError>
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: std::fmt::Debug,
{
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    let received = Reader::default()
        .read::<T>(filled)
        .map_err(|failure| failure.error)?;
    // Formatting reads every field and reveals text that is not UTF-8.
    assert!(!format!("{received:?}").is_empty());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12 * testing::effort()))]

    #[test]
    fn one_corrupted_byte(seed in seeds(), flip in 1..=255u8) {
        let arenas = Arenas::default();
        let whole = message(&plant(&seed, &arenas)).as_bytes().to_vec();
        let mut bytes = whole.clone();
        for at in 0..bytes.len() {
            bytes[at] ^= flip;
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            match Reader::default().read::<Node<'static>>(filled) {
                Ok(received) => {
                    std::hint::black_box(walk(received.get()));
                }
                Err(failure) => {
                    prop_assert!(!failure.error.to_string().is_empty());
                    prop_assert!(failure.buffer.capacity() >= bytes.len());
                }
            }
            bytes[at] = whole[at];
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn truncated_or_extended(seed in seeds(), cut in any::<prop::sample::Index>()) {
        let arenas = Arenas::default();
        let mut bytes = message(&plant(&seed, &arenas)).as_bytes().to_vec();
        bytes.push(0);
        prop_assert!(attack::<Node<'static>>(&bytes).is_err());
        bytes.truncate(cut.index(bytes.len() - 1));
        prop_assert!(attack::<Node<'static>>(&bytes).is_err());
    }

    #[test]
    fn words_replaced(
        seed in seeds(),
        words in prop::collection::vec((any::<prop::sample::Index>(), 0..200u64), 1..4),
    ) {
        let arenas = Arenas::default();
        let mut bytes = message(&plant(&seed, &arenas)).as_bytes().to_vec();
        for (at, word) in words {
            let at = 16 + at.index(bytes.len() - 24) / 8 * 8;
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
        }
        if let Ok(received) = Reader::default()
            .read::<Node<'static>>(EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap())
        {
            std::hint::black_box(walk(received.get()));
        }
    }
}

/// Returns the message of `value` after `change` was applied to its bytes.
fn changed<T: Transportable>(value: &T, change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = message(value).as_bytes().to_vec();
    change(&mut bytes);
    bytes
}

fn put(bytes: &mut [u8], at: usize, word: u64) {
    let end = bytes.len().min(at + 8);
    bytes[at..end].copy_from_slice(&word.to_le_bytes()[..end - at]);
}

/// Replaces the word at `at` of the message of `value` and returns the reader's error.
fn said<T>(value: &T, at: usize, word: u64) -> String
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: std::fmt::Debug,
{
    let bytes = changed(value, |bytes| put(bytes, at, word));
    attack::<T>(&bytes).unwrap_err().to_string()
}

const ROOT: usize = 40;

#[derive(Transportable, Debug)]
struct Order<'b> {
    id: u64,
    legs: &'b [Leg<'b>],
    parent: Option<&'b Order<'b>>,
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Leg<'b> {
    price: f64,
    side: Side,
    note: &'b str,
}

#[derive(Transportable, Debug, Clone, Copy)]
enum Side {
    Buy,
    Sell,
}

#[test]
fn errors_say_what_where_and_why() {
    let leg = || Leg {
        price: 1.0,
        side: Side::Buy,
        note: "n",
    };
    let legs = [leg(), leg(), leg(), leg()];
    let parent = Order {
        id: 1,
        legs: &legs,
        parent: None,
    };
    let order = Order {
        id: 2,
        legs: &[],
        parent: Some(&parent),
    };
    let bytes = message(&order);
    // The root and its parent are one run of orders; the parent's legs follow.
    let side = ROOT + 2 * size_of::<Order<'_>>() + 3 * size_of::<Leg<'_>>() + 8;
    let bad = changed(&order, |bytes| bytes[side] = 7);
    assert_eq!(bad.len(), bytes.len());
    assert_eq!(
        attack::<Order<'static>>(&bad).unwrap_err().to_string(),
        format!("Order.parent.legs[3].side: byte 7 is not a Side (at offset {side:#x})")
    );
    let _ = Side::Sell;
}

#[test]
fn flat_targets_have_paths_too() {
    let value: (u8, Vec<(u8, bool)>) = (1, vec![(1, true), (2, false), (3, true)]);
    let whole = message(&value);
    let at = whole.len() - 1 - std::mem::offset_of!((u8, bool), 0);
    let at = if whole.as_bytes()[at] == 1 {
        at
    } else {
        at - 1
    };
    let bad = changed(&value, |bytes| bytes[at] = 2);
    let text = attack::<(u8, Vec<(u8, bool)>)>(&bad)
        .unwrap_err()
        .to_string();
    assert!(text.contains(".1[2].1: byte 2 is not a bool"), "{text}");
}

#[test]
fn a_path_of_a_million_steps_is_short() {
    #[derive(Transportable, Debug)]
    struct List<'b> {
        ok: bool,
        next: Option<&'b List<'b>>,
    }
    let arena = typed_arena::Arena::new();
    let mut head = List {
        ok: true,
        next: None,
    };
    for _ in 0..100_000 {
        head = List {
            ok: true,
            next: Some(arena.alloc(head)),
        };
    }
    let size = size_of::<List<'_>>();
    let last = ROOT + 100_000 * size + std::mem::offset_of!(List<'_>, ok);
    let bytes = changed(&head, |bytes| bytes[last] = 9);
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let mut limits = Limits::default();
    limits.depth = None;
    let error = Reader::new(limits)
        .read::<List<'static>>(filled)
        .unwrap_err()
        .error;
    let text = error.to_string();
    assert!(text.starts_with("List…(99989 more)….next.next"), "{text}");
    assert!(text.contains(".next.ok: byte 9 is not a bool"), "{text}");
    assert!(text.len() < 300, "{text}");
}

#[test]
fn places_must_be_the_next_free_one() {
    type Value = (Box<[u64]>, Box<str>, Box<[Box<str>]>);
    let value: Value = ([1, 2, 3].into(), "text".into(), ["a".into()].into());
    let offsets = [
        std::mem::offset_of!((&[u64], &str, &[&str]), 0),
        std::mem::offset_of!((&[u64], &str, &[&str]), 1),
        std::mem::offset_of!((&[u64], &str, &[&str]), 2),
    ];
    for offset in offsets {
        for word in [0, 1, 8, 40, 127, 129, 136, 1 << 32, u64::MAX, u64::MAX - 7] {
            let text = said::<Value>(&value, ROOT + offset, word);
            assert!(text.contains("next free place"), "{word}: {text}");
        }
        for word in [
            u64::MAX,
            u64::MAX / 8,
            u64::MAX / 16 + 2,
            1 << 61,
            1 << 32,
            1000,
        ] {
            let text = said::<Value>(&value, ROOT + offset + 8, word);
            assert!(text.contains("past the end"), "{word}: {text}");
        }
    }
}

#[test]
fn what_no_object_reaches_is_refused() {
    let value = (vec![1u32, 2, 3], String::from("text"));
    type Value = (Vec<u32>, String);
    let offset = std::mem::offset_of!((&[u32], &str), 0);
    let text = said::<Value>(&value, ROOT + offset + 8, 2);
    assert_eq!(text, "4 bytes of the bulk segment belong to no object");
    let offset = std::mem::offset_of!((&[u32], &str), 1);
    let text = said::<Value>(&value, ROOT + offset + 8, 3);
    assert_eq!(text, "1 bytes of the text segment belong to no object");
}

#[test]
fn headers_are_checked() {
    let value = (1u32, String::from("text"));
    type Value = (u32, String);
    assert!(matches!(
        attack::<Value>(&[]),
        Err(ReadError::Short { len: 0 })
    ));
    assert!(matches!(
        attack::<Value>(&[0; 39]),
        Err(ReadError::Short { len: 39 })
    ));
    assert!(matches!(
        attack::<Value>(&[0; 40]),
        Err(ReadError::Magic { .. })
    ));
    for (at, words) in [
        (16, [0, 39, 40, 1000, u64::MAX]),
        (24, [1, 128, 1 << 63, u64::MAX, u64::MAX - 100]),
        (32, [0, 3, 5, 1 << 63, u64::MAX]),
    ] {
        for word in words {
            let bytes = changed(&value, |bytes| put(bytes, at, word));
            let error = attack::<Value>(&bytes).unwrap_err();
            assert!(
                matches!(error, ReadError::Lengths { .. }),
                "{at} {word}: {error}"
            );
        }
    }
    for align in [0u32, 3, 256, u32::MAX] {
        let bytes = changed(&value, |bytes| {
            bytes[4..8].copy_from_slice(&align.to_le_bytes())
        });
        assert!(
            matches!(attack::<Value>(&bytes), Err(ReadError::Lengths { .. })),
            "{align}"
        );
    }
    let bytes = changed(&value, |bytes| bytes[8] ^= 1);
    assert!(matches!(
        attack::<Value>(&bytes),
        Err(ReadError::Descriptor { .. })
    ));
    let bytes = message(&value).as_bytes().to_vec();
    let text = attack::<(u64, String)>(&bytes).unwrap_err().to_string();
    assert!(text.contains("not hold the type (u64, String)"), "{text}");
}

/// A bulk segment that declares a smaller alignment than its elements need.
#[test]
fn bulk_can_not_be_misaligned() {
    let value = (vec![1u64, 2], 1u8);
    let bytes = changed(&value, |bytes| {
        bytes[4] = 1;
        // One more byte of objects moves the bulk segment to an odd offset.
        let end = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
        put(bytes, 16, end + 1);
        bytes.insert(usize::try_from(end).unwrap(), 0);
    });
    assert!(attack::<(Vec<u64>, u8)>(&bytes).is_err());
}

#[test]
fn text_is_checked_and_cut_at_characters() {
    let value = vec![String::from("aä"), String::from("b")];
    type Value = Vec<String>;
    let whole = message(&value);
    let text = whole.len() - 4;
    let bytes = changed(&value, |bytes| bytes[text + 1] = 0xff);
    assert_eq!(
        attack::<Value>(&bytes).unwrap_err().to_string(),
        format!("the text is not UTF-8 (at offset {:#x})", text + 1)
    );
    // The root, then two wide pointers. The first string ends inside a character.
    let strings = ROOT + 16;
    let bytes = changed(&value, |bytes| {
        put(bytes, strings + 8, 2);
        put(bytes, strings + 16, 128 + 2);
        put(bytes, strings + 24, 2);
    });
    let error = attack::<Value>(&bytes).unwrap_err().to_string();
    assert!(
        error.contains("[0]: the string ends inside a UTF-8 character"),
        "{error}"
    );
}

#[test]
fn invalid_leaves_are_refused() {
    use std::num::NonZeroU16;
    assert!(said(&'x', ROOT, 0xd800).contains("0xd800 is not a char"));
    assert!(said(&'x', ROOT, 0x11_0000).contains("0x110000 is not a char"));
    assert!(said(&NonZeroU16::MIN, ROOT, 0).contains("0x0 is not a NonZero<u16>"));
    let bytes = changed(&true, |bytes| bytes[ROOT] = 2);
    let text = attack::<bool>(&bytes).unwrap_err().to_string();
    assert_eq!(text, "bool: byte 2 is not a bool (at offset 0x28)");
    let bytes = changed(&Some(5u32), |bytes| bytes[ROOT + 4] = 2);
    assert!(attack::<Option<u32>>(&bytes).is_err());
    // An option whose slot has no room for a tag has its tag in the text segment.
    let bytes = changed(&Some('x'), |bytes| *bytes.last_mut().unwrap() = 2);
    assert!(attack::<Option<char>>(&bytes).is_err());
    let bytes = changed(&Some(true), |bytes| bytes[ROOT] = 3);
    assert!(attack::<Option<bool>>(&bytes).is_err());
    let bytes = changed(&Some(Some(true)), |bytes| bytes[ROOT] = 4);
    assert!(attack::<Option<Option<bool>>>(&bytes).is_err());
}

/// Replaces every byte of results of several layouts by every value.
#[test]
#[cfg_attr(
    address_sanitizer,
    ignore = "takes minutes; the fuzz targets damage messages too"
)]
fn damaged_results() {
    type Value = Vec<(
        Result<u32, String>,
        Result<bool, ()>,
        Result<Vec<bool>, Option<char>>,
    )>;
    let value: Value = vec![
        (Ok(1), Ok(true), Ok(vec![true, false])),
        (Err("why".into()), Err(()), Err(Some('x'))),
    ];
    let whole = message(&value);
    // Tags, `bool` and the low bytes of lengths have their limits among the first values.
    let step = 16 / testing::effort().min(16) as usize;
    let values = (0..8).chain((8..=255).step_by(step)).chain([255]);
    for at in ROOT..whole.len() {
        for byte in values.clone() {
            let bytes = changed(&value, |bytes| bytes[at] = byte);
            let _ = attack::<Value>(&bytes);
        }
    }
}

/// A fault behind a pointer inside an option. The option's slot is still in wire form at that time,
/// so the error names the option.
#[test]
fn a_fault_inside_an_option_is_blamed_on_it() {
    let value = (1u8, Some((2u8, vec![true, false, true])));
    type Value = (u8, Option<(u8, Vec<bool>)>);
    let whole = message(&value);
    for at in ROOT..whole.len() {
        for byte in [0, 2, 0x80, 0xff] {
            let bytes = changed(&value, |bytes| bytes[at] = byte);
            let _ = attack::<Value>(&bytes);
        }
    }
    let bulk = whole
        .as_bytes()
        .windows(3)
        .rposition(|w| w == [1, 0, 1])
        .unwrap();
    let bytes = changed(&value, |bytes| bytes[bulk + 1] = 3);
    let text = attack::<Value>(&bytes).unwrap_err().to_string();
    assert!(text.contains(".1: the bytes are not an Option"), "{text}");
}

#[test]
fn elements_without_size_are_counted() {
    let value = vec![(); 10];
    let text = said::<Vec<()>>(&value, ROOT + 8, 1 << 60);
    assert!(text.contains("Limits::zero_sized"), "{text}");
    let text = said::<Vec<()>>(&value, ROOT + 8, u64::MAX);
    assert!(text.contains("Limits::zero_sized"), "{text}");
}

#[test]
fn depth_is_limited_on_request() {
    let value = Some(Box::new(Some(Box::new(Some(Box::new(None::<Box<u8>>))))));
    type Value = Option<Box<Option<Box<Option<Box<Option<Box<u8>>>>>>>>;
    for (depth, fits) in [
        (0, false),
        (1, false),
        (2, false),
        (3, true),
        (u32::MAX, true),
    ] {
        let mut limits = Limits::default();
        limits.depth = Some(depth);
        let read = Reader::new(limits).read::<Value>(message(&value));
        assert_eq!(read.is_ok(), fits, "{depth}");
        if let Err(failure) = read {
            assert!(failure.to_string().contains("Limits::depth"), "{failure}");
        }
    }
}

#[test]
fn work_put_off_is_limited() {
    type Value = Vec<(Box<[String]>, Box<[Option<Box<str>>]>)>;
    let value: Value = (0..100)
        .map(|i| (vec![i.to_string()].into(), vec![None].into()))
        .collect();
    for (pending, fits) in [(0, false), (100, false), (200, true)] {
        let mut limits = Limits::default();
        limits.pending = pending;
        let read = Reader::new(limits).read::<Value>(message(&value));
        assert_eq!(read.is_ok(), fits, "{pending}");
        if let Err(failure) = read {
            assert!(failure.to_string().contains("Limits::pending"), "{failure}");
        }
    }
}

#[test]
fn length_is_limited() {
    let mut limits = Limits::default();
    limits.bytes = 100;
    let failure = Reader::new(limits)
        .read::<Vec<u8>>(message(&vec![0u8; 100]))
        .unwrap_err();
    assert!(matches!(
        failure.error,
        ReadError::TooLong { limit: 100, .. }
    ));
}
