//! Types of the crate `bytes`.

use bytes::{Bytes, BytesMut};
use jstream::{Reader, Transportable};

use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Frame {
    head: Bytes,
    body: BytesMut,
    tail: Option<Bytes>,
    parts: Vec<Bytes>,
}

#[test]
fn as_slices() {
    let shared = Bytes::from((0..=255).collect::<Vec<u8>>());
    let frame = Frame {
        head: shared.slice(3..7),
        body: BytesMut::from(&b"body"[..]),
        tail: Some(Bytes::new()),
        parts: vec![shared.clone(), Bytes::from_static(b"static")],
    };
    let received = Reader::default().read::<Frame>(message(&frame)).unwrap();
    let expected = FrameRef {
        head: &[3, 4, 5, 6],
        body: b"body",
        tail: Some(&[]),
        parts: &[&shared, b"static"],
    };
    assert_eq!(received.get(), &expected);
    assert_eq!(
        message(received.get()).as_bytes(),
        message(&frame).as_bytes()
    );
}
