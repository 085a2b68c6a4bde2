//! Typed channels.

mod basic;
mod owned;
mod tasks;
