//! Calls of functions between two versions of their types.
//!
//! If the descriptors of a function differ from those of the caller, each argument and each result
//! brings its schemas along, in the last bytes of its payload, and the word of the message is their
//! number. Otherwise the word is 0. The receiver converts the object by its own rules.
//!
//! Decision 130 has the reasons.

use std::any::TypeId;
use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::{Arc, LazyLock, Mutex};

use jstream::buffer::MessageBuffer;
use jstream::{Received, Transportable};

use jstream_base::byte_limit::ByteCharge;
use jstream_endpoint::described::{DescribedReader, TypeSnapshots, fitting_list};
use jstream_endpoint::object::read_with;
use jstream_endpoint::shared::Shared;
use jstream_endpoint::{Message, RecvObjectError};

use super::settings::Settings;

/// The schemas of this program's types whose objects brought them along, or `None` of a type whose
/// schemas are too long. They are those of all connections, because a peer decides which of them a
/// connection needs.
static SNAPSHOTS: LazyLock<Mutex<HashMap<TypeId, Option<Arc<TypeSnapshots>>>>> =
    LazyLock::new(Mutex::default);

/// The state of a connection whose sides have other versions of some types.
///
/// Invariant: the schemas that the reader keeps between two reads are charged to
/// [`Settings::charge_reader`]. The peer decides what they are, and how many.
#[derive(Debug, Default)]
pub(super) struct OtherVersions {
    place: Mutex<ReaderPlace>,
}

#[derive(Debug, Default)]
struct ReaderPlace {
    /// The reader of the objects of the peer, unless it is in use.
    kept: Option<KeptReader>,
    /// True if the connection has ended, so that no reader is kept.
    has_ended: bool,
}

#[derive(Debug)]
struct KeptReader {
    reader: Box<DescribedReader>,
    /// Never read: its drop releases the bytes.
    _charge: ByteCharge,
}

/// Returns the schemas of a type of this side, unless they are too long.
pub(super) fn snapshots_of<T: Transportable + 'static>() -> Option<Arc<TypeSnapshots>> {
    let key = TypeId::of::<T>();
    if let Some(known) = jstream_sync::lock(&SNAPSHOTS).get(&key) {
        return known.clone();
    }
    // Without the lock, because code of the program describes the type.
    let snapshots = TypeSnapshots::for_type::<T>().ok().map(Arc::new);
    jstream_sync::lock(&SNAPSHOTS).insert(key, snapshots.clone());
    snapshots
}

impl OtherVersions {
    /// Reads an object that is followed by so many bytes of schemas. If the number is wrong, what
    /// remains is no object.
    pub(super) fn read<T: Transportable + 'static>(
        &self,
        mut payload: MessageBuffer,
        list_bytes: u64,
        (shared, settings): (&Shared, &Settings),
    ) -> Result<Received<T>, RecvObjectError> {
        let mut reader = self.take_reader();
        let bytes = payload.as_bytes();
        let list_bytes = usize::try_from(list_bytes).unwrap_or(usize::MAX);
        let object_bytes = bytes.len().saturating_sub(list_bytes);
        reader.learn(bytes.get(object_bytes..).unwrap_or_default());
        payload.truncate(object_bytes);
        let read = read_with(reader.reader(), Message::of_payload(payload), shared);
        self.keep_reader(reader, settings);
        read.map(|(_, object)| object)
    }

    /// Takes the reader out, because code of the program runs while an object is read. A read at
    /// the same time uses a reader of its own.
    fn take_reader(&self) -> Box<DescribedReader> {
        let kept = jstream_sync::lock(&self.place).kept.take();
        let new = || Box::new(DescribedReader::new(std::iter::empty()));
        kept.map_or_else(new, |kept| kept.reader)
    }

    /// Keeps a reader for the next object, if there is room for what it knows. Otherwise the next
    /// object teaches a new one, because each object brings all of its schemas.
    fn keep_reader(&self, reader: Box<DescribedReader>, settings: &Settings) {
        let Some(charge) = settings.charge_reader(reader.kept_bytes()) else {
            return;
        };
        let kept = KeptReader {
            reader,
            _charge: charge,
        };
        let mut place = jstream_sync::lock(&self.place);
        // The other reader of two reads at the same time is dropped.
        let unused = match place.has_ended {
            true => Some(kept),
            false => place.kept.replace(kept),
        };
        drop(place);
        drop(unused);
    }

    /// Drops the reader, and keeps no other one.
    pub(super) fn end(&self) {
        let mut place = jstream_sync::lock(&self.place);
        place.has_ended = true;
        let unused = place.kept.take();
        drop(place);
        drop(unused);
    }
}

/// Returns the segments of an object, followed by as much of the list of its schemas as fits, and
/// the number of bytes of this part.
pub(super) fn with_list<'s>(
    segments: &[IoSlice<'s>],
    list: &'s [u8],
    max_bytes: u64,
) -> (Vec<IoSlice<'s>>, u64) {
    let lengths = segments.iter().map(|segment| segment.len() as u64);
    let list = fitting_list(list, lengths.fold(0, u64::saturating_add), max_bytes);
    let segments = segments.iter().copied();
    let segments = segments.chain([IoSlice::new(list)]).collect();
    (segments, list.len() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::MAX_READERS_IN_ALL;
    use jstream::schema::Schema;
    use jstream_endpoint::described::append_snapshot;

    fn snapshot<T: Transportable + 'static>() -> Vec<u8> {
        let (schema, root) = Schema::of::<T>();
        schema.to_bytes(root)
    }

    /// Has the reader of a connection learn a schema. Returns the number of bytes that it knows
    /// then.
    fn learn(versions: &OtherVersions, snapshot: &[u8], settings: &Settings) -> u64 {
        let mut list = Vec::new();
        append_snapshot(snapshot, &mut list);
        let mut reader = versions.take_reader();
        reader.learn(&list);
        let bytes = reader.kept_bytes();
        versions.keep_reader(reader, settings);
        bytes
    }

    #[test]
    fn readers_of_all_connections_together_are_bounded() {
        let settings = Settings::default();
        let snapshot = snapshot::<(u32, String)>();
        let each = 2 * snapshot.len() as u64;
        let room = 3 * each;
        let others = settings.charge_reader(MAX_READERS_IN_ALL - room).unwrap();
        let connections = [(); 5].map(|()| OtherVersions::default());
        let is_kept = |versions: &OtherVersions| jstream_sync::lock(&versions.place).kept.is_some();
        for connection in &connections {
            for _ in 0..3 {
                assert_eq!(learn(connection, &snapshot, &settings), each);
            }
        }
        assert_eq!(settings.readers_in_all.bytes(), MAX_READERS_IN_ALL);
        assert_eq!(
            connections.each_ref().map(is_kept),
            [true, true, true, false, false]
        );
        // A connection that has ended makes room, and keeps nothing more.
        let [first, .., last] = &connections;
        first.end();
        learn(last, &snapshot, &settings);
        learn(first, &snapshot, &settings);
        assert_eq!(
            connections.each_ref().map(is_kept),
            [false, true, true, false, true]
        );
        drop((connections, others));
        assert_eq!(settings.readers_in_all.bytes(), 0);
    }
}
