//! Tests of the writer.

use std::borrow::Cow;
use std::fmt::Debug;
use std::io::IoSlice;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Writer;
use crate::model::InPlace;
use crate::write::fast_path::tests::Even;
use crate::write::scratch::KEEP;
use crate::{Covariant, EmptyBuffer, Reader, Transportable, WriteError};

#[derive(Transportable, Debug)]
#[repr(C, align(64))]
struct Overaligned {
    number: u8,
    text: String,
}

#[derive(Transportable, Debug)]
struct Unlucky {
    text: String,
    #[transportable(with = Even)]
    number: u16,
    more: String,
}

fn joined<T: Transportable>(value: &T) -> Vec<u8> {
    let join = |segments: &[IoSlice<'_>]| segments.iter().flat_map(|s| s.to_vec()).collect();
    Writer::new().gather(value, join).unwrap()
}

/// Checks a value whose targets are text.
fn check_text_only<T>(writer: &mut Writer, value: &T)
where
    T: Transportable + Covariant + Debug + 'static,
    for<'b> T::InPlace<'b>: Debug,
{
    assert!(<T::InPlace<'_> as InPlace>::SHAPE.text_only);
    check_in_buffers(writer, value);
}

/// Checks that a value is written into buffers of any size as into the memory of the writer.
fn check_in_buffers<T>(writer: &mut Writer, value: &T)
where
    T: Transportable + Covariant + Debug + 'static,
    for<'b> T::InPlace<'b>: Debug,
{
    let expected = joined(value);
    for capacity in 0..expected.len() {
        let failure = writer
            .write(value, EmptyBuffer::heap(capacity))
            .unwrap_err();
        let WriteError::EndOfStream { needed, .. } = failure.error else {
            panic!("{:?}", failure.error)
        };
        assert_eq!(needed, Some(expected.len()));
    }
    for more in [0, 1, 1000] {
        let buffer = EmptyBuffer::heap(expected.len().saturating_add(more));
        let message = writer.write(value, buffer).unwrap();
        assert_eq!(message.as_bytes(), expected);
        let received = Reader::default().read::<T>(message).unwrap();
        let shown = format!("{:?}", received.get()).replace("Ref ", " ");
        assert_eq!(shown, format!("{value:?}"));
    }
    // The next message sees nothing of a buffer that was lent to this one.
    let list = vec![Some("text".to_owned()), None];
    let message = writer.write(&list, EmptyBuffer::heap(256)).unwrap();
    assert_eq!(message.as_bytes(), joined(&list));
}

#[test]
fn text_is_written_behind_the_root() {
    let texts = |len: usize| ["x".repeat(len), String::new(), "ä".repeat(len / 2)];
    for mut writer in [Writer::new(), Writer::new().lend_from(64)] {
        for len in [0, 1, 7, 63, 64, 300] {
            let [text, empty, other] = texts(len);
            check_text_only(&mut writer, &text);
            check_text_only(&mut writer, &texts(len));
            check_text_only(&mut writer, &(7u8, Some(text.clone()), empty));
            // The tag of the option is in the text segment.
            let none = None::<(u8, String)>;
            check_text_only(&mut writer, &(Some((1u8, other.clone())), none, other));
            check_text_only(&mut writer, &Cow::<'static, str>::Owned(text.clone()));
            check_text_only(&mut writer, &Overaligned { number: 5, text });
        }
    }
}

#[test]
fn text_moves_behind_the_other_segments() {
    let texts = |len: usize| vec!["x".repeat(len), String::new(), "ä".repeat(len / 2)];
    for threshold in [64, 1 << 20] {
        let mut writer = Writer::new().lend_from(threshold);
        for len in [0, 1, 15, 64, 200] {
            check_in_buffers(&mut writer, &texts(len));
            // The arrays of numbers are in the bulk segment, which is gathered or recorded.
            for count in [0, 9, 150] {
                let (numbers, wide) = (vec![7u8; count], vec![(1u64, 2u8); count]);
                check_in_buffers(&mut writer, &(numbers.clone(), wide, texts(len)));
                check_in_buffers(&mut writer, &(texts(len), numbers, Some(texts(3))));
            }
            // Values whose targets are not only text come before and after.
            let pairs = vec![(texts(len), vec![5u16]), (texts(2), Vec::new())];
            check_in_buffers(&mut writer, &(Box::new(texts(len)), pairs.clone()));
            check_in_buffers(&mut writer, &(pairs, Box::new((3u8, texts(len).concat()))));
        }
    }
}

#[test]
fn a_panic_between_texts_leaves_the_writer_fit_for_use() {
    let mut writer = Writer::new();
    let unlucky = |number| Unlucky {
        text: "text".to_owned(),
        number,
        more: "more".to_owned(),
    };
    for _ in 0..3 {
        let write = || writer.write(&unlucky(13), EmptyBuffer::heap(256)).map(drop);
        assert!(catch_unwind(AssertUnwindSafe(write)).is_err());
        check_text_only(&mut writer, &unlucky(12));
        let list = || vec![unlucky(2), unlucky(13)];
        let write = || writer.write(&list(), EmptyBuffer::heap(256)).map(drop);
        assert!(catch_unwind(AssertUnwindSafe(write)).is_err());
        check_in_buffers(&mut writer, &vec![unlucky(2), unlucky(12)]);
        let [mut bytes, expected] = [Vec::new(), joined(&vec!["text"])];
        writer.write_vec(&vec!["text"], &mut bytes).unwrap();
        assert_eq!(bytes, expected);
    }
}

#[test]
fn a_panic_while_a_message_is_measured_leaves_the_limit() {
    let mut writer = Writer::new();
    let unlucky = Unlucky {
        text: String::new(),
        number: 13,
        more: String::new(),
    };
    let values = vec![unlucky];
    let write = || writer.write(&values, EmptyBuffer::heap(8)).map(drop);
    assert!(catch_unwind(AssertUnwindSafe(write)).is_err());
    let long = vec!["x".repeat(100_000)];
    assert!(writer.message_len(&long).unwrap() > 100_000);
}

#[test]
fn values_without_size_are_written() {
    type Sizeless = [String; 0];
    let mut writer = Writer::new();
    for count in [0, 1, 3] {
        let values: Vec<Sizeless> = vec![[]; count];
        let value = (values, Some(Box::new("text".to_owned())));
        let message = writer.write(&value, EmptyBuffer::heap(256)).unwrap();
        let received = Reader::default()
            .read::<(Vec<Sizeless>, Option<Box<String>>)>(message)
            .unwrap();
        let (values, text) = received.get();
        assert_eq!(
            (values.len(), text.as_deref().copied()),
            (count, Some("text"))
        );
    }
    let message = writer
        .write::<Sizeless>(&[], EmptyBuffer::heap(64))
        .unwrap();
    assert!(
        Reader::default()
            .read::<Sizeless>(message)
            .unwrap()
            .get()
            .is_empty()
    );
}

#[test]
fn the_memory_of_a_large_root_is_released() {
    const COUNT: usize = 2 * KEEP / size_of::<u64>();
    let large: Box<[u64; COUNT]> = vec![7; COUNT].try_into().unwrap();
    let mut writer = Writer::default();
    writer.gather(&*large, |_| ()).unwrap();
    assert!(writer.draft.objects.capacity() > KEEP);
    for _ in 0..2 {
        writer.gather(&"short", |_| ()).unwrap();
    }
    assert!(writer.draft.objects.capacity() <= KEEP);
}
