//! Untrusted captures.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jstream::capture::{
    CaptureReader, Direction, Kind, Message, Method, Record, Start, encode, start,
};
use jstream::schema::Schema;
use jstream::{EmptyBuffer, Transportable, Writer};
use xxhash_rust::xxh3::xxh3_64;

/// Flags in the first byte of an input.
pub mod flag {
    /// The checksums of all records are recomputed.
    pub const SUMMED: u8 = 1;
    /// The rest of the input is damage to the sample, not a capture.
    pub const SAMPLE: u8 = 2;
}

/// Reads the capture that `input` describes record by record, and the values of its messages by its
/// schemas.
pub fn run(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return;
    };
    let mut bytes = if first & flag::SAMPLE != 0 {
        let mut bytes = sample().to_vec();
        for step in rest.chunks_exact(3) {
            let at = usize::from(u16::from_le_bytes([step[0], step[1]])) % bytes.len();
            bytes[at] = step[2];
        }
        bytes
    } else {
        [&start(), rest].concat()
    };
    if first & flag::SUMMED != 0 {
        sum(&mut bytes);
    }
    read(&bytes);
}

/// Recomputes the checksums of records, as far as their lengths are consistent.
fn sum(bytes: &mut [u8]) {
    let mut rest = bytes.get_mut(start().len()..).unwrap_or_default();
    while let Some((front, body)) = rest.split_first_chunk_mut::<8>() {
        let length = u32::from_le_bytes([front[0], front[1], front[2], front[3]]);
        let Some((body, others)) = body.split_at_mut_checked(length as usize) else {
            return;
        };
        front[4..].copy_from_slice(&(xxh3_64(body) as u32).to_le_bytes());
        rest = others;
    }
}

fn read(bytes: &[u8]) {
    let mut reader = match CaptureReader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (mut methods, mut again) = (BTreeMap::new(), start());
    loop {
        match reader.read() {
            Ok(Some(record)) => {
                encode(&record, &mut again);
                show(record, &mut methods);
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert!(
                    matches!(reader.read(), Ok(None)),
                    "reading continues after an error"
                );
                break;
            }
        }
    }
    assert!(bytes.starts_with(&again), "a record has two encodings");
}

/// Formats the values of a message with the schemas in the capture.
fn show(record: Record, methods: &mut BTreeMap<(Direction, u32, u16), Method>) {
    use jstream::inspect::text::{Style, values};
    use jstream::inspect::{Catalog, Options, message, value};
    match record {
        Record::Method(method) => {
            methods.insert((method.direction, method.object, method.place), method);
        }
        Record::Message(of) => {
            let Some((object, place)) = of.call else {
                return;
            };
            let Some(method) = methods.get(&(of.direction, object, place)) else {
                return;
            };
            for schema in [&method.arguments, &method.result] {
                let mut catalog = Catalog::default();
                if let Err(error) = catalog.add_bytes(schema) {
                    assert!(!error.to_string().is_empty());
                    continue;
                }
                let found = message(&of.payload, &catalog, &Options::default());
                assert!(!value::value(&found).to_string().is_empty());
                let mut shown = String::new();
                values(&found, &of.payload, Style::default(), &mut shown)
                    .expect("a string takes it");
            }
        }
        _ => {}
    }
}

fn message_of<T: Transportable>(value: &T) -> Vec<u8> {
    let written = Writer::new().write(value, EmptyBuffer::heap(4096));
    written.expect("there is room").as_bytes().to_vec()
}

fn schema_of<T: Transportable + 'static>() -> Vec<u8> {
    let (schema, root) = Schema::of::<T>();
    schema.to_bytes(root)
}

/// A capture with records of all kinds.
pub fn sample() -> &'static [u8] {
    static SAMPLE: OnceLock<Vec<u8>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut call = Message::new(Direction::Inward, Kind::Request);
        call.number = 1;
        call.call = Some((1, 0));
        call.payload = message_of(&(7_u32, vec![1.5_f64, 2.0], "text".to_owned()));
        let mut reply = Message::new(Direction::Outward, Kind::Reply);
        reply.number = 1;
        reply.payload = message_of(&Some("sum".to_owned()));
        let mut returned = Message::new(Direction::Outward, Kind::Return);
        returned.payload = b"why".to_vec();
        returned.text = 3;
        let records = [
            Record::Start(Start {
                by_client: true,
                unix_nanos: 1,
                peer: "inproc://x".to_owned(),
            }),
            Record::Handlers {
                direction: Direction::Outward,
                names: vec!["a".to_owned(), "b".to_owned()],
            },
            Record::Method(Method {
                direction: Direction::Inward,
                object: 1,
                interface: "Desk".to_owned(),
                name: "add".to_owned(),
                arguments: schema_of::<(u32, Vec<f64>, String)>(),
                result: schema_of::<Option<String>>(),
                ..Method::default()
            }),
            Record::Message(call),
            Record::Message(reply),
            Record::Message(returned),
            Record::Lost {
                messages: 5,
                bytes: 99,
            },
            Record::End,
        ];
        let mut capture = start();
        records.iter().for_each(|of| encode(of, &mut capture));
        capture
    })
}
