//! Tests of the `inspect` module and of the program `jstream-inspect`.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

#[path = "inspect/agree.rs"]
mod agree;
#[cfg(unix)]
#[path = "inspect/bounds.rs"]
mod bounds;
#[path = "inspect/captures.rs"]
mod captures;
#[path = "inspect/compose.rs"]
mod compose;
#[path = "inspect/golden.rs"]
mod golden;
#[path = "inspect/hostile.rs"]
mod hostile;
#[path = "inspect/program.rs"]
mod program;
#[path = "inspect/samples.rs"]
mod samples;
#[path = "inspect/schemas.rs"]
mod schemas;
#[path = "inspect/values.rs"]
mod values;
