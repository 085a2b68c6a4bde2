//! The values of a message, and how they hang together.

use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use super::{Catalog, Options};
use crate::schema::TypeIndex;
use crate::walk::{Code, Fault, Found, Header, Leaf, Meaning, Plan, Step, Visitor, decode, walk};

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
    depth: usize,
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
    let builder = Builder {
        message: bytes,
        options,
        nodes: Vec::new(),
        hidden: 0,
        open: Vec::new(),
        run: 0,
        holders: vec![None],
        numbers: vec![Some(0)],
    };
    let classes = |class| catalog.plan(class).map(Rc::clone);
    let (builder, walked) = walk(bytes, plan, &classes, builder);
    found.hidden = builder.hidden;
    found.nodes = builder.finished();
    found.fault = walked.err();
    found
}

/// Keeps what a walk meets.
struct Builder<'m> {
    message: &'m [u8],
    options: &'m Options,
    nodes: Vec<Node>,
    hidden: usize,
    /// The values that are being walked, each in the one before; those that are not kept are `None`.
    open: Vec<Option<usize>>,
    /// The run that is being walked, and the pointers to all runs.
    run: usize,
    holders: Vec<Option<usize>>,
    /// The first pointer to each shared target.
    numbers: Vec<Option<usize>>,
}

/// However deep one wants to look: the rest of the program may recurse.
const DEEPEST: usize = 500;

impl Builder<'_> {
    /// The value that holds or points to what comes next.
    fn parent(&self) -> Option<usize> {
        match self.open.last() {
            Some(open) => *open,
            None => self.holders.get(self.run).copied().flatten(),
        }
    }

    fn node(&mut self) -> Option<&mut Node> {
        let id = self.open.last().copied().flatten()?;
        self.nodes.get_mut(id)
    }

    fn note_number(&mut self, number: Option<u32>) {
        if number.is_some() {
            // They come in order.
            self.numbers.push(self.open.last().copied().flatten());
        }
    }

    fn finished(mut self) -> Vec<Node> {
        for node in &mut self.nodes {
            if let Some(Value::Array(count) | Value::Pointer { count, .. }) = node.value {
                node.hidden = count.saturating_sub(node.children.len());
            }
        }
        self.nodes
    }

    /// A string, as far as it is to be shown.
    fn text(&self, at: &Range<usize>) -> String {
        let bytes = self.message.get(at.clone()).unwrap_or_default();
        let Some(shown) = bytes.get(..self.options.text) else {
            return String::from_utf8_lossy(bytes).into_owned();
        };
        // A character may be cut.
        let whole = match std::str::from_utf8(shown) {
            Err(cut) => shown.get(..cut.valid_up_to()).unwrap_or_default(),
            Ok(_) => shown,
        };
        String::from_utf8_lossy(whole).into_owned()
    }
}

impl Visitor for Builder<'_> {
    const CHECKS: bool = true;

    fn wants(&mut self, index: usize) -> bool {
        index < self.options.elements && self.node().is_some()
    }

    fn mark(&mut self, at: Range<usize>, meaning: Meaning) {
        if let Some(node) = self.node() {
            node.marks.push(Mark { at, meaning });
        }
    }

    fn open(&mut self, step: Step<'_>, plan: &Plan, of: TypeIndex, at: Range<usize>) {
        let parent = self.parent();
        let depth = parent.and_then(|parent| self.nodes.get(parent));
        let depth = depth.map_or(0, |parent| parent.depth.saturating_add(1));
        let is_wanted = match step {
            Step::Root => true,
            Step::Index(index) => parent.is_some() && index < self.options.elements,
            _ => parent.is_some(),
        };
        let deepest = self.options.depth.min(DEEPEST);
        let id = self.nodes.len();
        if !is_wanted || depth > deepest || (id > 0 && id >= self.options.values) {
            self.hidden = self.hidden.saturating_add(1);
            if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
                parent.hidden = parent.hidden.saturating_add(1);
            }
            self.open.push(None);
            return;
        }
        let name = match step {
            Step::Root => Name::Root,
            Step::Field(name) => Name::Field(name.to_owned()),
            Step::Index(index) => Name::Index(index),
            Step::Payload => Name::Payload,
            Step::Target => Name::Target,
        };
        self.nodes.push(Node {
            id,
            parent,
            name,
            type_name: plan.spelling(of),
            at,
            marks: Vec::new(),
            value: None,
            children: Vec::new(),
            hidden: 0,
            depth,
        });
        if let Some(parent) = parent.and_then(|parent| self.nodes.get_mut(parent)) {
            parent.children.push(id);
        }
        self.open.push(Some(id));
    }

    fn found(&mut self, found: Found<'_>) {
        let value = match found {
            Found::Leaf => {
                let message = self.message;
                let Some(node) = self.node() else {
                    return;
                };
                let bytes = message.get(node.at.clone()).unwrap_or_default();
                decode(&node.type_name, bytes).map(Value::Leaf)
            }
            Found::Struct => Some(Value::Struct),
            Found::Variant(of) => Some(Value::Variant {
                name: of.name.clone().into_owned(),
                discriminant: of.discriminant,
            }),
            Found::None => Some(Value::None),
            Found::Some => Some(Value::Some),
            Found::Ok => Some(Value::Ok),
            Found::Err => Some(Value::Err),
            Found::Array(len) => Some(Value::Array(len)),
            Found::Around => Some(Value::Around),
            Found::Text(at, number) => {
                self.note_number(number);
                Some(Value::Text {
                    at: at.clone(),
                    text: self.text(at),
                    number,
                })
            }
            Found::Target {
                at,
                count,
                many,
                run,
                number,
            } => {
                self.note_number(number);
                if run.is_some() {
                    // They come in order too.
                    self.holders.push(self.open.last().copied().flatten());
                }
                Some(Value::Pointer {
                    to: at,
                    count,
                    many,
                    number,
                })
            }
            Found::Again(number) => Some(Value::Again {
                number,
                first: self.numbers.get(number as usize).copied().flatten(),
            }),
        };
        if let Some(node) = self.node() {
            node.value = value;
        }
    }

    fn close(&mut self) {
        self.open.pop();
    }

    fn run(&mut self, run: usize) {
        self.run = run;
    }
}
