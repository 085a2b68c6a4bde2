//! Typed channels.

mod basic;
mod owned;
mod tasks;
mod versions;
