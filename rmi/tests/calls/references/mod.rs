//! References to objects, and registries of them.

mod borrowed;
mod bound;
mod client_exports;
mod directory;
mod ends;
mod passing;
mod referring;
