//! Tests of files of objects.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod checks;
mod classes;
mod contents;
mod crash;
mod follow;
mod hostile;
mod names;
