//! References to objects, and registries of them.

mod bound;
mod directory;
mod ends;
mod passing;
mod referring;
