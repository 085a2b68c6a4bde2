//! What the fuzz targets do with their input; a library, so that the corpus can be replayed by an
//! ordinary test and the seeds be made by a program.

pub mod calls;
pub mod captures;
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
use jstream::{Filled, Limits, Reader, Spent, Transportable, Writer};

use crate::message::Lengths;
use crate::model::{Arenas, Node, plant};

/// How the first byte of an input, modulo their number, says what the rest is.
pub mod mode {
    /// A message as it comes.
    pub const RAW: u8 = 0;
    /// What follows the header, which is made to fit it.
    pub const FRAMED: u8 = 1;
    /// What a valid message, and the damage done to it, is made of.
    pub const GENERATED: u8 = 2;
    /// One more than the largest.
    pub const COUNT: u8 = 3;
    /// A first byte from here on limits the depth to its lowest three bits.
    pub const LIMITED: u8 = 0x80;
}

/// Reads `input` as a [`Node`], and checks whatever is handed out.
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

/// Damages a message made of `input`. An undamaged one must be read as what was written.
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
        assert!(
            accepted || limited,
            "a message is refused as it was written"
        );
        let received = read(&mut Reader::default(), &bytes).expect("it was read before");
        assert!(walk::same(&sent, received.get()), "another object arrives");
    }
}

/// Reads `bytes`, and says whether they were accepted.
fn attack(bytes: &[u8], limits: Limits) -> bool {
    let mut reader = Reader::new(limits);
    let received = match read(&mut reader, bytes) {
        Ok(received) => received,
        Err(failure) => {
            assert!(!failure.error.to_string().is_empty());
            assert_eq!(failure.spent.capacity(), bytes.len());
            // Whatever the failed read left behind must not reach the next one.
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
        "one object, two lengths"
    );
    let again_bytes = again.as_bytes().to_vec();
    let second = reader
        .read::<Node<'static>>(again)
        .expect("what was read can be written and read again");
    walk::walk(second.get(), again_bytes.len());
    assert!(
        walk::same(received.get(), second.get()),
        "writing changed the object"
    );
    let third = message(&mut writer, second.get());
    assert_eq!(again_bytes, third.as_bytes(), "one object, two messages");
    let forwarded = writer
        .forward(received)
        .expect("what was read can be sent on where it lies");
    assert!(forwarded.in_place, "nothing has moved");
    let forwarded = reader
        .read::<Node<'static>>(forwarded.message)
        .expect("what was forwarded can be read");
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
    // Exactly as long as the message, so that the sanitizer sees every step past its end.
    let jbuf = Spent::heap(bytes.len());
    reader.read(jbuf.copy_from(bytes).expect("it has the capacity"))
}

/// The message of `value`, in a jbuf of just its length.
pub fn message<T: Transportable>(writer: &mut Writer, value: &T) -> Filled {
    let gathered = writer
        .gather(value, |segments| {
            let segments: Vec<&[u8]> = segments.iter().map(|segment| &**segment).collect();
            segments.concat()
        })
        .expect("it fits memory");
    let written = writer
        .write(value, Spent::heap(gathered.len()))
        .expect("both ways of writing have one length");
    assert_eq!(gathered, written.as_bytes(), "one format, one order");
    written
}
