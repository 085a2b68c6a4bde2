//! Plans: how values of the types of one schema become values of the types of another.
//!
//! A plan is a graph of *nodes*. A node converts the slot of one type into the slot of another
//! type. *Targets* are the pairs of types behind pointers. Recursive types are finite, because a
//! pair has one node and one target.

use std::sync::Arc;

use super::finding::Compatibility;
use super::layout::{Layout, NoneForm};
use super::leaf::{Leaf, LeafStep, MessageSource};
use super::number::Number;
use super::scan::Scanned;
use super::types::Types;
use crate::schema::TypeIndex;

/// Index of a node in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct NodeId(pub(super) u32);

/// Index of a target in its plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TargetId(pub(super) u32);

/// Index of a path in a plan, for errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PathId(pub(super) u32);

/// The conversion of a slot.
#[derive(Debug)]
pub(super) enum PlanNode {
    /// A copy of the bytes.
    Copy {
        len: usize,
    },
    /// A number that the new type has.
    Widen {
        from: Number,
        to: Number,
    },
    /// Adjacent numbers that the new type has, which fill the slot.
    WidenAll {
        from: Number,
        to: Number,
        count: usize,
    },
    /// A number that the new type may lack.
    Narrow {
        from: Number,
        to: Number,
        path: PathId,
    },
    /// The fields of a struct.
    Struct(Box<[FieldStep]>),
    /// A struct whose fields need no other node.
    Record(Box<[LeafStep]>),
    Enum(Box<EnumNode>),
    Option(OptionNode),
    /// A value that becomes an option's payload.
    Some {
        to: NoneForm,
        payload: NodeId,
    },
    Outcome(OutcomeNode),
    Array {
        element: NodeId,
        len: usize,
        from_size: usize,
        to_size: usize,
    },
    /// An array that becomes the target of a slice.
    Spread {
        target: TargetId,
        len: usize,
    },
    /// A reference, or a slice if `many` is set.
    Pointer {
        target: TargetId,
        many: bool,
    },
    /// A slice of text.
    Text,
    /// A reference to an object of the trait whose name is `of_trait`.
    Object {
        path: PathId,
        of_trait: PathId,
    },
    /// A shared pointer, whose wrapped pointer is converted by `pointer`; a cell if `in_cell` is
    /// set. Pointers of one identity share their targets.
    Shared {
        pointer: NodeId,
        identity: u64,
        in_cell: bool,
    },
    /// There is no conversion; the index of the reason in the plan's findings.
    Refused {
        finding: usize,
    },
}

/// A part of a struct's conversion.
#[derive(Debug, Clone, Copy)]
pub(super) struct FieldStep {
    /// Offset of the part in the old slot.
    pub(super) from: usize,
    /// Offset of the part in the new slot.
    pub(super) to: usize,
    pub(super) action: Action,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Action {
    /// A part that needs no other node.
    Leaf(Leaf),
    Convert(NodeId),
    /// The value of the default with this index. There is no old part.
    Default(usize),
    /// The payload of an option, or a default.
    Unwrap(UnwrapOption),
}

/// The conversion of an option to its payload.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnwrapOption {
    pub(super) from: NoneForm,
    /// Type of the old option.
    pub(super) of: TypeIndex,
    pub(super) payload: NodeId,
    /// Index of the default that replaces `None`.
    pub(super) default: usize,
}

#[derive(Debug)]
pub(super) struct EnumNode {
    /// Offset and size of the old tag, and of the new one.
    pub(super) from_tag: (usize, usize),
    pub(super) to_tag: (usize, usize),
    /// The variants, ordered by the bits of the old tag.
    pub(super) variants: Vec<VariantNode>,
    /// True if the variant with tag `n` is at index `n`.
    pub(super) is_indexed: bool,
    pub(super) path: PathId,
}

#[derive(Debug)]
pub(super) struct VariantNode {
    /// The bits of the old tag.
    pub(super) from: u64,
    pub(super) name: Box<str>,
    pub(super) becomes: Becomes,
}

/// The conversion of a variant.
#[derive(Debug)]
pub(super) enum Becomes {
    /// The variant with these bits of the tag.
    Variant { tag: u64, fields: NodeId },
    /// The receiver has no such variant.
    Unknown,
    /// A field of the variant can't be converted; the index of the finding.
    Refused { finding: usize },
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OptionNode {
    pub(super) from: NoneForm,
    /// Type of the old option.
    pub(super) of: TypeIndex,
    pub(super) to: NoneForm,
    pub(super) payload: NodeId,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct OutcomeNode {
    pub(super) from: NoneForm,
    /// Type of the old result.
    pub(super) of: TypeIndex,
    pub(super) to: NoneForm,
    pub(super) ok: NodeId,
    pub(super) err: NodeId,
}

/// A pair of types behind pointers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Target {
    pub(super) node: NodeId,
    pub(super) from_layout: Layout,
    pub(super) to_layout: Layout,
}

/// The default of a field.
#[derive(Debug)]
pub(super) struct DefaultSource {
    pub(super) message: Arc<[u8]>,
    pub(super) scanned: Scanned,
    /// The plan that copies a value of the field's type.
    pub(super) plan: Arc<Plan>,
}

impl DefaultSource {
    pub(super) fn source(&self) -> MessageSource<'_> {
        MessageSource {
            bytes: &self.message,
            scanned: &self.scanned,
        }
    }
}

/// The parts of a plan that refer to one another by index.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) nodes: Vec<PlanNode>,
    pub(super) targets: Vec<Target>,
    pub(super) defaults: Vec<DefaultSource>,
    pub(super) paths: Vec<Box<str>>,
}

/// The conversion of messages of one schema to messages of another. The planner makes it.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) from: Arc<Types>,
    pub(super) to: Arc<Types>,
    /// Descriptor of the new root.
    pub(super) descriptor: u64,
    pub(super) root: TargetId,
    pub(super) graph: Graph,
    pub(super) compatibility: Compatibility,
}

impl Plan {
    /// Returns the differences of the two schemas.
    pub(crate) fn compatibility(&self) -> &Compatibility {
        &self.compatibility
    }

    pub(super) fn node(&self, id: NodeId) -> &PlanNode {
        const NOTHING: PlanNode = PlanNode::Copy { len: 0 };
        self.graph.nodes.get(id.0 as usize).unwrap_or(&NOTHING)
    }

    pub(super) fn target(&self, id: TargetId) -> Option<&Target> {
        self.graph.targets.get(id.0 as usize)
    }

    pub(super) fn path(&self, id: PathId) -> &str {
        self.graph.paths.get(id.0 as usize).map_or("", |path| path)
    }
}
