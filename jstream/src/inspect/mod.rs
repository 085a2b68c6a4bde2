//! Inspection of messages: the tree of values of a message with their positions, by schema alone.
//!
//! Requires the feature `cli`. The program `jstream-inspect` prints the results of this module; the
//! [guide](crate::guide::inspecting) shows it. This module does no input or output.
//!
//! ```
//! use jstream::inspect::{Catalog, Options, message};
//! use jstream::{EmptyBuffer, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Order<'b> {
//!     id: u64,
//!     symbol: &'b str,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let filled = Writer::new().write(&Order { id: 7, symbol: "ACME" }, EmptyBuffer::heap(256))?;
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
//! [`value`] converts a message to compact JSON. [`compose`] makes a message from such JSON, for
//! types that the program does not have.
//!
//! Messages and schemas need not be trusted: memory and work are linear in their lengths, and
//! [`Options`] limits the number of values that are kept. The whole message is validated as by a
//! [`Reader`](crate::Reader), except for [`Limits`](crate::Limits) and for checks by functions of
//! the program. If the message is invalid, a [`Fault`] describes the error, and the values before
//! it are still returned.
#![forbid(unsafe_code)]

mod builder;
mod catalog;
mod compose;
pub mod dot;
mod entries;
mod hex;
mod input;
pub mod json;
mod paint;
mod picture;
mod rewrite;
pub mod svg;
pub mod text;
mod tree;
pub mod value;

pub use self::builder::message;
pub use self::catalog::{Catalog, CatalogError};
pub use self::compose::{ComposeError, compose};
pub use self::input::{Input, Item, Items};
pub use self::rewrite::{Rewrite, rewrite};
pub use self::tree::{Mark, Message, Name, Node, Value};
pub use crate::walk::{Code, Fault, Header, Leaf, Meaning, Unsound};

/// Limits on the values of a message that are kept for display. The whole message is validated in
/// any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Maximum number of elements of each array, slice or list (default 16).
    pub elements: usize,
    /// Maximum depth of fields, payloads and targets of pointers (default 64, at most 500).
    pub depth: usize,
    /// Maximum total number of values (default 65,536).
    pub values: usize,
    /// Maximum number of bytes of each string (default 200).
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
