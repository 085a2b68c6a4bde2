//! The values of a message, and how they hang together.

use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use super::builder::Builder;
use super::{Catalog, Options};
use crate::walk::{Code, Fault, Header, Leaf, Meaning, walk};

/// What was found in a message.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Message {
    /// Its header, if it has one.
    pub header: Option<Header>,
    /// The name of the root's type, if its schema is known.
    pub type_name: Option<Rc<str>>,
    /// Its values, the root first, each behind the one that holds it or points to it.
    pub nodes: Vec<Node>,
    /// How many values were not kept, as far as they were looked at.
    pub hidden: usize,
    /// What is wrong with it.
    pub fault: Option<Fault>,
}

/// A value.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Node {
    /// Its place among the nodes.
    pub id: usize,
    /// The value that holds it or points to it.
    pub parent: Option<usize>,
    /// What it is called there.
    pub name: Name,
    /// Its type, as Rust spells it.
    pub type_name: Rc<str>,
    /// Its bytes, from the message's start.
    pub at: Range<usize>,
    /// What its own bytes mean, those of its parts aside.
    pub marks: Vec<Mark>,
    /// What it is; `None` if a fault kept it from being known.
    pub value: Option<Value>,
    /// Its parts, or what it points to.
    pub children: Vec<usize>,
    /// How many more there are.
    pub hidden: usize,
    pub(super) depth: usize,
}

/// Some bytes of a value that mean one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mark {
    /// Where they stand, from the message's start.
    pub at: Range<usize>,
    /// What they mean.
    pub meaning: Meaning,
}

/// What a value is called where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Name {
    /// The root of a message.
    Root,
    /// A field.
    Field(String),
    /// An element.
    Index(usize),
    /// What is there of an option or result, in a cell, or in a shared pointer.
    Payload,
    /// What a reference points to.
    Target,
}

/// What a value is.
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
        /// Its tag.
        discriminant: i128,
    },
    /// Nothing: of an option, or in a cell.
    None,
    /// Something, the only child.
    Some,
    /// `Ok` of the only child.
    Ok,
    /// `Err` of the only child.
    Err,
    /// So many elements, the children.
    Array(usize),
    /// What is around the only child: a cell, or a pointer that says it is shared.
    Around,
    /// A string.
    Text {
        /// Where its bytes stand, from the message's start.
        at: Range<usize>,
        /// It, as far as [`Options::text`].
        text: String,
        /// Its number, if it is shared.
        number: Option<u32>,
    },
    /// A pointer to the children.
    Pointer {
        /// Where they stand, from the message's start.
        to: usize,
        /// How many there are.
        count: usize,
        /// Whether they are those of a slice.
        many: bool,
        /// The number of the target, if it is shared.
        number: Option<u32>,
    },
    /// A further pointer to a shared target.
    Again {
        /// The target's number.
        number: u32,
        /// The pointer that it was first met by, if that was kept, or the root for number 0.
        first: Option<usize>,
    },
}

impl Message {
    /// The fields that lead to a value, from the root: `Order.legs[3].side`.
    #[must_use]
    pub fn path(&self, mut id: usize) -> String {
        let mut names = Vec::new();
        while let Some(node) = self.nodes.get(id) {
            names.push(node);
            // A node stands behind its parent.
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

    /// The children of a node.
    pub(super) fn children(&self, node: &Node) -> impl Iterator<Item = &Node> {
        node.children.iter().filter_map(|id| self.nodes.get(*id))
    }

    /// The only child of a node.
    pub(super) fn child(&self, node: &Node) -> Option<&Node> {
        self.children(node).next()
    }
}

/// Looks at a message: all of `bytes`. Its root and classes are found in the catalog.
#[must_use]
pub fn message(bytes: &[u8], catalog: &Catalog, options: &Options) -> Message {
    let mut found = Message {
        header: None,
        type_name: None,
        nodes: Vec::new(),
        hidden: 0,
        fault: None,
    };
    let header = match Header::of(bytes) {
        Ok(header) => header,
        Err(fault) => {
            found.fault = Some(fault);
            return found;
        }
    };
    found.header = Some(header);
    let Some(plan) = catalog.plan(header.descriptor) else {
        let what = format!(
            "no schema with the descriptor {:#018x} of the message is known",
            header.descriptor
        );
        found.fault = Some(Fault::new(Code::Descriptor, 8..16, what));
        return found;
    };
    found.type_name = Some(plan.name());
    let builder = Builder::new(bytes, options);
    let classes = |class| catalog.plan(class).map(Rc::clone);
    let (builder, walked) = walk(bytes, plan, &classes, builder);
    found.hidden = builder.hidden;
    found.nodes = builder.finished();
    found.fault = walked.err();
    found
}
