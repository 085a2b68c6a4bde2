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
use std::sync::{Arc, Mutex};

use jstream::buffer::MessageBuffer;
use jstream::{Received, Transportable};

use jstream_endpoint::described::{DescribedReader, list_of_type};
use jstream_endpoint::object::read_with;
use jstream_endpoint::shared::Shared;
use jstream_endpoint::{Message, RecvObjectError};

/// The state of a connection whose sides have other versions of some types.
#[derive(Debug, Default)]
pub(super) struct OtherVersions {
    /// The reader of the objects of the peer, unless it is in use.
    reader: Mutex<Option<Box<DescribedReader>>>,
    /// The schemas of this side's types that were sent.
    lists: Mutex<HashMap<TypeId, Arc<[u8]>>>,
}

impl OtherVersions {
    /// Returns the schemas of a type of this side, which follow its objects.
    pub(super) fn list<T: Transportable + 'static>(&self) -> Arc<[u8]> {
        let key = TypeId::of::<T>();
        if let Some(known) = jstream_sync::lock(&self.lists).get(&key) {
            return known.clone();
        }
        // Without the lock, because code of the program describes the type.
        let list: Arc<[u8]> = list_of_type::<T>().into();
        jstream_sync::lock(&self.lists).insert(key, list.clone());
        list
    }

    /// Reads an object that is followed by so many bytes of schemas. If the number is wrong, what
    /// remains is no object.
    pub(super) fn read<T: Transportable + 'static>(
        &self,
        mut payload: MessageBuffer,
        list_bytes: u64,
        shared: &Shared,
    ) -> Result<Received<T>, RecvObjectError> {
        // Taken out, because code of the program runs while an object is read.
        let unused = jstream_sync::lock(&self.reader).take();
        let new = || Box::new(DescribedReader::new(std::iter::empty()));
        let mut reader = unused.unwrap_or_else(new);
        let bytes = payload.as_bytes();
        let list_bytes = usize::try_from(list_bytes).unwrap_or(usize::MAX);
        let object_bytes = bytes.len().saturating_sub(list_bytes);
        reader.learn(bytes.get(object_bytes..).unwrap_or_default());
        payload.truncate(object_bytes);
        let read = read_with(reader.reader(), Message::of_payload(payload), shared);
        *jstream_sync::lock(&self.reader) = Some(reader);
        read.map(|(_, object)| object)
    }
}

/// Returns the segments of an object, followed by its schemas.
pub(super) fn with_list<'s>(segments: &[IoSlice<'s>], list: &'s [u8]) -> Vec<IoSlice<'s>> {
    let segments = segments.iter().copied();
    segments.chain([IoSlice::new(list)]).collect()
}
