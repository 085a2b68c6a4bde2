//! The matcher.

mod matcher;
mod patterns;
