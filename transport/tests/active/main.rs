//! Active messages.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod alone;
mod attack;
mod callbacks;
mod gathered;
mod looks;
mod put_off;
mod replicated;
mod requests;
mod storms;
mod versions;
mod window;
mod woken;
