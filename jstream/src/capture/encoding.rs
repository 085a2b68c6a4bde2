//! Encoding of records.

use xxhash_rust::xxh3::xxh3_64;

use super::{Direction, Kind, MAGIC, Message, Method, Record, Start};

/// Length in bytes of the header of a record: the record's length and checksum.
pub(super) const FRONT: usize = 8;

const START: u8 = 1;
const HANDLERS: u8 = 2;
const METHOD: u8 = 3;
const MESSAGE: u8 = 4;
const LOST: u8 = 5;
const END: u8 = 6;

/// Returns the header of a capture.
#[must_use]
pub fn start() -> Vec<u8> {
    MAGIC.to_vec()
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "a part of the hash is meant"
)]
pub(super) fn checksum(body: &[u8]) -> u32 {
    xxh3_64(body) as u32
}

/// Appends a record. A record of more than 4 GiB is omitted.
pub fn encode(record: &Record, into: &mut Vec<u8>) {
    framed(into, |to| match record {
        Record::Start(start) => {
            to.push(START);
            to.push(u8::from(start.by_client));
            to.extend(start.unix_nanos.to_le_bytes());
            put(to, start.peer.as_bytes());
        }
        Record::Handlers { direction, names } => {
            to.push(HANDLERS);
            to.push(*direction as u8);
            for name in names {
                put(to, name.as_bytes());
            }
        }
        Record::Method(method) => {
            to.push(METHOD);
            to.push(method.direction as u8);
            to.extend(method.object.to_le_bytes());
            to.extend(method.place.to_le_bytes());
            to.push(u8::from(method.one_way) | u8::from(method.streams) << 1);
            for text in [&method.interface, &method.name, &method.signature] {
                put(to, text.as_bytes());
            }
            put(to, &method.arguments);
            put(to, &method.result);
        }
        Record::Message(message) => put_message(to, message, &[&message.payload]),
        Record::Lost { messages, bytes } => {
            to.push(LOST);
            to.extend(messages.to_le_bytes());
            to.extend(bytes.to_le_bytes());
        }
        Record::End => to.push(END),
    });
}

/// Appends the record of a message whose payload is in `payload`, in several parts, and not in
/// `message`.
pub fn encode_message(message: &Message, payload: &[&[u8]], into: &mut Vec<u8>) {
    framed(into, |to| put_message(to, message, payload));
}

fn put_message(to: &mut Vec<u8>, message: &Message, payload: &[&[u8]]) {
    to.push(MESSAGE);
    to.push(message.direction as u8);
    to.push(message.kind as u8);
    to.push(u8::from(message.call.is_some()));
    let (object, place) = message.call.unwrap_or_default();
    to.extend(message.nanos.to_le_bytes());
    to.extend(message.word.to_le_bytes());
    to.extend(message.number.to_le_bytes());
    to.extend(object.to_le_bytes());
    to.extend(place.to_le_bytes());
    to.extend(message.code.to_le_bytes());
    to.extend(message.text.to_le_bytes());
    for part in payload {
        to.extend_from_slice(part);
    }
}

fn put(to: &mut Vec<u8>, bytes: &[u8]) {
    // An overlong field makes the whole record too long, so that it is omitted.
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    to.extend(length.to_le_bytes());
    to.extend_from_slice(bytes);
}

/// Appends the length, the checksum and the body of a record.
fn framed(into: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let begin = into.len();
    into.extend([0; FRONT]);
    body(into);
    let bytes = into.split_at_checked(begin).map_or(&[][..], |(_, of)| of);
    let body = bytes.get(FRONT..).unwrap_or_default();
    let Ok(length) = u32::try_from(body.len()) else {
        return into.truncate(begin);
    };
    let sum = checksum(body);
    let front = length.to_le_bytes().into_iter().chain(sum.to_le_bytes());
    for (to, byte) in into.iter_mut().skip(begin).zip(front) {
        *to = byte;
    }
}

/// Decodes the body of a record; returns `None` if it is not valid in this version.
pub(super) fn decode(body: &[u8]) -> Option<Record> {
    let (kind, rest) = body.split_first()?;
    let mut from = From(rest);
    let record = match *kind {
        START => Record::Start(Start {
            by_client: from.flag()?,
            unix_nanos: u64::from_le_bytes(from.array()?),
            peer: from.text()?,
        }),
        HANDLERS => {
            let direction = from.direction()?;
            let mut names = Vec::new();
            while !from.0.is_empty() {
                names.push(from.text()?);
            }
            Record::Handlers { direction, names }
        }
        METHOD => {
            let direction = from.direction()?;
            let object = u32::from_le_bytes(from.array()?);
            let place = u16::from_le_bytes(from.array()?);
            let [flags] = from.array()?;
            if flags > 3 {
                return None;
            }
            Record::Method(Method {
                direction,
                object,
                place,
                interface: from.text()?,
                name: from.text()?,
                signature: from.text()?,
                arguments: from.bytes()?.to_vec(),
                result: from.bytes()?.to_vec(),
                one_way: flags & 1 != 0,
                streams: flags & 2 != 0,
            })
        }
        MESSAGE => Record::Message(message(&mut from)?),
        LOST => Record::Lost {
            messages: u64::from_le_bytes(from.array()?),
            bytes: u64::from_le_bytes(from.array()?),
        },
        END => Record::End,
        _ => return None,
    };
    from.0.is_empty().then_some(record)
}

fn message(from: &mut From<'_>) -> Option<Message> {
    let direction = from.direction()?;
    let [kind] = from.array()?;
    let is_call = from.flag()?;
    let kind = Kind::ALL.into_iter().find(|of| *of as u8 == kind)?;
    let nanos = u64::from_le_bytes(from.array()?);
    let word = u64::from_le_bytes(from.array()?);
    let number = u32::from_le_bytes(from.array()?);
    let object = u32::from_le_bytes(from.array()?);
    let place = u16::from_le_bytes(from.array()?);
    let code = u16::from_le_bytes(from.array()?);
    let text = u16::from_le_bytes(from.array()?);
    let payload = std::mem::take(&mut from.0).to_vec();
    // Messages other than calls have zeroes as the numbers of object and method.
    let is_written = is_call || (object, place) == (0, 0);
    (is_written && usize::from(text) <= payload.len()).then_some(Message {
        nanos,
        direction,
        kind,
        number,
        code,
        word,
        text,
        call: is_call.then_some((object, place)),
        payload,
    })
}

/// Cursor over the body of a record.
struct From<'b>(&'b [u8]);

impl<'b> From<'b> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*array)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    fn direction(&mut self) -> Option<Direction> {
        Some(match self.flag()? {
            false => Direction::Outward,
            true => Direction::Inward,
        })
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = u32::from_le_bytes(self.array()?);
        let (bytes, rest) = self.0.split_at_checked(usize::try_from(length).ok()?)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }
}
