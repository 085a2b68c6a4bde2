//! Tests of messages: writing, reading, and detecting damage.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod aliases;
mod aligned;
#[cfg(feature = "rkyv")]
mod archives;
mod bare_paths;
mod bounded;
mod callbacks;
#[cfg(all(feature = "bytecheck", feature = "testing"))]
mod checked;
mod common;
mod compare;
mod constant_names;
mod contiguous;
mod debug_of_forms;
mod depth;
mod descriptors;
mod dynamic;
mod erased;
mod error_texts;
mod evolution_rules;
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
#[cfg(unix)]
mod os_strings;
mod owned;
mod phantom_types;
mod restored;
mod restored_cows;
#[cfg(all(feature = "bytes", feature = "rkyv", feature = "testing"))]
mod rkyv_hostile;
mod round_trip;
mod shared;
mod soundness;
mod steady_state;
mod streams;
mod streams_hostile;
#[cfg(feature = "testing")]
mod testing;
mod typed_ids;
mod verified_cells;
mod writer_limits;

use ::testing::allocator::Counting;

/// The module `steady_state` counts allocations.
#[global_allocator]
static ALLOCATOR: Counting = Counting;
