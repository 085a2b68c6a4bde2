//! Rings in use.
