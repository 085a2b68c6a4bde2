//! Members of a group that send to each other by number.
//!
//! [`world`] is how they find each other.

pub mod world;
