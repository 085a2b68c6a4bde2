//! Checks for every type that is its own in-place form.

use std::fmt::Debug;

use jstream::{EmptyBuffer, MessageBuffer, Reader, Transportable, Writer};

use super::message;

/// A fill byte that shows up in a message if a wire form leaves a byte unwritten.
const DIRT: u8 = 0xa5;

/// Writes the message of `value` to a buffer that was full of [`DIRT`].
fn message_in_dirt<T: Transportable>(value: &T) -> MessageBuffer {
    let dirt = vec![DIRT; 1 << 14];
    let jbuf = EmptyBuffer::heap(dirt.len()).copy_from(&dirt).unwrap();
    Writer::new().write(value, jbuf.into_empty()).unwrap()
}

/// Sends `value`, compares the received object with it, and sends that object again.
fn there_and_back<T>(value: &T)
where
    T: Transportable + PartialEq + Debug + 'static,
    T: for<'b> Transportable<InPlace<'b> = T>,
{
    let sent = message(value).as_bytes().to_vec();
    assert_eq!(message_in_dirt(value).as_bytes(), sent);
    let filled = message_in_dirt(value);
    let received = Reader::default().read::<T>(filled).unwrap();
    received.with(|object| {
        assert_eq!(object, value);
        // Padding of the received object must not reach the next message.
        assert_eq!(message_in_dirt(object).as_bytes(), sent);
    });
}

/// Sends the values alone and as parts of others.
pub(crate) fn travels<T>(values: &[T])
where
    T: Transportable + Clone + PartialEq + Debug + 'static,
    T: for<'b> Transportable<InPlace<'b> = T>,
{
    for value in values {
        there_and_back(value);
        there_and_back(&Some(value.clone()));
        there_and_back(&(1u8, value.clone(), true));
        there_and_back(&[value.clone(), value.clone()]);
        there_and_back(&Ok::<_, u32>(value.clone()));
        there_and_back(&Err::<u32, _>(Some((value.clone(), 'x'))));
    }
    there_and_back(&None::<T>);

    let pairs: Vec<(T, u32)> = values.iter().cloned().zip(0..).collect();
    let options: Vec<Option<T>> = values.iter().cloned().map(Some).chain([None]).collect();
    let all = (values.to_vec(), pairs, options, String::from("text"));
    let sent = message(&all);
    assert_eq!(message_in_dirt(&all).as_bytes(), sent.as_bytes());
    let received = Reader::default()
        .read::<(Vec<T>, Vec<(T, u32)>, Vec<Option<T>>, String)>(sent)
        .unwrap();
    received.with(|form| {
        assert_eq!(form.0, all.0);
        assert_eq!(form.1, all.1);
        assert_eq!(form.2, all.2);
        assert_eq!(form.3, all.3);
        assert_eq!(message(form).as_bytes(), message(&all).as_bytes());
    });
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Holder<T> {
    value: T,
    after: u64,
}

/// Damages the slot of `value` in a message and returns the reader's error, which must contain
/// `name`, the name of the type.
pub(crate) fn said<T>(value: &T, name: &str, damage: impl FnOnce(&mut [u8])) -> String
where
    T: Transportable + Clone + Debug + 'static,
    T: for<'b> Transportable<InPlace<'b> = T>,
{
    let holder = Holder {
        value: value.clone(),
        after: 7,
    };
    let mut bytes = message(&holder).as_bytes().to_vec();
    damage(&mut bytes[40..40 + size_of::<T>()]);
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let failure = Reader::default().read::<Holder<T>>(filled).unwrap_err();
    let text = failure.error.to_string();
    assert!(text.starts_with("Holder<"), "{text}");
    assert!(text.contains(".value"), "{text}");
    assert!(text.contains(name), "{text}");
    text
}
