//! References to objects, and registries of them.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[path = "../bound/mod.rs"]
mod bound;
mod directory;
mod ends;
mod passing;
mod referring;
#[path = "../until/mod.rs"]
mod until;
