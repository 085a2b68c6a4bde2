//! The fuzz targets as a library, so that an ordinary test can replay the corpus and a program can
//! write the seeds.

pub mod calls;
pub mod captures;
pub mod conversions;
pub mod family;
pub mod files;
pub mod message;
pub mod model;
pub mod peers;
pub mod schemas;
pub mod stream;
mod touch;
mod walk;

use arbitrary::Unstructured;
use jstream::{EmptyBuffer, Limits, MessageBuffer, Reader, Transportable, Writer};

use crate::message::Lengths;
use crate::model::{Arenas, Node, plant};

/// The modes of an input, selected by its first byte modulo [`COUNT`](mode::COUNT).
pub mod mode {
    /// A whole message.
    pub const RAW: u8 = 0;
    /// The segments of a message, for which a header is made.
    pub const FRAMED: u8 = 1;
    /// Bytes from which a valid message and the damage to it are generated.
    pub const GENERATED: u8 = 2;
    /// The number of modes.
    pub const COUNT: u8 = 3;
    /// First bytes from here on limit the depth to the value of their lowest three bits.
    pub const LIMITED: u8 = 0x80;
}

/// Reads `input` as a [`Node`] and checks the received object.
pub fn recursive(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return;
    };
    let mut limits = Limits::default();
    if first >= mode::LIMITED {
        limits.depth = Some(u32::from(first & 7));
    }
    match first % mode::COUNT {
        mode::RAW => {
            attack(rest, limits);
        }
        mode::FRAMED => {
            attack(&message::framed(rest), limits);
        }
        _ => generated(rest, limits),
    }
}

/// Generates a message from `input` and damages it. An undamaged message must be read back equal.
fn generated(input: &[u8], limits: Limits) {
    let mut input = Unstructured::new(input);
    let Ok(damage) = message::damage(&mut input) else {
        return;
    };
    let arenas = Arenas::default();
    let Ok(sent) = plant(&mut input, &arenas) else {
        return;
    };
    let mut bytes = message(&mut Writer::new(), &sent).as_bytes().to_vec();
    for one in &damage {
        one.apply(&mut bytes);
    }
    let limited = limits.depth != Limits::default().depth;
    let accepted = attack(&bytes, limits);
    if damage.is_empty() {
        assert!(accepted || limited, "an undamaged message is refused");
        let received = read(&mut Reader::default(), &bytes).expect("it was read before");
        assert!(
            walk::same(&sent, received.get()),
            "the received object differs"
        );
    }
}

/// Reads `bytes` and returns true if they were accepted.
fn attack(bytes: &[u8], limits: Limits) -> bool {
    let mut reader = Reader::new(limits);
    let received = match read(&mut reader, bytes) {
        Ok(received) => received,
        Err(failure) => {
            assert!(!failure.error.to_string().is_empty());
            assert_eq!(failure.buffer.capacity(), bytes.len());
            // State of the failed read must not affect the next one.
            let next = message(&mut Writer::new(), &7u32);
            assert_eq!(*reader.read::<u32>(next).expect("it is valid").get(), 7);
            return false;
        }
    };
    let mut writer = Writer::new();
    walk::walk(received.get(), bytes.len());
    let again = message(&mut writer, received.get());
    assert_eq!(
        Lengths::of(bytes),
        Lengths::of(again.as_bytes()),
        "one object has two lengths"
    );
    let again_bytes = again.as_bytes().to_vec();
    let second = reader
        .read::<Node<'static>>(again)
        .expect("a received object can be written and read again");
    walk::walk(second.get(), again_bytes.len());
    assert!(
        walk::same(received.get(), second.get()),
        "writing changed the object"
    );
    let third = message(&mut writer, second.get());
    assert_eq!(again_bytes, third.as_bytes(), "one object has two messages");
    let forwarded = writer
        .forward(received)
        .expect("a received object can be forwarded");
    assert!(
        forwarded.in_place,
        "an unchanged object is not forwarded in place"
    );
    let forwarded = reader
        .read::<Node<'static>>(forwarded.message)
        .expect("a forwarded message can be read");
    assert!(
        walk::same(second.get(), forwarded.get()),
        "forwarding changed the object"
    );
    true
}

fn read(
    reader: &mut Reader,
    bytes: &[u8],
) -> Result<jstream::Received<Node<'static>>, jstream::ReadFailure> {
    // Exactly as long as the message, so that a sanitizer detects every access behind its end.
    let jbuf = EmptyBuffer::heap(bytes.len());
    reader.read(jbuf.copy_from(bytes).expect("it has the capacity"))
}

/// Writes the message of `value` to a buffer of exactly its length.
pub fn message<T: Transportable>(writer: &mut Writer, value: &T) -> MessageBuffer {
    let gathered = writer
        .gather(value, |segments| {
            let segments: Vec<&[u8]> = segments.iter().map(|segment| &**segment).collect();
            segments.concat()
        })
        .expect("it fits into memory");
    let written = writer
        .write(value, EmptyBuffer::heap(gathered.len()))
        .expect("both writers give the same length");
    assert_eq!(gathered, written.as_bytes(), "the writers disagree");
    written
}
