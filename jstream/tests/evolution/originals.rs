//! Messages that are read and forwarded, and snapshots in the program.

use jstream::schema::Schema;
use jstream::{EmptyBuffer, MessageBuffer, ReadError, Reader, Transportable, to_vec};

/// The version whose snapshot is `schemas/order-2.jschema`.
#[derive(Transportable, Debug, PartialEq)]
#[repr(C)]
struct Order2 {
    id: u64,
    parts: u32,
    urgent: bool,
}

#[derive(Transportable, Debug, PartialEq)]
struct Order {
    id: u64,
    #[transportable(default = 9)]
    weight: u16,
}

const SNAPSHOT: &str = "tests/evolution/schemas/order-2.jschema";

fn message(bytes: &[u8]) -> MessageBuffer {
    EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
}

fn order_2() -> Vec<u8> {
    to_vec(&Order2 {
        id: 7,
        parts: 3,
        urgent: true,
    })
    .unwrap()
}

/// A reader that knows the snapshot.
fn reader() -> Reader {
    let mut reader = Reader::default();
    for snapshot in jstream::embed_schemas!["schemas/order-2.jschema"] {
        reader.learn_bytes(snapshot).unwrap();
    }
    reader
}

#[test]
fn an_embedded_snapshot_is_that_of_the_type() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(SNAPSHOT);
    let (schema, root) = Schema::of::<Order2>();
    assert_eq!(
        std::fs::read(path).unwrap(),
        schema.to_snapshot(root).unwrap()
    );
}

#[test]
fn a_converted_message_is_returned_as_it_came() {
    let bytes = order_2();
    let mut reader = reader();
    let (received, original) = reader
        .read_with_original::<Order>(message(&bytes))
        .map_err(|failure| failure.error)
        .unwrap();
    assert_eq!(*received.get(), Order { id: 7, weight: 9 });
    assert!(received.is_converted());
    assert_eq!(original.unwrap().as_bytes(), bytes);
    assert_eq!(reader.conversions().map(|(_, count)| count).sum::<u64>(), 1);
}

#[test]
fn a_message_of_the_same_version_has_no_original() {
    let bytes = to_vec(&Order { id: 1, weight: 2 }).unwrap();
    let (received, original) = reader()
        .read_with_original::<Order>(message(&bytes))
        .map_err(|failure| failure.error)
        .unwrap();
    assert_eq!(*received.get(), Order { id: 1, weight: 2 });
    assert!(!received.is_converted() && original.is_none());
}

#[test]
fn what_can_not_be_read_is_refused_with_its_buffer() {
    let bytes = order_2();
    let mut unlearnt = Reader::default();
    let failure = unlearnt
        .read_with_original::<Order>(message(&bytes))
        .unwrap_err();
    assert!(matches!(failure.error, ReadError::Descriptor { .. }));
    assert!(failure.buffer.capacity() >= bytes.len());

    let mut reader = reader();
    reader.set_conversion(false);
    let failure = reader
        .read_with_original::<Order>(message(&bytes))
        .unwrap_err();
    assert!(matches!(failure.error, ReadError::Descriptor { .. }));

    reader.set_conversion(true);
    let mut broken = bytes.clone();
    // The flag, before three bytes of padding.
    *broken.iter_mut().nth_back(3).unwrap() = 2;
    let failure = reader
        .read_with_original::<Order>(message(&broken))
        .unwrap_err();
    assert!(matches!(failure.error, ReadError::Conversion { .. }));
    for len in [0, 8, 40, bytes.len() - 1] {
        let failure = reader.read_with_original::<Order>(message(&bytes[..len]));
        assert!(failure.is_err(), "{len} bytes");
    }
}
