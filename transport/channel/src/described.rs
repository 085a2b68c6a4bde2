//! Objects that bring the schemas of their classes along, because the description of the sender's
//! type had no room for them.
//!
//! Such an object is a message of its own kind, behind which the snapshots follow. Each object has
//! all that its receiver was not told, also if an object before it had the same. Several threads
//! receive from one connection, so the second object may be read before the first one. An object
//! that one receiver has not taken goes to the next.
//!
//! Decision 130 has the reasons.

use std::collections::{HashMap, VecDeque};
use std::io::IoSlice;

use jstream::buffer::{MessageBuffer, Pool};
use jstream::schema::Schema;
use jstream::{Reader, Transportable, WriteError, Writer};

use jstream_base::{Header, frames};
use jstream_endpoint::Message;

frames! {
    /// The header of an object that is not of kind 0.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum ObjectHeader by Kind, reserved Ignored {
        /// An object, and the schemas of its classes in the last `len` bytes.
        DESCRIBED = 0x6a73_6305 => Described { len: u64 = First },
    }
}

/// Maximum number of snapshots that an object brings along, and that a reader keeps beside those of
/// the description of the type.
pub(super) const MAX_BROUGHT: usize = 64;

/// Maximum number of bytes of these snapshots. Each snapshot fits.
pub(super) const MAX_BROUGHT_BYTES: usize = Schema::MAX_BYTES;

/// Appends a snapshot to a list: its length in 4 bytes, and its bytes.
pub(super) fn append_snapshot(snapshot: &[u8], list: &mut Vec<u8>) {
    let len = u32::try_from(snapshot.len()).unwrap_or(u32::MAX);
    list.extend_from_slice(&len.to_le_bytes());
    list.extend_from_slice(snapshot);
}

/// Returns the snapshots of a list. What follows an incomplete one is left out.
pub(super) fn snapshots(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let (len, behind) = rest.split_first_chunk()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (snapshot, behind) = behind.split_at_checked(len)?;
        rest = behind;
        Some(snapshot)
    })
}

/// The classes of a sender's trait objects that the description of its type leaves out.
#[derive(Debug, Default)]
pub(super) struct UndescribedClasses {
    snapshots: HashMap<u64, Vec<u8>>,
}

impl UndescribedClasses {
    /// Adds a class with this snapshot.
    pub(super) fn insert(&mut self, snapshot: Vec<u8>) {
        if let Ok((schema, root)) = Schema::from_snapshot(&snapshot) {
            self.snapshots.insert(schema.descriptor(root), snapshot);
        }
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// Returns the list of the snapshots that the receiver of an object lacks. Those that do not
    /// fit are left out: a receiver that needs them refuses the object.
    pub(super) fn describe<T: Transportable>(
        &self,
        object: &T,
        writer: &mut Writer,
    ) -> Result<Vec<u8>, WriteError> {
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let classes = writer.classes_of(object)?;
        let undescribed = classes.iter().filter_map(|class| self.snapshots.get(class));
        let (mut list, mut bytes) = (Vec::new(), 0_usize);
        for snapshot in undescribed.take(MAX_BROUGHT) {
            if bytes.saturating_add(snapshot.len()) <= MAX_BROUGHT_BYTES {
                bytes = bytes.saturating_add(snapshot.len());
                append_snapshot(snapshot, &mut list);
            }
        }
        Ok(list)
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
    classes: &UndescribedClasses,
    writer: &mut Writer,
    (pool, max_bytes): (&Pool, u64),
) -> Result<(MessageBuffer, usize), WriteError> {
    let description = classes.describe(object, writer)?;
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

/// A reader of the objects of one version of senders, with the schemas that it keeps.
///
/// Invariant: the schemas of the description and at most [`MAX_BROUGHT`] others, of at most
/// [`MAX_BROUGHT_BYTES`], are known to the reader, which has room for all of them. So it never
/// forgets one by itself.
pub(super) struct VersionReader {
    pub(super) reader: Reader,
    /// The schemas that objects brought along, the one that was not brought for longest in front.
    brought: VecDeque<BroughtSchema>,
    brought_bytes: usize,
}

struct BroughtSchema {
    descriptor: u64,
    snapshot: Vec<u8>,
}

impl VersionReader {
    /// Creates a reader that knows the schemas of a description.
    pub(super) fn new<'s>(description: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut reader = Reader::default();
        for snapshot in description {
            // A class that can't be learnt is one whose objects are not converted.
            let _ = reader.learn_bytes(snapshot);
        }
        Self {
            reader,
            brought: VecDeque::new(),
            brought_bytes: 0,
        }
    }

    /// Learns the schemas behind an object, and cuts them off. If the length in the header is
    /// wrong, what remains is no message, which reading reports.
    pub(super) fn learn_description(&mut self, message: &mut Message) {
        let Some(ObjectHeader::Described { len }) = ObjectHeader::decode(&message.header) else {
            return;
        };
        let bytes = message.payload.as_bytes();
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let object_bytes = bytes.len().saturating_sub(len);
        let list = bytes.get(object_bytes..).unwrap_or_default();
        for snapshot in snapshots(list).take(MAX_BROUGHT) {
            self.learn(snapshot);
        }
        message.payload.truncate(object_bytes);
    }

    /// Learns a schema, which replaces an earlier one with the same descriptor: senders of one
    /// version share the reader, and none of them decides which fields the objects of others
    /// must be understood with. Schemas of the description stay.
    fn learn(&mut self, snapshot: &[u8]) {
        let mut known = self.brought.iter();
        if let Some(place) = known.position(|known| known.snapshot == snapshot) {
            // An object needs all that it brings, so the others of this object must not replace it.
            if let Some(known) = self.brought.remove(place) {
                self.brought.push_back(known);
            }
            return;
        }
        let Ok((schema, root)) = Schema::from_snapshot(snapshot) else {
            return;
        };
        let descriptor = schema.descriptor(root);
        let mut known = self.brought.iter();
        match known.position(|known| known.descriptor == descriptor) {
            Some(place) => self.forget(place),
            None if self.reader.has_learnt(descriptor) => return,
            None => {}
        }
        while self.brought.len() >= MAX_BROUGHT
            || self.brought_bytes.saturating_add(snapshot.len()) > MAX_BROUGHT_BYTES
        {
            if self.brought.is_empty() {
                return;
            }
            self.forget(0);
        }
        if self.reader.learn(&schema, root).is_ok() {
            self.brought_bytes = self.brought_bytes.saturating_add(snapshot.len());
            self.brought.push_back(BroughtSchema {
                descriptor,
                snapshot: snapshot.to_vec(),
            });
        }
    }

    fn forget(&mut self, place: usize) {
        if let Some(forgotten) = self.brought.remove(place) {
            let bytes = forgotten.snapshot.len();
            self.brought_bytes = self.brought_bytes.saturating_sub(bytes);
            self.reader.forget(forgotten.descriptor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jstream::EmptyBuffer;

    /// Returns the snapshots of types that differ in their lengths.
    macro_rules! arrays {
        ($($len:literal)*) => { vec![$( snapshot::<[u16; $len]>() ),*] };
    }

    fn snapshot<T: Transportable + 'static>() -> Vec<u8> {
        let (schema, root) = Schema::of::<T>();
        schema.to_bytes(root)
    }

    fn reader() -> VersionReader {
        let description = snapshot::<String>();
        VersionReader::new(std::iter::once(&*description))
    }

    fn message(object: &[u8], description: &[u8], len: u64) -> Message {
        let bytes = [object, description].concat();
        let payload = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
        let mut message = Message::of_payload(payload);
        message.header = ObjectHeader::Described { len }.header();
        message
    }

    fn learn(reader: &mut VersionReader, brought: &[&Vec<u8>]) {
        let mut list = Vec::new();
        for snapshot in brought {
            append_snapshot(snapshot, &mut list);
        }
        let mut message = message(b"object", &list, list.len() as u64);
        reader.learn_description(&mut message);
        assert_eq!(message.payload.as_bytes(), b"object");
        let bytes = reader.brought.iter().map(|known| known.snapshot.len());
        assert_eq!(reader.brought_bytes, bytes.sum::<usize>());
        assert!(reader.brought.len() <= MAX_BROUGHT);
        assert!(reader.brought_bytes <= MAX_BROUGHT_BYTES);
    }

    #[test]
    fn a_reader_knows_all_that_an_object_brings_however_many_came_before() {
        let first = arrays!(
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90
        );
        let root = jstream::descriptor::<String>();
        let mut reader = reader();
        for _ in 0..3 {
            for start in 0..first.len() {
                let brought = first.iter().cycle().skip(start).step_by(7).take(3);
                let brought: Vec<_> = brought.collect();
                learn(&mut reader, &brought);
                for snapshot in brought {
                    let (schema, root) = Schema::from_snapshot(snapshot).unwrap();
                    assert!(reader.reader.has_learnt(schema.descriptor(root)));
                }
                assert!(reader.reader.has_learnt(root));
            }
        }
        // More than one object may bring.
        learn(&mut reader, &first.iter().collect::<Vec<_>>());
        assert_eq!(reader.brought.len(), MAX_BROUGHT);
        assert!(reader.reader.has_learnt(root));
        // What was forgotten is forgotten by the reader, too.
        let known = first.iter().filter(|snapshot| {
            let (schema, root) = Schema::from_snapshot(snapshot).unwrap();
            reader.reader.has_learnt(schema.descriptor(root))
        });
        assert_eq!(known.count(), MAX_BROUGHT);
    }

    #[test]
    fn a_schema_that_is_brought_again_is_not_learnt_again() {
        let mut reader = reader();
        let (one, other) = (snapshot::<[u8; 3]>(), snapshot::<[u8; 4]>());
        learn(&mut reader, &[&one, &other]);
        let kept = reader.brought.front().unwrap().snapshot.as_ptr();
        for _ in 0..1000 {
            learn(&mut reader, &[&one, &one, &one]);
            assert_eq!(reader.brought.len(), 2);
        }
        assert_eq!(reader.brought.back().unwrap().snapshot.as_ptr(), kept);
        // Schemas of the description take no place.
        learn(&mut reader, &[&snapshot::<String>()]);
        assert_eq!(reader.brought.len(), 2);
    }

    #[test]
    fn rules_that_one_sender_adds_do_not_stay() {
        #[derive(Transportable)]
        struct Plain {
            #[transportable(must_understand)]
            price: u32,
        }
        let (mut schema, root) = Schema::of::<Plain>();
        let strict = schema.to_snapshot(root).unwrap();
        schema = Schema::from_snapshot(&schema.to_bytes(root)).unwrap().0;
        let plain = schema.to_bytes(root);
        assert_ne!(strict, plain);
        let mut reader = reader();
        for brought in [&strict, &plain, &strict] {
            learn(&mut reader, &[brought]);
            assert_eq!(reader.brought.len(), 1);
            assert_eq!(&reader.brought.front().unwrap().snapshot, brought);
        }
    }

    #[test]
    fn descriptions_that_lie_are_harmless() {
        let mut reader = reader();
        let whole = {
            let mut list = Vec::new();
            append_snapshot(&snapshot::<[u8; 5]>(), &mut list);
            list
        };
        for len in 0..whole.len() {
            let cut = whole.get(..len).unwrap();
            let mut message = message(b"object", cut, cut.len() as u64);
            reader.learn_description(&mut message);
            assert_eq!(message.payload.as_bytes(), b"object");
            assert!(reader.brought.is_empty(), "{len}");
        }
        let mut noise = Vec::new();
        append_snapshot(&[0xff; 300], &mut noise);
        append_snapshot(&vec![0; Schema::MAX_BYTES + 1], &mut noise);
        let mut with_noise = message(b"object", &noise, noise.len() as u64);
        reader.learn_description(&mut with_noise);
        assert!(reader.brought.is_empty());
        // A length that the message does not have leaves nothing of the object.
        for len in [7 + whole.len() as u64, u64::MAX] {
            let mut message = message(b"object", &whole, len);
            reader.learn_description(&mut message);
            assert!(message.payload.as_bytes().is_empty());
        }
    }
}
