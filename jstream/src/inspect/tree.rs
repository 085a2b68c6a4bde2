//! The tree of values of a message.

use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use crate::walk::{Fault, Header, Leaf, Meaning};

/// The result of inspecting a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Message {
    /// The header, if it is valid.
    pub header: Option<Header>,
    /// The name of the root's type, if its schema is known.
    pub type_name: Option<Rc<str>>,
    /// The values, the root first. Each value comes after the one that holds it or points to it.
    pub nodes: Vec<Node>,
    /// Number of values that were visited but not kept.
    pub hidden: usize,
    /// The error in the message, if there is one.
    pub fault: Option<Fault>,
}

/// A value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Node {
    /// Index in [`Message::nodes`].
    pub id: usize,
    /// Index of the value that holds it or points to it.
    pub parent: Option<usize>,
    /// Name of the value within its parent.
    pub name: Name,
    /// Name of the type, as Rust spells it.
    pub type_name: Rc<str>,
    /// Byte range in the message.
    pub at: Range<usize>,
    /// Meanings of the value's own bytes, excluding those of its parts.
    pub marks: Vec<Mark>,
    /// The value; `None` if a fault prevented it from being read.
    pub value: Option<Value>,
    /// Indices of the parts, or of the values that it points to.
    pub children: Vec<usize>,
    /// Number of further children that were left out.
    pub hidden: usize,
    pub(super) depth: usize,
}

/// A byte range of a value with a single meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Byte range in the message.
    pub at: Range<usize>,
    /// Meaning of the bytes.
    pub meaning: Meaning,
}

/// Name of a value within its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name {
    /// The root of a message.
    Root,
    /// A field.
    Field(String),
    /// An element.
    Index(usize),
    /// The payload of an option or result, of a cell, or of a shared pointer.
    Payload,
    /// The target of a reference.
    Target,
}

/// The kind and contents of a value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Value {
    /// A plain value.
    Leaf(Leaf),
    /// A struct or tuple; its fields are children.
    Struct,
    /// A variant of an enum; its fields are children.
    Variant {
        /// The variant's name.
        name: String,
        /// The discriminant.
        discriminant: i128,
    },
    /// An option or cell without a value.
    None,
    /// An option or cell with a value, the only child.
    Some,
    /// `Ok` of the only child.
    Ok,
    /// `Err` of the only child.
    Err,
    /// An array with this number of elements, the children.
    Array(usize),
    /// A wrapper of the only child: a cell, or a shared pointer.
    Around,
    /// A string.
    Text {
        /// Byte range of the string in the message.
        at: Range<usize>,
        /// The string, truncated to [`Options::text`](super::Options::text).
        text: String,
        /// Number of the string, if it is shared.
        number: Option<u32>,
    },
    /// A pointer to the children.
    Pointer {
        /// Offset of the target in the message.
        to: usize,
        /// Number of elements.
        count: usize,
        /// True if the target is a slice.
        many: bool,
        /// Number of the target, if it is shared.
        number: Option<u32>,
    },
    /// A further pointer to a shared target.
    Again {
        /// Number of the target.
        number: u32,
        /// Index of the first pointer to the target, if it was kept, or of the root for number 0.
        first: Option<usize>,
    },
}

impl Message {
    /// Returns the path of a value from the root: `Order.legs[3].side`.
    #[must_use]
    pub fn path(&self, mut id: usize) -> String {
        let mut names = Vec::new();
        while let Some(node) = self.nodes.get(id) {
            names.push(node);
            // The index of a parent is lower, so the loop ends.
            match node.parent.filter(|parent| *parent < id) {
                Some(parent) => id = parent,
                None => break,
            }
        }
        let mut path = String::new();
        for node in names.iter().rev() {
            // Writing to a string does not fail.
            let _ = match &node.name {
                Name::Root => write!(path, "{}", node.type_name),
                Name::Field(name) => write!(path, ".{name}"),
                Name::Index(index) => write!(path, "[{index}]"),
                Name::Payload | Name::Target => Ok(()),
            };
        }
        path
    }

    /// Returns the children of a node.
    pub(super) fn children(&self, node: &Node) -> impl Iterator<Item = &Node> {
        node.children.iter().filter_map(|id| self.nodes.get(*id))
    }

    /// Returns the only child of a node.
    pub(super) fn child(&self, node: &Node) -> Option<&Node> {
        self.children(node).next()
    }
}
