//! Tests of messages: writing, reading, and detecting damage.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[path = "../common/aligned.rs"]
mod aligned;
#[cfg(feature = "rkyv")]
#[path = "../common/archives.rs"]
mod archives;
#[path = "../common/mod.rs"]
mod common;
mod contiguous;
mod depth;
mod descriptors;
mod dynamic;
mod erased;
mod faults;
mod fields;
mod forward_adapted;
mod forward_dropped;
mod hostile;
#[cfg(feature = "testing")]
mod hostile_cases;
mod identity;
#[cfg(feature = "indexmap")]
mod index_maps;
mod integrations;
mod limits;
mod longest_ways;
mod maps;
mod maps_hostile;
mod opaque;
mod owned;
mod phantom_types;
mod restored_slices;
#[cfg(all(feature = "bytes", feature = "rkyv", feature = "testing"))]
mod rkyv_hostile;
mod round_trip;
mod shared;
mod soundness;
mod streams;
mod streams_hostile;
#[cfg(feature = "testing")]
mod testing;
mod verified_cells;
