//! Typed channels.

mod basic;
mod described;
mod owned;
mod tasks;
mod versions;
