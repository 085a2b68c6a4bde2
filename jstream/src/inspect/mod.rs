//! What stands in a message, for a person who wants to see it: a tree of values with their places, by
//! the schema alone.
//!
//! With the feature `cli`. The program `jstream-inspect` prints what this module finds; the
//! [guide](crate::guide::inspecting) shows it. Nothing here reads or writes files.
//!
//! ```
//! use jstream::inspect::{Catalog, Options, message};
//! use jstream::{Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Order<'b> {
//!     id: u64,
//!     symbol: &'b str,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let filled = Writer::new().write(&Order { id: 7, symbol: "ACME" }, Spent::heap(256))?;
//! let mut catalog = Catalog::default();
//! catalog.add_type::<Order<'_>>()?;
//! let found = message(filled.as_bytes(), &catalog, &Options::default());
//! assert!(found.fault.is_none());
//! let symbol = found.nodes.iter().find(|node| &*node.type_name == "&str").unwrap();
//! assert_eq!(found.path(symbol.id), "Order.symbol");
//! # Ok(())
//! # }
//! ```
//!
//! [`value`] is the shorter form, in which people write values too: [`compose`] makes messages of that, for types
//! that the program does not have.
//!
//! Messages and schemas may come from anywhere: memory and work are linear in their lengths, and what
//! is kept of a message is bounded by [`Options`]. All of it is checked as a
//! [`Reader`](crate::Reader) checks it, but for its [`Limits`](crate::Limits) and for what functions
//! of the program approve; where it is wrong, a [`Fault`] says so behind what was found before.
#![forbid(unsafe_code)]

mod builder;
mod catalog;
mod compose;
pub mod dot;
mod hex;
mod input;
pub mod json;
mod paint;
mod picture;
pub mod svg;
pub mod text;
mod tree;
pub mod value;

pub use self::catalog::{Catalog, CatalogError};
pub use self::compose::{ComposeError, compose};
pub use self::input::{Input, Item, Items};
pub use self::tree::{Mark, Message, Name, Node, Value, message};
pub use crate::walk::{Code, Fault, Header, Leaf, Meaning, Unsound};

/// How much of a message is kept to be shown. All of it is checked in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// How many elements of each array, slice or list (default 16).
    pub elements: usize,
    /// How many values deep (default 64, at most 500): fields, payloads and what pointers lead to.
    pub depth: usize,
    /// How many values in all (default 65,536).
    pub values: usize,
    /// How many bytes of each string (default 200).
    pub text: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            elements: 16,
            depth: 64,
            values: 1 << 16,
            text: 200,
        }
    }
}
