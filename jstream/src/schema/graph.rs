//! The graph of types reachable from a root, in canonical order.

use std::collections::HashMap;

use super::Schema;
use super::classes::classes;
use super::codec::checksum;
use super::kind::{TypeInfo, UNKNOWN};
use super::link::{Link, TypeIndex};

/// The types reachable from a root, in breadth-first order from the root. Equal structures occur
/// once.
pub(super) struct Graph<'s> {
    pub(super) nodes: Vec<Node<'s>>,
    /// The types of the schema that the walk met, in its order, each with the index of its node.
    pub(super) places: Vec<(usize, usize)>,
}

/// A type of a graph.
pub(super) struct Node<'s> {
    pub(super) info: &'s TypeInfo,
    pub(super) links: Vec<Link<'s>>,
}

impl<'s> Graph<'s> {
    pub(super) fn new(schema: &'s Schema, root: TypeIndex) -> Self {
        // One extra entry stands for all types that are not in the schema.
        let unknown = schema.types.len();
        let place_of = |of: TypeIndex| unknown.min(of.index());
        let mut walk = Numbering::new(unknown.saturating_add(1));
        walk.number(place_of(root));
        let mut nodes = Vec::new();
        let mut labels = Labels::default();
        while let Some(&place) = walk.met.get(nodes.len()) {
            let info = schema.types.get(place).and_then(Option::as_ref);
            let info = info.unwrap_or(&UNKNOWN);
            let mut links = Vec::new();
            labels.add(|label| {
                info.put(label, &mut |step, of| {
                    let to = walk.number(place_of(of));
                    links.push(Link { step, to });
                    0
                });
            });
            nodes.push(Node { info, links });
        }
        let mut numbers: Vec<usize> = (0..nodes.len()).collect();
        let (labels, different) = labels.numbers();
        if different < nodes.len() {
            (nodes, numbers) = merged(&nodes, labels);
        }
        Self {
            nodes,
            places: walk.met.into_iter().zip(numbers).collect(),
        }
    }
}

/// Merges equal structures. Returns the new nodes, and the number of each node among them.
fn merged<'s>(nodes: &[Node<'s>], labels: Vec<usize>) -> (Vec<Node<'s>>, Vec<usize>) {
    let links = nodes
        .iter()
        .map(|node| node.links.iter().map(|link| link.to).collect());
    let class_of = classes(labels, &links.collect::<Vec<_>>());
    let mut first = HashMap::new();
    for (node, class) in nodes.iter().zip(&class_of) {
        first.entry(*class).or_insert(node);
    }
    let mut walk = Numbering::new(nodes.len());
    if let Some(root) = class_of.first() {
        walk.number(*root);
    }
    let mut merged = Vec::new();
    while let Some(node) = walk
        .met
        .get(merged.len())
        .and_then(|class| first.get(class))
    {
        let links = node.links.iter().map(|link| Link {
            step: link.step,
            to: walk.number(class_of.get(link.to).copied().unwrap_or_default()),
        });
        merged.push(Node {
            info: node.info,
            links: links.collect(),
        });
    }
    let numbers = class_of.iter().map(|class| walk.number(*class)).collect();
    (merged, numbers)
}

/// Assigns numbers in the order of discovery.
struct Numbering {
    numbers: Vec<Option<usize>>,
    met: Vec<usize>,
}

impl Numbering {
    fn new(places: usize) -> Self {
        Self {
            numbers: vec![None; places],
            met: Vec::new(),
        }
    }

    fn number(&mut self, place: usize) -> usize {
        let next = self.met.len();
        match self.numbers.get_mut(place) {
            Some(Some(number)) => *number,
            Some(new) => {
                *new = Some(next);
                self.met.push(place);
                next
            }
            None => 0,
        }
    }
}

/// Labels of nodes. Nodes have equal labels if they are equal apart from their links.
#[derive(Default)]
struct Labels {
    /// The labels, one after the other, and the end of each.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Labels {
    fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
    }

    /// Returns a number for each label, equal ones for equal labels, and the number of different
    /// labels.
    fn numbers(&self) -> (Vec<usize>, usize) {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let labels = starts.zip(&self.ends).map(|(start, end)| {
            let label = self.bytes.get(start..*end).unwrap_or_default();
            (checksum(label), label)
        });
        // Sorted and not hashed, because peers choose the labels.
        let mut sorted: Vec<_> = labels.zip(0usize..).collect();
        sorted.sort_unstable();
        let mut numbers = vec![0; sorted.len()];
        let mut count = 0usize;
        for equal in sorted.chunk_by(|(one, _), (other, _)| one == other) {
            for (_, node) in equal {
                if let Some(number) = numbers.get_mut(*node) {
                    *number = count;
                }
            }
            count = count.saturating_add(1);
        }
        (numbers, count)
    }
}
