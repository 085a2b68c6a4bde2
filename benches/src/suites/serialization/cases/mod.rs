//! Cases: the values to send, which are the same in every run.

#![cfg_attr(
    feature = "peers",
    allow(
        non_local_definitions,
        reason = "the derive of abomonation writes its impls inside a constant"
    )
)]

mod array;
mod collections;
mod draw;
mod linked_arrays;
mod list;
pub(in crate::suites) mod log;
pub(in crate::suites) mod mesh;
pub(in crate::suites) mod minecraft;
pub(in crate::suites) mod mk48;
mod rc;
mod records;
mod small;
pub(super) mod table;
mod tree;
pub(in crate::suites) mod versions;

use jstream::Restore;
use rkyv::api::high::HighDeserializer;
use rkyv::rancor::Error;
use rkyv::ser::sharing::{Share, Unshare};
use rkyv::{Archive, Deserialize};

#[cfg(feature = "peers")]
use super::subjects::{
    Abomonation, Bitcode, BitcodeBorrow, Capnp, Copying, Epserde, Flat, Flatbuffers, Lend,
    Segmented, SerdeJson,
};
use super::subjects::{
    Archivable, Codec, Jstream, Memcpy, Peer, Postcard, Restorer, Rkyv, Sendable, Subject,
};
use super::walk::Walk;
use crate::Failure;

/// Constructor of a case of a given size.
pub(super) type Make = fn(usize) -> Result<Case, Failure>;

/// All cases in the order in which they are run: name, measured size, constructor.
pub(super) const ALL: [(&str, usize, Make); 29] = [
    ("small/number", 1, small::single),
    ("small/text", 12, small::text),
    ("small/list", 4, small::list),
    ("records", 1_000, records::ascii),
    ("records-unicode", 1_000, records::unicode),
    ("list", 10_000, list::case),
    ("tree", (1 << 14) - 1, tree::case),
    ("distinct-rc", 100_000, rc::distinct),
    ("shared-rc", 100_000, rc::shared),
    ("held-rc", 100_000, rc::held),
    ("text", 20, collections::text),
    ("hash-map", 10_000, collections::hash_map),
    ("btree-map", 10_000, collections::btree_map),
    ("options", 10_000, collections::options),
    ("shapes", 10_000, collections::shapes),
    ("log", 10_000, log::case),
    ("mesh", 125_000, mesh::case),
    ("minecraft_savedata", 500, minecraft::case),
    ("mk48", 1_000, mk48::case),
    ("linked-arrays/64", 8, linked_arrays::case),
    ("linked-arrays/512", 64, linked_arrays::case),
    ("linked-arrays/4096", 512, linked_arrays::case),
    ("linked-arrays/32768", 4_096, linked_arrays::case),
    ("array/64", 8, array::case),
    ("array/512", 64, array::case),
    ("array/1KiB", 1 << 7, array::case),
    ("array/32KiB", 1 << 12, array::case),
    ("array/1MiB", 1 << 17, array::case),
    ("array/64MiB", 1 << 23, array::case),
];

/// A value to send, and the subjects that send it.
pub(super) struct Case {
    /// Description of the case for its note.
    pub(super) about: String,
    /// Sum over the value, see [`Walk`].
    pub(super) sum: u64,
    /// Subjects of the case. The first is the baseline for the others.
    pub(super) subjects: Vec<Box<dyn Subject>>,
    /// Ways to restore the value. The first is the baseline for the others.
    #[expect(clippy::vec_box, reason = "measured subjects are boxes")]
    pub(super) restorers: Vec<Box<Restorer>>,
    /// Further information that is necessary to interpret the figures.
    pub(super) notes: Vec<String>,
}

impl Case {
    /// Creates a case with jstream and rkyv as subjects.
    fn new<T: Sendable + Archivable + Walk>(
        about: String,
        value: &'static T,
    ) -> Result<Self, Failure> {
        let rkyv = Rkyv::<Unshare>::new(value)?;
        Self::with(about, value, rkyv)
    }

    /// Creates a case for a value in which several pointers may lead to one target.
    fn sharing<T: Sendable + Archivable<Share> + Walk>(
        about: String,
        value: &'static T,
    ) -> Result<Self, Failure> {
        let rkyv = Rkyv::<Share>::new(value)?;
        Self::with(about, value, rkyv)
    }

    fn with<T: Sendable + Walk>(
        about: String,
        value: &'static T,
        rkyv: impl Codec<T>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            about,
            sum: value.walk(),
            subjects: vec![
                Box::new(Jstream::new(value)?),
                Box::new(Peer::new(value, rkyv)?),
            ],
            restorers: Vec::new(),
            notes: Vec::new(),
        })
    }

    /// Adds the time of restoring the value from its message.
    fn and_restored<T>(mut self, value: &'static T) -> Result<Self, Failure>
    where
        T: Sendable + Restore + Archivable + Walk,
        T: Archive<Archived: Deserialize<T, HighDeserializer<Error>>>,
    {
        self.restorers = vec![
            Box::new(Restorer::jstream(value)?),
            Box::new(Restorer::rkyv(value)?),
        ];
        Ok(self)
    }

    /// Adds the time of a plain copy, for values that consist mainly of `array`.
    fn and_memcpy<T: Copy>(mut self, array: &'static [T]) -> Self {
        self.subjects.push(Box::new(Memcpy::new(array)));
        self
    }

    /// Adds a serializer that copies the value out of its message.
    fn and_postcard<T>(self, value: &'static T) -> Result<Self, Failure>
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Walk,
    {
        let postcard = Postcard::<T>::new(value)?;
        self.and(value, postcard)
    }

    fn and<T>(mut self, value: &'static T, codec: impl Codec<T>) -> Result<Self, Failure> {
        self.subjects.push(Box::new(Peer::new(value, codec)?));
        Ok(self)
    }
}

#[cfg(feature = "peers")]
impl Case {
    /// Adds all peers that can send any value without a pointer to itself.
    fn and_peers<T>(self, value: &'static T) -> Result<Self, Failure>
    where
        T: abomonation::Abomonation + bitcode::Encode + bitcode::DecodeOwned,
        T: serde::Serialize + serde::de::DeserializeOwned + Walk,
    {
        self.and_packing(value)?.and_serde(value)
    }

    /// Adds those peers that do not need serde.
    fn and_packing<T>(mut self, value: &'static T) -> Result<Self, Failure>
    where
        T: abomonation::Abomonation + bitcode::Encode + bitcode::DecodeOwned + Walk,
    {
        // The module of the abomonation subject says why debug builds exclude it.
        if cfg!(not(debug_assertions)) {
            self = self.and(value, Abomonation::default())?;
            let text = "abomonation checks nothing, and ignores alignment";
            self.notes.push(text.to_owned());
        }
        self.and(value, Bitcode::default())
    }

    fn and_serde<T>(self, value: &'static T) -> Result<Self, Failure>
    where
        T: serde::Serialize + serde::de::DeserializeOwned + Walk,
    {
        self.and_postcard(value)?.and(value, SerdeJson::default())
    }

    fn and_borrow<T: Lend>(self, value: &'static T) -> Result<Self, Failure> {
        self.and(value, BitcodeBorrow::<T>::default())
    }

    /// Adds the peers with their own schemas.
    fn and_schemas<T: Flat + Segmented>(mut self, value: &'static T) -> Result<Self, Failure> {
        let text = "flatbuffers verifies offsets, alignment and UTF-8 when it reads, capnp only its \
                    table of segments, and checks pointers, enums and UTF-8 when it walks";
        self.notes.push(text.to_owned());
        self.and(value, Flatbuffers::default())?
            .and(value, Capnp::new(value))
    }

    /// Adds the peer that sends the twin `U` of the value.
    fn and_twin<T, U>(mut self, value: &'static T) -> Result<Self, Failure>
    where
        T: bitcode::Encode,
        U: Copying + bitcode::DecodeOwned,
    {
        let text = "epserde checks hashes of the type, and tags, but neither UTF-8 nor slices";
        self.notes.push(text.to_owned());
        // The twin has the same fields as the value, so both have the same bitcode encoding.
        let twin: U = bitcode::decode(&bitcode::encode(value))?;
        self.and(forever(twin), Epserde::default())
    }
}

/// Leaks the value: the benchmark program is short-lived, and dropping a deep value needs a deep
/// stack.
pub(in crate::suites) fn forever<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

/// Defines types that all subjects can send.
macro_rules! values {
    ($($value:item)*) => {$(
        #[derive(
            jstream::Transportable,
            rkyv::Archive,
            rkyv::Serialize,
            rkyv::Deserialize,
            serde::Serialize,
            serde::Deserialize,
        )]
        #[cfg_attr(
            feature = "peers",
            derive(bitcode::Encode, bitcode::Decode, abomonation_derive::Abomonation)
        )]
        $value
    )*};
}

use values;

/// Pseudo-random numbers, the same in every run (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, which must not be 0.
    fn below(&mut self, end: usize) -> usize {
        self.next() as usize % end
    }
}
