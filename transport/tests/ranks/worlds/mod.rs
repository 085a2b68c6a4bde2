//! Worlds of ranks.

mod basic;
mod hostile;
mod services;
