//! Memory, allocations and descriptors that calls and hostile peers take. They are counted in the
//! whole process. Hence each test has a process of its own.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

mod allocations;
mod descriptors;
mod hostile;
mod reference_sizes;
mod stream_allocations;

use testing::allocator::Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;
