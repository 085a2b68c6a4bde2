//! Case `tree`: a balanced binary tree.

use jstream::Transportable;

use super::{Case, Numbers, forever};
use crate::Failure;
use crate::suites::serialization::walk::Walk;
use crate::table::number;

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
#[rkyv(serialize_bounds(
    __S: rkyv::ser::Writer + rkyv::ser::Allocator,
    __S::Error: rkyv::rancor::Source,
))]
#[rkyv(bytecheck(bounds(
    __C: rkyv::validation::ArchiveContext,
    __C::Error: rkyv::rancor::Source,
)))]
struct Node {
    value: u64,
    #[rkyv(omit_bounds)]
    left: Option<Box<Node>>,
    #[rkyv(omit_bounds)]
    right: Option<Box<Node>>,
}

impl Walk for Node {
    fn walk(&self) -> u64 {
        let below = |node: &Option<Box<Self>>| node.as_deref().map_or(0, Self::walk);
        let left = below(&self.left);
        self.value
            .wrapping_add(left)
            .wrapping_add(below(&self.right))
    }
}

impl Walk for NodeRef<'_> {
    fn walk(&self) -> u64 {
        let below = |node: Option<&Self>| node.map_or(0, Self::walk);
        let left = below(self.left);
        self.value
            .wrapping_add(left)
            .wrapping_add(below(self.right))
    }
}

impl Walk for ArchivedNode {
    fn walk(&self) -> u64 {
        let below = |node: Option<&Self>| node.map_or(0, Self::walk);
        let left = below(self.left.as_deref());
        let value = self.value.to_native();
        value
            .wrapping_add(left)
            .wrapping_add(below(self.right.as_deref()))
    }
}

/// Returns a tree of the values, or `None` if there are none.
fn tree(values: &[u64]) -> Option<Box<Node>> {
    let (&value, rest) = values.split_first()?;
    let (left, right) = rest.split_at(rest.len() / 2);
    let (left, right) = (tree(left), tree(right));
    Some(Box::new(Node { value, left, right }))
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(3);
    let values: Vec<u64> = (0..size).map(|_| numbers.next()).collect();
    let tree = tree(&values).ok_or("a tree has at least one node")?;
    let about = format!(
        "a binary tree of {} nodes: u64, left, right",
        number(size as f64)
    );
    Case::new(about, forever(*tree))
}
