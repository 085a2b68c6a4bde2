//! Tests of messages: writing, reading, and detecting damage.
//!
//! Under valgrind, only the modules run that read, write and forward objects in many ways. The
//! others say nothing new there, and some take minutes.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod aligned;
#[cfg(feature = "rkyv")]
mod archives;
#[cfg(not(valgrind))]
mod bare_paths;
#[cfg(all(feature = "bytecheck", feature = "testing"))]
mod checked;
mod common;
mod compare;
#[cfg(not(valgrind))]
mod constant_names;
#[cfg(not(valgrind))]
mod contiguous;
#[cfg(not(valgrind))]
mod debug_of_forms;
mod depth;
#[cfg(not(valgrind))]
mod descriptors;
mod dynamic;
#[cfg(not(valgrind))]
mod erased;
#[cfg(not(valgrind))]
mod faults;
mod fields;
mod forward_adapted;
mod forward_dropped;
mod hostile;
#[cfg(feature = "testing")]
mod hostile_cases;
#[cfg(not(valgrind))]
mod identity;
#[cfg(feature = "indexmap")]
mod index_maps;
#[cfg(not(valgrind))]
mod integrations;
#[cfg(not(valgrind))]
mod limits;
#[cfg(not(valgrind))]
mod longest_ways;
mod maps;
#[cfg(not(valgrind))]
mod maps_hostile;
#[cfg(not(valgrind))]
mod opaque;
#[cfg(unix)]
mod os_strings;
mod owned;
#[cfg(not(valgrind))]
mod phantom_types;
#[cfg(not(valgrind))]
mod restored;
mod restored_cows;
#[cfg(all(feature = "bytes", feature = "rkyv", feature = "testing"))]
mod rkyv_hostile;
mod round_trip;
mod shared;
#[cfg(not(valgrind))]
mod soundness;
mod steady_state;
mod streams;
#[cfg(not(valgrind))]
mod streams_hostile;
#[cfg(all(feature = "testing", not(valgrind)))]
mod testing;
#[cfg(not(valgrind))]
mod typed_ids;
#[cfg(not(valgrind))]
mod verified_cells;

use ::testing::allocator::Counting;

/// The module `steady_state` counts allocations.
#[global_allocator]
static ALLOCATOR: Counting = Counting;
