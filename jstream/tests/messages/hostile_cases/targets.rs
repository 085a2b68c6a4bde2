//! Lengths and offsets of plain pointers.

use std::collections::HashMap;
use std::fmt::Debug;

use jstream::testing::Meaning;
use jstream::{EmptyBuffer, Limits, MessageSegment, ReadError, Reader, Transportable};
use typed_arena::Arena;

use super::{Forged, read};
use crate::common::message;

#[derive(Transportable, Debug, PartialEq)]
#[repr(C)]
struct Lists<'b> {
    numbers: &'b [u32],
    rows: &'b [Row<'b>],
    text: &'b str,
    change: &'b mut [u64],
    maybe: Option<&'b [u16]>,
    nested: Option<(u8, &'b [u32])>,
}

#[derive(Transportable, Debug, PartialEq, Clone, Copy)]
#[repr(C)]
struct Row<'b> {
    name: &'b str,
}

fn lists() -> Forged<Lists<'static>> {
    let rows = [Row { name: "a" }, Row { name: "ä" }];
    Forged::of(&Lists {
        numbers: &[1, 2, 3],
        rows: &rows,
        text: "text",
        change: &mut [4, 5],
        maybe: Some(&[6]),
        nested: Some((7, &[8])),
    })
}

/// Each list: the index of its length and offset, its path, and the size of its elements. A fault
/// in a tuple inside an option is attributed to the option.
const LISTS: [(usize, &str, u64); 6] = [
    (0, "Lists.numbers", 4),
    (1, "Lists.rows", 16),
    (2, "Lists.text", 1),
    (3, "Lists.change", 8),
    (4, "Lists.maybe", 2),
    (5, "Lists.nested", 4),
];

#[test]
fn no_length_reaches_past_the_end() {
    let mut lists = lists();
    for (nth, name, size) in LISTS {
        let (own, place) = (
            lists.word(Meaning::Length, nth),
            lists.word(Meaning::Offset, nth),
        );
        let last_byte_wraps = (u64::MAX - place) / size + 1;
        let largest = [
            // Lengths beyond the end of the segment, and beyond the end of the message.
            own + 100,
            1 << 31,
            u64::from(u32::MAX),
            u64::from(u32::MAX) + 1,
            1 << 60,
            1 << 61,
            1 << 62,
            1 << 63,
            u64::MAX / size,
            u64::MAX,
            // Lengths whose size in bytes wraps to a small number, or whose end wraps to before the
            // offset.
            u64::MAX / size + u64::from(size > 1),
            (u64::MAX / size).wrapping_add(2),
            last_byte_wraps,
            last_byte_wraps.wrapping_add(1),
            (1 << 63) / size,
            (1 << 63) / size + 1,
        ];
        for length in largest {
            // With a size of 1, some of these lengths wrap to small, valid ones.
            if length > own {
                lists.put(Meaning::Length, nth, length);
                lists.expect(name, "reaches past the end of its segment");
            }
        }
    }
}

#[test]
fn the_last_target_ends_where_its_segment_ends() {
    let forged = || Forged::<(u8, Vec<u32>)>::of(&(1u8, vec![1u32, 2, 3]));
    let length = |length| {
        let mut forged = forged();
        forged.put(Meaning::Length, 0, length);
        forged
    };
    assert!(read::<(u8, Vec<u32>)>(&length(3).bytes).is_ok());
    let name = "(u8, Vec<u32>).1";
    length(4).expect(name, "reaches past the end of its segment");
    for (short, bytes) in [(2, 4), (1, 8), (0, 12)] {
        let error = length(short).error();
        let segment = MessageSegment::Bulk;
        assert_eq!(error, ReadError::Unused { segment, bytes });
    }
    let mut text = Forged::<String>::of(&"täxt".to_owned());
    text.put(Meaning::Length, 0, 6);
    text.expect("String", "reaches past the end of its segment");
    text.put(Meaning::Length, 0, 2);
    text.expect("String", "ends inside a UTF-8 character");
    text.put(Meaning::Length, 0, 0);
    let segment = MessageSegment::Text;
    assert_eq!(text.error(), ReadError::Unused { segment, bytes: 5 });
    let mut rows = Forged::<Vec<String>>::of(&vec!["a".to_owned(), "b".to_owned()]);
    rows.put(Meaning::Length, 0, 3);
    rows.expect("Vec<String>", "reaches past the end of its segment");
    rows.put(Meaning::Length, 0, 0);
    let segment = MessageSegment::Objects;
    assert_eq!(rows.error(), ReadError::Unused { segment, bytes: 32 });
}

#[test]
fn no_offset_but_the_next_one() {
    let mut lists = lists();
    for (nth, name, size) in LISTS {
        let own = lists.word(Meaning::Offset, nth);
        let others = [
            1,
            own + 1,
            own - 1,
            own + size,
            own.wrapping_sub(size),
            own | 1 << 32,
            own | 1 << 62,
            u64::from(u32::MAX),
            1 << 63,
            u64::MAX - 7,
            u64::MAX,
        ];
        for place in others {
            if place != own {
                lists.put(Meaning::Offset, nth, place);
                lists.expect(name, "does not point to the next free place");
            }
        }
        // A null offset where a target must be.
        if nth != 4 {
            lists.put(Meaning::Offset, nth, 0);
            lists.expect(name, "does not point to the next free place");
        }
    }
    lists.put(Meaning::Offset, 4, 0);
    // Without the fourth list, its target is the next free place, where the fifth list does not
    // point.
    lists.expect("Lists.nested", "does not point to the next free place");
}

#[test]
fn no_target_is_misaligned() {
    // The bulk segment begins directly behind the objects, which a declared alignment of 1 allows.
    let mut bytes = message(&(vec![1u64, 2], 1u8)).as_bytes().to_vec();
    let end = u64::from_le_bytes(bytes[16..24].try_into().unwrap());
    for align in [1u32, 2, 4] {
        bytes[4..8].copy_from_slice(&align.to_le_bytes());
        let error = read::<(Vec<u64>, u8)>(&bytes).err().unwrap();
        assert_eq!(end % 8, 0);
        let ReadError::Value { path, details, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(path, "(Vec<u64>, u8).0");
        assert!(details.contains("reaches past the end"), "{details}");
    }
    for align in [0u32, 3, 9, 129, 256, 1 << 31, u32::MAX] {
        bytes[4..8].copy_from_slice(&align.to_le_bytes());
        let error = read::<(Vec<u64>, u8)>(&bytes).err().unwrap();
        let len = bytes.len();
        assert_eq!(error, ReadError::Lengths { len });
    }
}

#[test]
fn lengths_of_the_header_do_not_overflow() {
    let sound = lists().sound;
    let len = sound.len();
    for at in [16, 24, 32] {
        let own = u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
        let words = [
            own + 128,
            u64::from(u32::MAX),
            1 << 32 | own,
            1 << 63 | own,
            u64::MAX - own,
            u64::MAX - 127,
            u64::MAX,
        ];
        for word in words {
            let mut bytes = sound.clone();
            bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
            assert_eq!(
                read::<Lists<'_>>(&bytes).err().unwrap(),
                ReadError::Lengths { len }
            );
        }
    }
    // Two changes that cancel each other out in wrapping arithmetic.
    let mut bytes = sound.clone();
    bytes[24..32].copy_from_slice(&(u64::MAX - 63).to_le_bytes());
    let text = u64::from_le_bytes(sound[32..40].try_into().unwrap());
    bytes[32..40].copy_from_slice(&(text + 128).to_le_bytes());
    assert_eq!(
        read::<Lists<'_>>(&bytes).err().unwrap(),
        ReadError::Lengths { len }
    );
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Nothings<'b> {
    units: &'b [()],
    arrays: &'b [[u64; 0]],
    change: &'b mut [()],
    map: &'b [&'b [()]],
}

#[test]
fn elements_without_size_by_the_exabyte() {
    let inner = [[(); 3].as_slice(); 40];
    let mut forged = Forged::<Nothings<'_>>::of(&Nothings {
        units: &[(); 1],
        arrays: &[[]; 2],
        change: &mut [(); 3],
        map: &inner,
    });
    let says = "more elements without size than Limits::zero_sized allows";
    for (nth, name) in [
        (0, "Nothings.units"),
        (1, "Nothings.arrays"),
        (2, "Nothings.change"),
    ] {
        for length in [65_537, 1 << 32, 1 << 60, 1 << 63, u64::MAX - 5, u64::MAX] {
            forged.put(Meaning::Length, nth, length);
            forged.expect(name, says);
        }
    }
    // Each length is within the limit, but their sum is not, even with the bytes of the slices.
    for nth in 4..44 {
        forged.put(Meaning::Length, nth, 2000);
    }
    forged.expect("Nothings.map[33]", says);

    let mut maps = Forged::<HashMap<(), ()>>::of(&HashMap::from([((), ())]));
    maps.put(Meaning::Length, 0, 1 << 60);
    maps.expect("HashMap<(), ()>.keys.elements", says);
    maps.put(Meaning::Length, 2, 1 << 60);
    maps.expect("HashMap<(), ()>.values", says);
}

#[test]
fn elements_without_size_may_stand_at_one_place() {
    type Value = (Vec<()>, Vec<()>, Vec<u8>);
    let mut forged = Forged::<Value>::of(&(vec![(); 2], vec![(); 3], vec![7u8]));
    assert_eq!(
        forged.word(Meaning::Offset, 0),
        forged.word(Meaning::Offset, 1)
    );
    let received = read::<Value>(&forged.bytes).unwrap();
    let (a, b, c) = received.get();
    assert_eq!((a.len(), b.len(), *c), (2, 3, [7].as_slice()));
    forged.put(Meaning::Offset, 1, 129);
    forged.expect("(Vec<()>, Vec<()>, Vec<u8>).1", "next free place");
}

#[test]
fn no_two_targets_overlap() {
    type Value = (Vec<u32>, Vec<u32>, Vec<String>, Vec<String>, String, String);
    let texts = || vec!["ab".to_owned()];
    let value = (
        vec![1u32, 2],
        vec![3u32],
        texts(),
        texts(),
        "cd".to_owned(),
        "ef".to_owned(),
    );
    let mut forged = Forged::<Value>::of(&value);
    for nth in [1, 3, 5] {
        let name = format!("(Vec<u32>, Vec<u32>, Vec<String>, Vec<String>, String, String).{nth}");
        // An overlap with all of the previous target, and with its end.
        let before = forged.word(Meaning::Offset, nth - 1);
        let own = forged.word(Meaning::Offset, nth);
        for place in [before, own - (own - before) / 2] {
            forged.put(Meaning::Offset, nth, place);
            forged.expect(&name, "does not point to the next free place");
        }
    }
}

#[derive(Transportable, Debug)]
struct List<'b> {
    ok: bool,
    next: Option<&'b List<'b>>,
}

#[test]
fn a_list_of_a_million() {
    let nodes = Arena::new();
    let mut head = List {
        ok: true,
        next: None,
    };
    for _ in 0..1_000_000 {
        let next = Some(&*nodes.alloc(head));
        head = List { ok: true, next };
    }
    let bytes = message(&head).as_bytes().to_vec();
    let Err(ReadError::Value { path, details, .. }) = read::<List<'_>>(&bytes) else {
        panic!("it is accepted");
    };
    assert!(
        path.starts_with("List…(") && path.ends_with(".next.next.next"),
        "{path}"
    );
    assert!(
        details.contains("leads deeper than Limits::depth allows"),
        "{details}"
    );
    let mut limits = Limits::default();
    limits.depth = None;
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    assert!(Reader::new(limits).read::<List<'_>>(filled).is_ok());
}

#[test]
fn plain_pointers_lead_in_no_circle() {
    let last = List {
        ok: true,
        next: None,
    };
    let middle = List {
        ok: true,
        next: Some(&last),
    };
    let first = List {
        ok: true,
        next: Some(&middle),
    };
    let mut list = Forged::<List<'_>>::of(&first);
    let root = list.word(Meaning::Offset, 0) - size_of::<List<'_>>() as u64;
    for (nth, name) in [
        (0, "List.next"),
        (1, "List.next.next"),
        (2, "List.next.next.next"),
    ] {
        for target in [
            root,
            list.word(Meaning::Offset, 0),
            list.word(Meaning::Offset, 1),
        ] {
            if target != list.word(Meaning::Offset, nth) {
                list.put(Meaning::Offset, nth, target);
                list.expect(name, "does not point to the next free place");
            }
        }
        // A plain pointer can't refer to a shared target.
        list.put(Meaning::Offset, nth, 1 << 63);
        list.expect(name, "does not point to the next free place");
    }
}
