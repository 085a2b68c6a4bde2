//! Typed channels.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod basic;
#[path = "../common/mod.rs"]
mod common;
mod owned;
mod processes;
mod tasks;
