//! The case `tree`: a balanced binary tree.

use jstream::Transportable;

use super::with_rkyv::ArchivedOf;
use super::{Case, Data, Numbers, forever};
use crate::table::number;

#[derive(Transportable)]
pub(super) struct Node<'b> {
    value: u64,
    left: Option<&'b Node<'b>>,
    right: Option<&'b Node<'b>>,
}

#[derive(rkyv::Archive, rkyv::Serialize)]
#[rkyv(serialize_bounds(
    __S: rkyv::ser::Writer + rkyv::ser::Allocator,
    __S::Error: rkyv::rancor::Source,
))]
#[rkyv(bytecheck(bounds(
    __C: rkyv::validation::ArchiveContext,
    __C::Error: rkyv::rancor::Source,
)))]
pub(super) struct OwnedNode {
    value: u64,
    #[rkyv(omit_bounds)]
    left: Option<Box<OwnedNode>>,
    #[rkyv(omit_bounds)]
    right: Option<Box<OwnedNode>>,
}

pub(super) struct Tree;

impl Case for Tree {
    const NAME: &'static str = "tree";
    const SIZE: usize = (1 << 14) - 1;
    type Graph = Node<'static>;
    type Owned = OwnedNode;

    fn about() -> String {
        format!(
            "a binary tree of {} nodes: u64, left, right",
            number(Self::SIZE as f64)
        )
    }

    fn data(size: usize) -> Data<Self> {
        let mut numbers = Numbers(3);
        let values: Vec<u64> = (0..size.max(1)).map(|_| numbers.next()).collect();
        let (Some(graph), Some(owned)) = (graph(&values), owned(&values)) else {
            unreachable!("there is at least one value")
        };
        Data {
            graph,
            owned: Box::leak(owned),
            sum: values.iter().fold(0, |sum, value| sum.wrapping_add(*value)),
        }
    }

    fn sum_graph<'b>(graph: &'b Node<'b>) -> u64 {
        fn add(node: Option<&Node<'_>>) -> u64 {
            node.map_or(0, |node| {
                node.value
                    .wrapping_add(add(node.left))
                    .wrapping_add(add(node.right))
            })
        }
        add(Some(graph))
    }

    fn sum_archived(archived: &ArchivedOf<OwnedNode>) -> u64 {
        fn add(node: Option<&ArchivedOwnedNode>) -> u64 {
            node.map_or(0, |node| {
                let value = node.value.to_native();
                let left = add(node.left.as_deref());
                value
                    .wrapping_add(left)
                    .wrapping_add(add(node.right.as_deref()))
            })
        }
        add(Some(archived))
    }
}

/// The root's value, and those of its left and its right tree.
fn split(values: &[u64]) -> Option<(u64, &[u64], &[u64])> {
    let (value, rest) = values.split_first()?;
    let (left, right) = rest.split_at(rest.len() / 2);
    Some((*value, left, right))
}

/// Both trees are made in one order, so that they lie in memory alike.
fn graph(values: &[u64]) -> Option<&'static Node<'static>> {
    let (value, left, right) = split(values)?;
    let (left, right) = (graph(left), graph(right));
    Some(forever(Node { value, left, right }))
}

fn owned(values: &[u64]) -> Option<Box<OwnedNode>> {
    let (value, left, right) = split(values)?;
    let (left, right) = (owned(left), owned(right));
    Some(Box::new(OwnedNode { value, left, right }))
}
