//! Ranks.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod attack;
mod basic;
mod cancel;
#[path = "../common/mod.rs"]
mod common;
mod credit;
mod ends;
mod patterns;
mod queues;
mod requests;
mod threads;
