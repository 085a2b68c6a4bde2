//! Allocations per message, which are counted in the whole process. Hence each test has a process
//! of its own.
#![cfg(not(address_sanitizer))]
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod active;
mod channels;
mod endpoints;
mod ranks;

use std::sync::{Mutex, PoisonError};

use testing::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs the body of a test in a process of its own, while no other test of this program runs: the
/// threads of a test spin, and two tests at once would take turns.
#[track_caller]
fn alone(body: impl FnOnce()) {
    static TURN: Mutex<()> = Mutex::new(());

    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    testing::process::alone(body);
}
