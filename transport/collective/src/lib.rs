//! Schedules of collective operations: which rank sends which elements to whom, and in which order.
//!
//! A [`Schedule`] lists the steps of one rank. It does no I/O, so that the algorithms can be tested
//! for any number of ranks in memory, and [simulated](simulate) for thousands.
//!
//! ```
//! use jstream_transport::collective::{Algorithm, Position, Schedule, Step};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let at = Position { rank: 2, size: 3 };
//! let schedule = Schedule::broadcast(at, 0, 100, Algorithm::Binomial)?;
//! assert!(matches!(schedule.steps(), [Step::Receive { from: 0, .. }, Step::Wait]));
//! # Ok(())
//! # }
//! ```
//!
//! # Results
//!
//! The order in which elements are combined depends on the schedule alone. So an operation gives
//! the same bits in each run, and, if all ranks get the result, at each rank.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "counts are at most `usize::MAX >> 8`, ranks are below the size of the group, and each \
              schedule is checked when it is made"
)]

mod agreement;
mod algorithm;
mod algorithms;
mod blocks;
mod error;
#[cfg(test)]
mod oracle;
mod schedule;
pub mod simulate;

pub use self::agreement::{Agreement, AgreementMessage, Decision};
pub use self::algorithm::{Algorithm, Collective, UnknownName};
pub use self::blocks::Blocks;
pub use self::error::ScheduleError;
pub use self::schedule::{Area, Order, Position, Schedule, Span, Step};
