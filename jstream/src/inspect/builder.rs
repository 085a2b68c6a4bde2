//! Inspection of a message: a visitor collects the tree of its values, within the limits of
//! [`Options`].

use std::ops::Range;
use std::rc::Rc;

use super::tree::{Mark, Message, Name, Node, Value};
use super::{Catalog, Options};
use crate::schema::TypeIndex;
use crate::walk::{Code, Fault, Found, Header, Meaning, Plan, Step, Visitor, decode, walk};

/// Inspects a message, which must be all of `bytes`. The schemas of its root and classes are taken
/// from the catalog.
#[must_use]
pub fn message(bytes: &[u8], catalog: &Catalog, options: &Options) -> Message {
    let mut found = Message {
        header: None,
        type_name: None,
        nodes: Vec::new(),
        hidden: 0,
        fault: None,
    };
    let header = match Header::decode(bytes) {
        Ok(header) => header,
        Err(fault) => {
            found.fault = Some(fault);
            return found;
        }
    };
    found.header = Some(header);
    let Some(plan) = catalog.plan(header.descriptor) else {
        let details = format!(
            "no schema with the descriptor {:#018x} of the message is known",
            header.descriptor
        );
        found.fault = Some(Fault::new(Code::Descriptor, 8..16, details));
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

/// Collects the values that a walk visits.
struct Builder<'m> {
    message: &'m [u8],
    options: &'m Options,
    nodes: Vec<Node>,
    hidden: usize,
    /// Stack of the values that are being walked; values that are not kept are `None`.
    open: Vec<Option<usize>>,
    /// Index of the run that is being walked, and the nodes whose pointers lead to each run.
    run: usize,
    holders: Vec<Option<usize>>,
    /// Node of the first pointer to each shared target.
    numbers: Vec<Option<usize>>,
}

/// Maximum depth regardless of the options, since other parts of the program may recurse over the
/// tree.
const DEEPEST: usize = 500;

impl<'m> Builder<'m> {
    fn new(message: &'m [u8], options: &'m Options) -> Self {
        Self {
            message,
            options,
            nodes: Vec::new(),
            hidden: 0,
            open: Vec::new(),
            run: 0,
            holders: vec![None],
            // The root has number 0.
            numbers: vec![Some(0)],
        }
    }

    /// Returns the node that holds the next value or points to it.
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
            // Numbers are assigned in ascending order.
            self.numbers.push(self.open.last().copied().flatten());
        }
    }

    /// Returns the collected nodes, after computing how many children of each were left out.
    fn finished(mut self) -> Vec<Node> {
        for node in &mut self.nodes {
            if let Some(Value::Array(count) | Value::Pointer { count, .. }) = node.value {
                node.hidden = count.saturating_sub(node.children.len());
            }
        }
        self.nodes
    }

    /// Returns a string, truncated to the limit of the options.
    fn text(&self, at: &Range<usize>) -> String {
        let bytes = self.message.get(at.clone()).unwrap_or_default();
        let Some(shown) = bytes.get(..self.options.text) else {
            return String::from_utf8_lossy(bytes).into_owned();
        };
        // The limit may fall inside a character.
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
                    // Runs are numbered in ascending order, too.
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
