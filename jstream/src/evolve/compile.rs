//! Simplification of a plan's nodes, before it is used.

use super::layout::{Layout, NoneForm};
use super::leaf::{CopyOption, Leaf, LeafStep};
use super::plan::{
    Action, Becomes, FieldStep, Graph, NodeId, OptionNode, PlanNode, Target, TargetId,
};

/// Maximum number of steps of a struct into which the steps of its parts are moved.
const MAX_STEPS: usize = 128;

/// Maximum number of steps that are moved in a plan, each of which takes memory in every whole that
/// it is moved into.
const MAX_MOVED: usize = 1 << 16;

/// Size of a slice's pointer in bytes.
const WIDE_POINTER: usize = 16;

/// Maximum number of pointers between two copies that become one.
const MAX_GAP: usize = 4;

/// Calls `visit` for each node that a node refers to. The second argument is the index of the
/// variant, if only values of that variant need the node.
pub(super) fn children(
    node: &PlanNode,
    targets: &[Target],
    visit: &mut dyn FnMut(NodeId, Option<usize>),
) {
    match node {
        PlanNode::Struct(steps) => {
            for edge in steps {
                match edge.action {
                    Action::Convert(part) => visit(part, None),
                    Action::Unwrap(option) => visit(option.payload, None),
                    Action::Leaf(_) | Action::Default(_) => {}
                }
            }
        }
        PlanNode::Enum(of) => {
            for (index, variant) in of.variants.iter().enumerate() {
                if let Becomes::Variant { fields, .. } = variant.becomes {
                    visit(fields, Some(index));
                }
            }
        }
        PlanNode::Option(option) => visit(option.payload, None),
        PlanNode::Some { payload, .. } => visit(*payload, None),
        PlanNode::Outcome(outcome) => {
            visit(outcome.ok, None);
            visit(outcome.err, None);
        }
        PlanNode::Array { element, .. } => visit(*element, None),
        PlanNode::Spread { target, .. } | PlanNode::Pointer { target, .. } => {
            if let Some(target) = targets.get(target.0 as usize) {
                visit(target.node, None);
            }
        }
        PlanNode::Shared { pointer, .. } => visit(*pointer, None),
        PlanNode::Copy { .. }
        | PlanNode::Record(_)
        | PlanNode::Widen { .. }
        | PlanNode::WidenAll { .. }
        | PlanNode::Narrow { .. }
        | PlanNode::Text
        | PlanNode::Object { .. }
        | PlanNode::Refused { .. } => {}
    }
}

/// Makes variants without a conversion known, and simplifies the nodes. `sizes` are those of the
/// old and the new slot of each node. The root has a conversion.
pub(super) fn compile(graph: &mut Graph, sizes: &[(usize, usize)], refused: &[(NodeId, usize)]) {
    refuse(graph, refused);
    let mut left = MAX_MOVED;
    // The nodes of parts precede the nodes of the whole.
    for index in 0..graph.nodes.len() {
        let sizes = sizes.get(index).copied().unwrap_or_default();
        let simpler = simplify(graph, index, sizes, &mut left);
        if let (Some(simpler), Some(place)) = (simpler, graph.nodes.get_mut(index)) {
            *place = simpler;
        }
    }
    specialize(graph, sizes);
}

/// Replaces steps of structs by leaves, and joins copies across gaps. The nodes of all targets are
/// known by now.
fn specialize(graph: &mut Graph, sizes: &[(usize, usize)]) {
    for index in 0..graph.nodes.len() {
        let Some(PlanNode::Struct(steps)) = graph.nodes.get_mut(index) else {
            continue;
        };
        let steps = std::mem::take(steps).into_vec();
        let steps = steps
            .into_iter()
            .filter_map(|edge| specialized(graph, edge));
        let steps = join_across_gaps(graph, steps.collect());
        let leaf = |edge: &FieldStep| match edge.action {
            Action::Leaf(leaf) => Some(LeafStep {
                from: edge.from,
                to: edge.to,
                leaf,
            }),
            _ => None,
        };
        let leaves: Option<Box<[LeafStep]>> = steps.iter().map(leaf).collect();
        let node = match leaves {
            Some(leaves) => {
                let sizes = sizes.get(index).copied().unwrap_or_default();
                numbers(&leaves, sizes).unwrap_or(PlanNode::Record(leaves))
            }
            None => PlanNode::Struct(steps),
        };
        if let Some(place) = graph.nodes.get_mut(index) {
            *place = node;
        }
    }
}

/// Returns the node of a struct that consists of numbers of one type, which an array of such
/// structs then is, too.
fn numbers(leaves: &[LeafStep], (from_size, to_size): (usize, usize)) -> Option<PlanNode> {
    let Leaf::Widen { from, to } = leaves.first()?.leaf else {
        return None;
    };
    let mut leaves: Vec<&LeafStep> = leaves.iter().collect();
    leaves.sort_unstable_by_key(|edge| edge.to);
    let is_adjacent = leaves.iter().enumerate().all(|(index, edge)| {
        let places = (index.checked_mul(from.size), index.checked_mul(to.size));
        let is_same = matches!(edge.leaf, Leaf::Widen { from: old, to: new }
            if (old, new) == (from, to));
        is_same && places == (Some(edge.from), Some(edge.to))
    });
    let count = leaves.len();
    let lengths = (count.checked_mul(from.size), count.checked_mul(to.size));
    let is_whole = lengths == (Some(from_size), Some(to_size));
    (is_adjacent && is_whole).then_some(PlanNode::WidenAll { from, to, count })
}

/// Returns the step that does the same without another node, if there is one, or nothing if the
/// step writes only zeroes, which the new slot holds already.
fn specialized(graph: &Graph, edge: FieldStep) -> Option<FieldStep> {
    let node_of = |id: NodeId| graph.nodes.get(id.0 as usize);
    let leaf = match edge.action {
        Action::Convert(part) => match node_of(part) {
            Some(PlanNode::Pointer { target, many: true }) => {
                copied_layout(graph, *target).map(|layout| Leaf::FlatSlice {
                    size: layout.size,
                    align: layout.align,
                })
            }
            Some(PlanNode::Option(option)) => match node_of(option.payload) {
                Some(PlanNode::Copy { len }) => Some(Leaf::Option(CopyOption {
                    from: option.from,
                    of: option.of,
                    to: option.to,
                    len: *len,
                })),
                _ => None,
            },
            Some(PlanNode::Widen { from, to }) => Some(Leaf::Widen {
                from: *from,
                to: *to,
            }),
            _ => None,
        },
        Action::Default(default) if is_zero(graph, default) => return None,
        _ => None,
    };
    let action = leaf.map_or(edge.action, Action::Leaf);
    Some(FieldStep { action, ..edge })
}

/// Returns the layout of a target that holds no pointers and is copied.
fn copied_layout(graph: &Graph, target: TargetId) -> Option<Layout> {
    let target = graph.targets.get(target.0 as usize)?;
    let (old, new) = (target.from_layout.size, target.to_layout.size);
    let node = graph.nodes.get(target.node.0 as usize);
    let is_copied = target.to_layout.flat
        && matches!(node, Some(PlanNode::Copy { len }) if (*len, *len) == (old, new));
    is_copied.then_some(target.to_layout)
}

/// Returns true if a default is a value without pointers whose bytes are 0.
fn is_zero(graph: &Graph, default: usize) -> bool {
    let Some(default) = graph.defaults.get(default) else {
        return false;
    };
    let root = default.plan.target(default.plan.root);
    let len = match root.map(|root| default.plan.node(root.node)) {
        Some(PlanNode::Copy { len }) => *len,
        _ => return false,
    };
    let at = default.scanned.shared.first().map_or(0, |root| root.at);
    let bytes = default.source().bytes(at, len);
    bytes.is_ok_and(|bytes| bytes.iter().all(|byte| *byte == 0))
}

/// Propagates the lack of a conversion from parts to their wholes, up to variants.
fn refuse(graph: &mut Graph, refused: &[(NodeId, usize)]) {
    if refused.is_empty() {
        return;
    }
    let mut parents: Vec<Vec<(NodeId, Option<usize>)>> = vec![Vec::new(); graph.nodes.len()];
    for (index, node) in (0u32..).zip(&graph.nodes) {
        children(node, &graph.targets, &mut |child, variant| {
            if let Some(parents) = parents.get_mut(child.0 as usize) {
                parents.push((NodeId(index), variant));
            }
        });
    }
    let mut stack = refused.to_vec();
    while let Some((node, finding)) = stack.pop() {
        for (parent, variant) in parents.get(node.0 as usize).into_iter().flatten() {
            let Some(place) = graph.nodes.get_mut(parent.0 as usize) else {
                continue;
            };
            match (place, variant) {
                (PlanNode::Enum(of), Some(variant)) => {
                    if let Some(variant) = of.variants.get_mut(*variant) {
                        variant.becomes = Becomes::Refused { finding };
                    }
                }
                (PlanNode::Refused { .. }, _) => {}
                (place, _) => {
                    *place = PlanNode::Refused { finding };
                    stack.push((*parent, finding));
                }
            }
        }
    }
}

/// Returns a simpler node that does the same, if there is one. `left` is the number of steps that
/// may still be moved.
fn simplify(
    graph: &Graph,
    index: usize,
    (from_size, to_size): (usize, usize),
    left: &mut usize,
) -> Option<PlanNode> {
    let node_of = |id: NodeId| graph.nodes.get(id.0 as usize);
    let copied = |id: NodeId| match node_of(id) {
        Some(PlanNode::Copy { len }) => Some(*len),
        _ => None,
    };
    match graph.nodes.get(index)? {
        PlanNode::Struct(steps) => {
            let steps = flatten(steps, &node_of, left);
            match &*steps {
                [] => Some(PlanNode::Copy { len: 0 }).filter(|_| to_size == 0),
                [
                    FieldStep {
                        from: 0,
                        to: 0,
                        action: Action::Leaf(Leaf::Copy { len }),
                    },
                ] if (*len, *len) == (from_size, to_size) => Some(PlanNode::Copy { len: *len }),
                _ => None,
            }
            .or(Some(PlanNode::Struct(steps)))
        }
        // All bytes of such an option belong to its value.
        PlanNode::Option(OptionNode {
            from: from @ (NoneForm::Zero | NoneForm::Byte(_)),
            to,
            payload,
            ..
        }) if from == to && from_size == to_size => {
            let len = copied(*payload)?;
            (len == to_size).then_some(PlanNode::Copy { len })
        }
        PlanNode::Array { element, len, .. } => {
            let element = copied(*element)?;
            let whole = element.checked_mul(*len)?;
            ((whole, whole) == (from_size, to_size)).then_some(PlanNode::Copy { len: whole })
        }
        PlanNode::Enum(of) => {
            let is_all_tag = (of.from_tag, of.to_tag) == ((0, from_size), (0, to_size));
            let is_same = from_size == to_size
                && of.variants.iter().all(|variant| match variant.becomes {
                    Becomes::Variant { tag, fields } => {
                        tag == variant.from && has_no_content(node_of(fields))
                    }
                    Becomes::Unknown | Becomes::Refused { .. } => false,
                });
            (is_all_tag && is_same).then_some(PlanNode::Copy { len: to_size })
        }
        _ => None,
    }
}

/// Returns true if the fields of a variant have no bytes.
fn has_no_content(fields: Option<&PlanNode>) -> bool {
    match fields {
        Some(PlanNode::Struct(steps)) => steps.is_empty(),
        Some(PlanNode::Copy { len }) => *len == 0,
        _ => false,
    }
}

/// Moves the steps of parts into the whole, and joins copies of adjacent bytes. Copies precede
/// other steps, whose order stays.
fn flatten<'n>(
    steps: &[FieldStep],
    node_of: &dyn Fn(NodeId) -> Option<&'n PlanNode>,
    left: &mut usize,
) -> Box<[FieldStep]> {
    let mut copies = Vec::new();
    let mut others = Vec::new();
    let mut push = |edge: FieldStep| match edge.action {
        Action::Leaf(Leaf::Copy { len: 0 }) => {}
        Action::Leaf(Leaf::Copy { len }) => copies.push((edge.to, edge.from, len)),
        _ => others.push(edge),
    };
    let mut room = MAX_STEPS.saturating_sub(steps.len());
    for edge in steps {
        let Action::Convert(part) = edge.action else {
            push(*edge);
            continue;
        };
        match node_of(part) {
            Some(PlanNode::Text) => push(FieldStep {
                action: Action::Leaf(Leaf::Text),
                ..*edge
            }),
            Some(PlanNode::Copy { len }) => push(FieldStep {
                action: Action::Leaf(Leaf::Copy { len: *len }),
                ..*edge
            }),
            Some(PlanNode::Struct(inner)) if inner.len() <= room.min(*left) => {
                room = room.saturating_sub(inner.len());
                *left = left.saturating_sub(inner.len());
                for part in inner {
                    push(FieldStep {
                        from: edge.from.saturating_add(part.from),
                        to: edge.to.saturating_add(part.to),
                        action: part.action,
                    });
                }
            }
            _ => push(*edge),
        }
    }
    copies.sort_unstable();
    let mut joined: Vec<(usize, usize, usize)> = Vec::new();
    for (to, from, len) in copies {
        match joined.last_mut() {
            Some((last_to, last_from, last_len))
                if (
                    last_to.checked_add(*last_len),
                    last_from.checked_add(*last_len),
                ) == (Some(to), Some(from)) =>
            {
                *last_len = last_len.saturating_add(len);
            }
            _ => joined.push((to, from, len)),
        }
    }
    let copies = joined.into_iter().map(|(to, from, len)| FieldStep {
        from,
        to,
        action: Action::Leaf(Leaf::Copy { len }),
    });
    copies.chain(others).collect()
}

/// Joins copies whose gap is as long in the old slot as in the new one, and consists of pointers
/// that later steps write.
fn join_across_gaps(graph: &Graph, steps: Vec<FieldStep>) -> Box<[FieldStep]> {
    // Copies precede other steps, ordered by their new place.
    let (copies, others): (Vec<_>, Vec<_>) = steps
        .into_iter()
        .partition(|edge| matches!(edge.action, Action::Leaf(Leaf::Copy { .. })));
    let written = |at: usize| {
        let edge = others.iter().find(|edge| edge.to == at);
        edge.is_some_and(|edge| match edge.action {
            Action::Leaf(Leaf::Text | Leaf::FlatSlice { .. }) => true,
            Action::Convert(part) => matches!(
                graph.nodes.get(part.0 as usize),
                Some(PlanNode::Pointer { many: true, .. })
            ),
            _ => false,
        })
    };
    let mut joined: Vec<FieldStep> = Vec::new();
    for edge in copies {
        if let (Some(last), Action::Leaf(Leaf::Copy { len })) = (joined.last_mut(), edge.action) {
            if let Action::Leaf(Leaf::Copy { len: last_len }) = &mut last.action {
                let end = last.to.saturating_add(*last_len);
                let distance = edge.to.saturating_sub(last.to);
                let is_same = last.from.checked_add(distance) == Some(edge.from);
                let mut gap = (end..edge.to).step_by(WIDE_POINTER);
                let is_whole = edge.to.saturating_sub(end).checked_rem(WIDE_POINTER) == Some(0);
                if is_same && is_whole && gap.len() <= MAX_GAP && gap.all(written) {
                    *last_len = distance.saturating_add(len);
                    continue;
                }
            }
        }
        joined.push(edge);
    }
    joined.into_iter().chain(others).collect()
}
