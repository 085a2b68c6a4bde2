//! Types of the crate `bstr`.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};
use jstream::{Covariant, EmptyBuffer, Pool, Reader, Transportable, Writer, descriptor};

use crate::common::message;

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, PartialEq))]
struct Line {
    text: BString,
    comment: Option<BString>,
    words: Vec<BString>,
    boxed: Box<BStr>,
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Others<'a> {
    either: Cow<'a, BStr>,
}

fn line() -> Line {
    Line {
        text: BString::from(&b"\xff\0text"[..]),
        comment: None,
        words: vec!["\u{e4}".into(), BString::default()],
        boxed: Box::<[u8]>::from(&b"\xc0"[..]).into(),
    }
}

#[test]
fn as_byte_strings_in_place() {
    let line = line();
    let pool = Pool::default();
    let sent = Writer::new().write_to(&line, &pool).unwrap();
    let received = Reader::default().read::<Line>(sent).unwrap();
    let form = received.get();
    let text: &BStr = form.text;
    assert!(pool.contains(text.as_bytes()));
    let expected = LineRef {
        text: b"\xff\0text".as_bstr(),
        comment: None,
        words: &["\u{e4}".into(), BStr::new("")],
        boxed: b"\xc0".as_bstr(),
    };
    assert_eq!(form, &expected);
    assert_eq!(message(form).as_bytes(), message(&line).as_bytes());
    assert_eq!(form.to_owned().unwrap(), line);
}

#[test]
fn borrowed_or_owned() {
    for either in [Cow::Borrowed(BStr::new("either")), Cow::Owned("or".into())] {
        let others = Others {
            either: either.clone(),
        };
        let received = Reader::default()
            .read::<Others<'_>>(message(&others))
            .unwrap();
        assert_eq!(received.get().either, &*either);
    }
}

#[test]
fn they_are_bytes_on_the_wire_of_a_checked_length() {
    fn covariant<T: Covariant>() {}
    covariant::<(BString, &BStr)>();
    assert_eq!(descriptor::<BString>(), descriptor::<&[u8]>());
    let mut bytes = message(&BString::from("text")).as_bytes().to_vec();
    bytes[48] = 5;
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    assert!(Reader::default().read::<BString>(filled).is_err());
}
