//! Ranks and worlds of ranks.
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
mod collectives;
mod credit;
mod ends;
mod exchange;
mod hostile;
mod layouts;
mod locals;
mod long;
mod model;
mod patterns;
mod queues;
mod records;
mod requests;
mod survival;
mod threads;
mod worlds;
