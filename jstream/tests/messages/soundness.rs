//! Regression tests for former soundness bugs and near misses.

use crate::common;

use common::message;
use jstream::{EmptyBuffer, Pool, Reader, Transportable, WriteError, Writer};

/// Flat values are written through a temporary. Their padding is zero and not a remnant of the
/// stack.
#[test]
fn flat_padding_is_zero() {
    #[derive(Transportable, Clone, Copy)]
    #[repr(C)]
    struct Padded {
        small: u8,
        large: u64,
    }
    let values = vec![Padded { small: 3, large: 9 }; 3];
    let message = message(&values);
    let bulk = &message.as_bytes()[message.len() - 3 * 16..];
    for value in bulk.chunks(16) {
        assert_eq!(value, [3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
    }
}

/// No byte of the buffer's previous content reaches a message.
#[test]
fn nothing_stale_is_sent() {
    #[derive(Transportable)]
    struct Mixed<'b> {
        tag: u8,
        option: Option<u32>,
        text: &'b str,
        nested: Option<(u8, &'b str)>,
        rows: &'b [Mixed<'b>],
        choice: Choice<'b>,
        wide: Option<&'b [u16]>,
    }
    #[derive(Transportable)]
    #[repr(u8)]
    enum Choice<'b> {
        None,
        Some(u64, Option<bool>, &'b [(u8, u32)]),
    }
    let row = |rows| Mixed {
        tag: 1,
        option: Some(2),
        text: "text",
        nested: Some((3, "more")),
        rows,
        choice: Choice::Some(4, None, &[(5, 6), (7, 8)]),
        wide: None,
    };
    let rows = [
        row(&[]),
        Mixed {
            choice: Choice::None,
            option: None,
            ..row(&[])
        },
    ];
    let value = row(&rows);
    let mut messages = [0x11u8, 0xee].map(|before| {
        let mut empty = EmptyBuffer::heap(4096);
        empty.uninit_mut().iter_mut().for_each(|byte| {
            byte.write(before);
        });
        Writer::new()
            .write(&value, empty)
            .unwrap()
            .as_bytes()
            .to_vec()
    });
    let [first, second] = &mut messages;
    assert_eq!(first, second);
}

#[test]
fn a_circle_ends_at_the_writers_limit() {
    #[derive(Transportable)]
    struct Ring<'b> {
        next: Option<&'b Ring<'b>>,
        name: &'b str,
        numbers: &'b [u64],
    }
    static RING: Ring<'static> = Ring {
        next: Some(&RING),
        name: "again",
        numbers: &[1, 2],
    };
    let mut writer = common::limited(1 << 20);
    let error = writer.write_to(&RING, &Pool::default()).unwrap_err();
    assert!(
        matches!(
            error,
            WriteError::TooLong {
                limit: 1_048_576,
                ..
            }
        ),
        "{error}"
    );
    let unwritten = writer.write(&RING, EmptyBuffer::heap(1 << 16)).unwrap_err();
    assert!(matches!(unwritten.error, WriteError::EndOfStream { .. }));
    let error = Writer::new().write_to(&RING, &Pool::default()).unwrap_err();
    assert!(error.to_string().contains("in a cycle"), "{error}");
    // The writer stays usable after an error.
    let end = Ring {
        next: None,
        name: "end",
        numbers: &[],
    };
    let received = writer.write_to(&end, &Pool::default()).unwrap();
    assert_eq!(
        Reader::default()
            .read::<Ring<'static>>(received)
            .unwrap()
            .get()
            .name,
        "end"
    );
}

/// If a message does not fit its buffer, the writer gives up early, whichever segment is too long.
#[test]
fn little_is_gathered_for_a_small_jbuf() {
    let text = "x".repeat(1 << 20);
    let texts = vec![text.as_str(); 1000];
    let unwritten = Writer::new()
        .write(&texts, EmptyBuffer::heap(1 << 16))
        .unwrap_err();
    assert!(matches!(
        unwritten.error,
        WriteError::EndOfStream { needed: None, .. }
    ));
    let numbers = vec![0u8; 1 << 20];
    let arrays = vec![numbers.as_slice(); 1000];
    assert!(
        Writer::new()
            .write(&arrays, EmptyBuffer::heap(1 << 16))
            .is_err()
    );
}

/// An alias that shadows the name of the tag's integer type.
#[test]
fn aliases_do_not_mislead_the_tag() {
    #[allow(non_camel_case_types, reason = "the attack")]
    type u16 = u8;
    #[derive(Transportable, Debug, PartialEq)]
    #[repr(u16)]
    enum Wide {
        A(u32),
        B(u32),
    }
    let _: u16 = 0;
    let whole = message(&vec![Wide::A(1), Wide::B(2)]).as_bytes().to_vec();
    let tag = whole.len() - 8;
    assert_eq!(whole[tag..tag + 2], [1, 0]);
    let mut bytes = whole.clone();
    bytes[tag + 1] = 0x7f;
    let read = |bytes: &[u8]| {
        let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
        Reader::default().read::<Vec<Wide>>(filled)
    };
    assert_eq!(*read(&whole).unwrap().get(), [Wide::A(1), Wide::B(2)]);
    assert!(
        read(&bytes)
            .unwrap_err()
            .to_string()
            .contains("is not a Wide")
    );
}

/// Locating a fault does not iterate over elements without size.
#[test]
fn a_fault_behind_very_many_nothings() {
    #[derive(Transportable, Debug)]
    struct Many {
        nothings: [(); usize::MAX],
        flag: bool,
    }
    let mut bytes = message(&Many {
        nothings: [(); usize::MAX],
        flag: true,
    })
    .as_bytes()
    .to_vec();
    let flag = bytes.len() - 1;
    bytes[flag] = 7;
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let failure = Reader::default().read::<Many>(filled).unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("Many.flag: byte 7 is not a bool"),
        "{failure}"
    );
    let nested = vec![[((),); 1000]; 10];
    assert_eq!(message(&nested).len(), 56);
}

#[test]
fn a_tag_in_the_text_is_named() {
    let mut bytes = message(&(1u8, Some('x'))).as_bytes().to_vec();
    let tag = bytes.len() - 1;
    bytes[tag] = 9;
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let failure = Reader::default()
        .read::<(u8, Option<char>)>(filled)
        .unwrap_err();
    assert!(
        failure
            .to_string()
            .contains("the tag of the Option<char> in the text segment"),
        "{failure}"
    );
}
