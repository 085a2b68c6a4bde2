//! Worlds of ranks.

mod basic;
mod hostile;
mod pairs;
mod services;
