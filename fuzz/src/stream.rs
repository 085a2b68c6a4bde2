//! Untrusted streams.

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::stream::Unread;
use jstream::{
    EmptyBuffer, Limits, Reader, StreamError, StreamReader, StreamWriter, Transportable, Writer,
};

use crate::message::{self, framed};
use crate::mode;
use crate::model::{Arenas, Node, plant};
use crate::walk;

/// A type with a larger alignment than the items of a stream.
#[derive(Transportable, Debug, Clone, Copy, PartialEq, Arbitrary)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

/// A type with text, and with lines far from its start.
#[derive(Transportable, Debug, PartialEq, Arbitrary)]
#[transportable(derive(Debug, PartialEq))]
pub struct Page {
    pub title: String,
    pub lines: Vec<Line>,
    pub last: Option<Box<Line>>,
}

/// A step of writing a stream: an item of some type, or `clear`.
#[derive(Debug, Clone, Copy, Arbitrary)]
enum Kind {
    Number,
    Text,
    Node,
    Line,
    Page,
    MessageBuffer,
    Value,
    Clear,
}

/// Writes the stream that `input` describes. Returns its bytes and the number of items.
pub fn written<'a>(
    input: &mut Unstructured<'a>,
    arenas: &'a Arenas<'a>,
) -> Result<(Vec<u8>, usize)> {
    let mut writer = Writer::new();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(usize::from(u16::arbitrary(input)?)));
    let mut items = 0;
    for _ in 0..u8::arbitrary(input)? % 12 {
        let before = stream.as_bytes().to_vec();
        let result = match Kind::arbitrary(input)? {
            Kind::Number => stream.write(&mut writer, &u32::arbitrary(input)?),
            Kind::Text => stream.write(&mut writer, &<&str>::arbitrary(input)?),
            Kind::Node => {
                let node = plant(input, arenas)?;
                stream.write(&mut writer, &node)
            }
            Kind::Line => stream.write(&mut writer, &Line::arbitrary(input)?),
            Kind::Page => stream.write(&mut writer, &Page::arbitrary(input)?),
            Kind::MessageBuffer => {
                let (len, values) = (u8::arbitrary(input)?, <Vec<u32>>::arbitrary(input)?);
                let slice = stream.uninit_slice::<u32>(&mut writer, len.into());
                slice.map(|slice| {
                    slice.copy_from_slice(&values);
                })
            }
            Kind::Value => {
                let line = Line::arbitrary(input)?;
                let place = stream.uninit_value::<Line>(&mut writer);
                place.map(|place| place.write(line))
            }
            Kind::Clear => {
                stream.clear();
                items = 0;
                continue;
            }
        };
        assert!(
            stream.as_bytes().starts_with(&before),
            "earlier items have changed"
        );
        match result {
            Ok(()) => items += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(stream.len(), before.len());
            }
        }
    }
    Ok((stream.finish().as_bytes().to_vec(), items))
}

/// Reads the stream that `input` describes, each item by its descriptor.
pub fn run(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return;
    };
    let mut limits = Limits::default();
    if first >= mode::LIMITED {
        limits.depth = Some(u32::from(first & 7));
        limits.zero_sized = usize::from(first & 7);
    }
    match first % mode::COUNT {
        mode::RAW => {
            drain(rest, limits);
        }
        mode::FRAMED => {
            // Pieces from which messages with fitting headers are made, each behind its length.
            let (mut rest, mut bytes) = (rest, Vec::new());
            while let Some((&len, more)) = rest.split_first() {
                let (piece, more) = more.split_at(more.len().min(usize::from(len) * 4));
                bytes.resize(bytes.len().next_multiple_of(16), 0);
                bytes.extend(framed(piece));
                rest = more;
            }
            drain(&bytes, limits);
        }
        _ => {
            let mut input = Unstructured::new(rest);
            let Ok(damage) = message::damage(&mut input) else {
                return;
            };
            let arenas = Arenas::default();
            let Ok((mut bytes, items)) = written(&mut input, &arenas) else {
                return;
            };
            for one in &damage {
                one.apply(&mut bytes);
            }
            let read = drain(&bytes, limits);
            if damage.is_empty() && first < mode::LIMITED {
                assert_eq!(read, Some(items), "an undamaged stream is refused");
            }
        }
    }
}

/// Reads all items. Returns their number if all were sound and of a known type.
fn drain(bytes: &[u8], limits: Limits) -> Option<usize> {
    let mut reader = Reader::new(limits);
    let jbuf = EmptyBuffer::heap(bytes.len()).copy_from(bytes);
    let stream = StreamReader::new(jbuf.expect("it has the capacity"));
    let (mut read, mut is_sound) = (0, true);
    let (mut nodes, mut pages, mut texts, mut skipped) = (vec![], vec![], vec![], vec![]);
    loop {
        let position = stream.position();
        match next(&stream, &mut reader, &mut nodes, &mut pages, &mut texts) {
            Ok(()) => read += 1,
            Err(StreamError::EndOfStream) => break,
            Err(StreamError::Damaged { error, .. }) => {
                assert!(!error.to_string().is_empty());
                is_sound = false;
            }
            Err(error @ StreamError::Framing { .. }) => {
                assert_eq!(stream.skip().unwrap_err(), error);
                is_sound = false;
                break;
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                assert_eq!(stream.position(), position, "the position has changed");
                skipped.push(stream.skip().expect("there is an item"));
                is_sound = false;
            }
        }
        assert!(
            stream.position() >= position + 40,
            "the position has not advanced"
        );
    }
    // Visits all objects once more, after later items in the same buffer were made native.
    for (node, len) in nodes {
        walk::walk(node, len);
    }
    for page in &pages {
        assert!(stream.contains(*page) && !format!("{page:?}").is_empty());
    }
    assert!(texts.iter().all(|text| text.chars().count() <= text.len()));
    forwarded(&skipped);
    is_sound.then_some(read)
}

fn next<'s>(
    stream: &'s StreamReader,
    reader: &mut Reader,
    nodes: &mut Vec<(&'s Node<'s>, usize)>,
    pages: &mut Vec<&'s PageRef<'s>>,
    texts: &mut Vec<&'s str>,
) -> std::result::Result<(), StreamError> {
    fn is<T: Transportable + 'static>(found: u64) -> bool {
        found == jstream::descriptor::<T>()
    }
    let upcoming = stream.peek()?.ok_or(StreamError::EndOfStream)?;
    match upcoming.descriptor {
        found if is::<u32>(found) => stream.next::<u32>(reader).map(|_| ()),
        found if is::<&str>(found) => stream.next::<&str>(reader).map(|text| texts.push(text)),
        found if is::<Line>(found) => stream.next::<Line>(reader).map(|_| ()),
        found if is::<Vec<u32>>(found) => stream.next::<Vec<u32>>(reader).map(|_| ()),
        found if is::<Page>(found) => stream.next::<Page>(reader).map(|page| pages.push(page)),
        // An unknown type gives an error, too.
        _ => {
            let node = stream.next::<Node<'static>>(reader)?;
            nodes.push((node, upcoming.len));
            Ok(())
        }
    }
}

/// Forwards the skipped items, and checks that their bytes are unchanged.
fn forwarded(skipped: &[Unread<'_>]) {
    let room = skipped.iter().map(|item| item.as_bytes().len() + 256).sum();
    let mut stream = StreamWriter::new(EmptyBuffer::heap(room));
    for item in skipped {
        stream.forward(item).expect("there is room");
    }
    let stream = StreamReader::new(stream.finish());
    for item in skipped {
        let again = stream.skip().expect("it was an item before");
        assert_eq!(again.as_bytes(), item.as_bytes());
    }
    assert!(stream.is_at_end());
}
