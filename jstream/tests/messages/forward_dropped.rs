//! Parts that the program has removed from an object are not forwarded with it, not even in gaps.

use jstream::{EmptyBuffer, Reader, Transportable, Writer};

/// An object that is not flat.
#[derive(Transportable, Debug, PartialEq)]
struct Named<'b> {
    name: &'b str,
}

/// An object that is not flat and is aligned to 64.
#[derive(Transportable, Debug, PartialEq)]
#[repr(C, align(64))]
struct Line<'b> {
    name: &'b str,
}

#[derive(Transportable, Debug, PartialEq)]
struct Record<'b> {
    id: &'b u8,
    secret: Option<&'b [u8; 6]>,
    number: &'b u64,
    hidden: Option<&'b Named<'b>>,
    line: &'b Line<'b>,
}

#[test]
fn gaps_are_zero() {
    let record = Record {
        id: &1,
        secret: Some(b"secret"),
        number: &2,
        hidden: Some(&Named { name: "" }),
        line: &Line { name: "line" },
    };
    let mut writer = Writer::new();
    for slack in [0, 1024] {
        let message = writer.write(&record, EmptyBuffer::heap(1024)).unwrap();
        let jbuf = EmptyBuffer::heap(message.len() + slack);
        let message = jbuf.copy_from(message.as_bytes()).unwrap();
        let mut object = Reader::default().read::<Record<'_>>(message).unwrap();
        object.with_mut(|record| (record.secret, record.hidden) = (None, None));
        let dropped = Record {
            secret: None,
            hidden: None,
            ..record
        };
        let expected = writer.write(&dropped, EmptyBuffer::heap(1024)).unwrap();
        let forwarded = writer.forward(object).unwrap();
        assert!(forwarded.in_place);
        assert_eq!(forwarded.message.as_bytes(), expected.as_bytes());
    }
}
