//! What the generators of Cap'n Proto and FlatBuffers make of the schemas, by `schemas/generate`.
//! It is kept here so that no build needs them.

#![allow(
    clippy::all,
    clippy::allow_attributes_without_reason,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_lines,
    clippy::undocumented_unsafe_blocks,
    clippy::unwrap_used,
    dead_code,
    missing_docs,
    rust_2018_idioms,
    unreachable_pub,
    unused,
    reason = "generated code"
)]

pub(crate) mod log_capnp;
pub(crate) mod log_flat;
pub(crate) mod mesh_capnp;
pub(crate) mod mesh_flat;
pub(crate) mod minecraft_capnp;
pub(crate) mod minecraft_flat;
pub(crate) mod mk48_capnp;
pub(crate) mod mk48_flat;
pub(crate) mod versions_capnp;
pub(crate) mod versions_flat;
