//! Objects that bring the schemas of their classes along, because the description of the sender's
//! type had no room for them.
//!
//! Such an object is a message of its own kind, behind which the snapshots follow. Each object has
//! all that its receiver was not told, also if an object before it had the same. Several threads
//! receive from one connection, so the second object may be read before the first one. An object
//! that one receiver has not taken goes to the next.
//!
//! Decision 130 has the reasons.

use std::io::IoSlice;

use jstream::buffer::{MessageBuffer, Pool};
use jstream::{Transportable, WriteError, Writer};

use jstream_base::{Header, frames};
use jstream_endpoint::Message;
use jstream_endpoint::described::{ClassSnapshots, DescribedReader};

frames! {
    /// The header of an object that is not of kind 0.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum ObjectHeader by Kind, reserved Ignored {
        /// An object, and the schemas of its classes in the last `len` bytes.
        DESCRIBED = 0x6a73_6305 => Described { len: u64 = First },
    }
}

/// Calls `send` with the header and the segments of an object and its description. If both together
/// are longer than `max_bytes`, the description is left out.
pub(super) fn with_segments<R>(
    segments: &[IoSlice<'_>],
    description: &[u8],
    max_bytes: u64,
    send: impl FnOnce(Header, &[IoSlice<'_>]) -> R,
) -> R {
    let len = description.len() as u64;
    let all = segments.iter().map(|segment| segment.len() as u64);
    if description.is_empty() || all.fold(len, u64::saturating_add) > max_bytes {
        return send(Header::default(), segments);
    }
    let segments = segments.iter().copied().chain([IoSlice::new(description)]);
    send(
        object_header(description.len()),
        &segments.collect::<Vec<_>>(),
    )
}

/// Returns the header of an object that is followed by so many bytes of descriptions.
pub(super) fn object_header(description_bytes: usize) -> Header {
    match description_bytes {
        0 => Header::default(),
        bytes => ObjectHeader::Described { len: bytes as u64 }.header(),
    }
}

/// Writes an object and its description to a buffer of the pool. Also returns the number of bytes
/// of the description.
pub(super) fn write_described<T: Transportable>(
    object: &T,
    classes: &ClassSnapshots,
    writer: &mut Writer,
    (pool, max_bytes): (&Pool, u64),
) -> Result<(MessageBuffer, usize), WriteError> {
    let description = classes.describe(None, object, writer)?;
    if description.is_empty() {
        return Ok((writer.write_to(object, pool)?, 0));
    }
    let written = writer.gather(object, |segments| {
        with_segments(segments, &description, max_bytes, |header, segments| {
            let len = segments.iter().map(|segment| segment.len());
            let mut filling = pool.take(len.fold(0, usize::saturating_add))?.writer();
            for segment in segments {
                if !filling.extend(segment) {
                    unreachable!("the buffer has room for all segments");
                }
            }
            let is_described = header != Header::default();
            let bytes = if is_described { description.len() } else { 0 };
            Ok((filling.finish(), bytes))
        })
    })?;
    written.map_err(WriteError::Pool)
}

/// Cuts off the description behind an object if both together are longer than `max_bytes`. Also
/// returns the number of bytes of the description that are left.
pub(super) fn within_limit(
    mut filled: MessageBuffer,
    description_bytes: usize,
    max_bytes: u64,
) -> (MessageBuffer, usize) {
    if filled.len() as u64 <= max_bytes {
        return (filled, description_bytes);
    }
    filled.truncate(filled.len().saturating_sub(description_bytes));
    (filled, 0)
}

/// Has a reader learn the schemas behind an object, and cuts them off. If the length in the header
/// is wrong, what remains is no message, which reading reports.
pub(super) fn learn_description(reader: &mut DescribedReader, message: &mut Message) {
    let Some(ObjectHeader::Described { len }) = ObjectHeader::decode(&message.header) else {
        return;
    };
    let bytes = message.payload.as_bytes();
    let len = usize::try_from(len).unwrap_or(usize::MAX);
    let object_bytes = bytes.len().saturating_sub(len);
    reader.learn(bytes.get(object_bytes..).unwrap_or_default());
    message.payload.truncate(object_bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream::EmptyBuffer;
    use jstream::schema::Schema;
    use jstream_endpoint::described::append_snapshot;

    #[test]
    fn lengths_that_lie_leave_nothing_of_the_object() {
        let mut list = Vec::new();
        let (schema, root) = Schema::of::<[u8; 5]>();
        append_snapshot(&schema.to_bytes(root), &mut list);
        let bytes = [b"object", &*list].concat();
        let learn = |len| {
            let payload = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            let mut message = Message::of_payload(payload);
            message.header = ObjectHeader::Described { len }.header();
            let mut reader = DescribedReader::new(std::iter::empty());
            learn_description(&mut reader, &mut message);
            let is_learnt = reader.reader().has_learnt(schema.descriptor(root));
            (message.payload.as_bytes().to_vec(), is_learnt)
        };
        let len = list.len() as u64;
        assert_eq!(learn(len), (b"object".to_vec(), true));
        assert_eq!(learn(0), (bytes.clone(), false));
        assert!(!learn(len - 1).1);
        for len in [bytes.len() as u64, bytes.len() as u64 + 1, u64::MAX] {
            assert_eq!(learn(len), (Vec::new(), false));
        }
    }
}
