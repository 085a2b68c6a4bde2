//! What the generator of Cap'n Proto makes of the schema, by `schemas/generate`. It is kept here so that no
//! build needs it.

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

pub(crate) mod service_capnp;
