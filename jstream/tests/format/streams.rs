//! Streams of vectors, composed according to `FORMAT.md`.

use jstream::{EmptyBuffer, Reader, StreamError, StreamReader, StreamWriter, Writer};

use crate::cases::Case;
use crate::types::{Aligned, Leg, Line, Order, Pointing, Side};

/// A stream.
pub struct Stream {
    pub name: &'static str,
    /// The names of the vectors in the stream.
    pub of: &'static [&'static str],
    pub bytes: Vec<u8>,
    /// The expected refusal: its kind and, if known, the offset. `None` if the stream is sound.
    pub refused: Option<(&'static str, Option<usize>)>,
}

impl Stream {
    pub fn expected(&self) -> String {
        let of = format!(r#"{{"of": {:?}"#, self.of);
        match self.refused {
            None => of + "}",
            Some((kind, offset)) => {
                let offset = offset.map_or("null".to_owned(), |offset| offset.to_string());
                format!(r#"{of}, "kind": "{kind}", "offset": {offset}}}"#)
            }
        }
    }
}

/// The vectors of the stream `mixed`; one of them is aligned to 128.
const MIXED: &[&str] = &["number", "order", "text", "aligned", "slice", "nothing"];

/// Appends zeroes up to a multiple of 16 and then, if necessary, a padding block up to a multiple
/// of `align`.
fn pad(stream: &mut Vec<u8>, align: usize) {
    stream.resize(stream.len().next_multiple_of(16), 0);
    let len = stream.len().next_multiple_of(align) - stream.len();
    if len > 0 {
        let end = stream.len() + len;
        stream.extend_from_slice(b"jsp\x01");
        stream.extend_from_slice(&u32::try_from(len).unwrap().to_le_bytes());
        stream.resize(end, 0);
    }
}

fn stream_of(cases: &[Case], of: &[&str]) -> Vec<u8> {
    let mut stream = Vec::new();
    for name in of {
        let case = cases.iter().find(|case| case.name == *name).unwrap();
        pad(&mut stream, if *name == "aligned" { 128 } else { 16 });
        stream.extend_from_slice(&case.message);
    }
    stream
}

/// All streams.
pub fn streams(cases: &[Case]) -> Vec<Stream> {
    let sound = |name, of| Stream {
        name,
        of,
        bytes: stream_of(cases, of),
        refused: None,
    };
    let damaged = |name, of, offset, damage: fn(&mut Vec<u8>)| {
        let mut bytes = stream_of(cases, of);
        damage(&mut bytes);
        let refused = Some(("framing", Some(offset)));
        Stream {
            name,
            of,
            bytes,
            refused,
        }
    };
    vec![
        sound("empty", &[]),
        sound("one", &["number"]),
        sound("mixed", MIXED),
        Stream {
            refused: Some(("misaligned", None)),
            bytes: {
                let mut bytes = stream_of(cases, &["number"]);
                pad(&mut bytes, 16);
                bytes.extend(stream_of(cases, &["aligned"]));
                bytes
            },
            ..sound("misaligned", &["number", "aligned"])
        },
        // The first message has 44 bytes, so its gap is 44 to 47.
        damaged("gap", MIXED, 48, |bytes| bytes[45] = 1),
        damaged("tail", &["number"], 48, |bytes| bytes.resize(48, 0)),
        damaged("long_tail", &["number"], 48, |bytes| bytes.resize(64, 0)),
        damaged("foreign", MIXED, 48, |bytes| bytes[50] = b'x'),
        damaged("cut", MIXED, 48, |bytes| bytes.truncate(48 + 200)),
        // The first three messages have 44, 229 and 63 bytes, so padding begins at 352.
        damaged("long_padding", MIXED, 352, |bytes| bytes[356] += 16),
        damaged("short_padding", MIXED, 352, |bytes| bytes[356] -= 16),
        damaged("padding_not_zero", MIXED, 352, |bytes| bytes[383] = 1),
        damaged("needless_padding", &["number"], 0, |bytes| {
            let padding = [&b"jsp\x01\x80\0\0\0"[..], &[0; 120]].concat();
            bytes.splice(..0, padding);
        }),
        damaged("only_padding", MIXED, 384, |bytes| bytes.truncate(384)),
    ]
}

/// Calls `then` with an order and its parent, as in the vector `order`.
pub fn with_order<R>(then: impl FnOnce(&Order<'_>) -> R) -> R {
    let parent = Order {
        id: 1,
        symbol: "PARENT",
        legs: &[],
        parent: None,
        open: false,
        venue: "",
    };
    let leg = |price, quantity, side| Leg {
        price,
        quantity,
        side,
    };
    then(&Order {
        id: 7,
        symbol: "ÄCME",
        legs: &[leg(99.5, 2, Side::Buy), leg(-1.0, 3, Side::Sell)],
        parent: Some(&parent),
        open: true,
        venue: "ö",
    })
}

/// Writes the values of the named vectors with the current stream writer.
pub fn written(of: &[&str]) -> Vec<u8> {
    let (mut writer, mut stream) = (Writer::new(), StreamWriter::new(EmptyBuffer::heap(1 << 16)));
    for name in of {
        let result = match *name {
            "number" => stream.write(&mut writer, &0x1234_5678u32),
            "order" => with_order(|order| stream.write(&mut writer, order)),
            "text" => stream.write(&mut writer, &"grüße"),
            "aligned" => {
                let aligned = Aligned {
                    id: 3,
                    line: &[Line { of: 4 }, Line { of: 5 }],
                    object: &Pointing { at: "here" },
                };
                stream.write(&mut writer, &aligned)
            }
            "slice" => stream.write(&mut writer, &[7u16, 8, 9].as_slice()),
            _ => stream.write(&mut writer, &()),
        };
        result.unwrap();
    }
    stream.finish().as_bytes().to_vec()
}

/// Reads a stream with the current reader. Returns the kind and offset of the refusal, or `None` if
/// the stream is sound.
pub fn read(of: &Stream) -> Option<(&'static str, Option<usize>)> {
    let stream = EmptyBuffer::heap(of.bytes.len())
        .copy_from(&of.bytes)
        .unwrap();
    let (stream, mut reader) = (StreamReader::new(stream), Reader::default());
    for name in of.of {
        let result = match *name {
            "number" => stream.next::<u32>(&mut reader).map(drop),
            "order" => stream.next::<Order<'_>>(&mut reader).map(drop),
            "text" => stream.next::<&str>(&mut reader).map(drop),
            "aligned" => stream.next::<Aligned<'_>>(&mut reader).map(drop),
            "slice" => stream.next::<&[u16]>(&mut reader).map(drop),
            _ => stream.next::<()>(&mut reader).map(drop),
        };
        match result {
            Ok(()) => {}
            Err(StreamError::Framing { offset, .. }) => return Some(("framing", Some(offset))),
            Err(StreamError::Misaligned { .. }) => return Some(("misaligned", None)),
            Err(error) => panic!("{}: {error:?}", of.name),
        }
    }
    match stream.next::<()>(&mut reader) {
        Err(StreamError::EndOfStream) => None,
        Err(StreamError::Framing { offset, .. }) => Some(("framing", Some(offset))),
        other => panic!("{}: {other:?}", of.name),
    }
}
