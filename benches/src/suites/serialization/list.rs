//! The case `list`: a linked list, as deep as it is long.

use jstream::Transportable;

use super::with_rkyv::ArchivedOf;
use super::{Case, Data, Numbers, forever};
use crate::table::number;

#[derive(Transportable)]
pub(super) struct Node<'b> {
    value: u64,
    next: Option<&'b Node<'b>>,
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
    next: Option<Box<OwnedNode>>,
}

pub(super) struct List;

impl Case for List {
    const NAME: &'static str = "list";
    const SIZE: usize = 10_000;
    type Graph = Node<'static>;
    type Owned = OwnedNode;

    fn about() -> String {
        format!(
            "a linked list of {} nodes: u64, next",
            number(Self::SIZE as f64)
        )
    }

    fn data(size: usize) -> Data<Self> {
        let mut numbers = Numbers(2);
        let values: Vec<u64> = (0..size.max(1)).map(|_| numbers.next()).collect();
        // Both lists lie in memory as an allocator puts nodes that are made one after another.
        let mut graph = None;
        for &value in &values {
            graph = Some(forever(Node { value, next: graph }));
        }
        let mut owned = None;
        for &value in &values {
            owned = Some(Box::new(OwnedNode { value, next: owned }));
        }
        let (Some(graph), Some(owned)) = (graph, owned) else {
            unreachable!("there is at least one value")
        };
        Data {
            graph,
            owned: Box::leak(owned),
            sum: values.iter().fold(0, |sum, value| sum.wrapping_add(*value)),
        }
    }

    fn sum_graph<'b>(graph: &'b Node<'b>) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(graph);
        while let Some(node) = next {
            sum = sum.wrapping_add(node.value);
            next = node.next;
        }
        sum
    }

    fn sum_archived(archived: &ArchivedOf<OwnedNode>) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(archived);
        while let Some(node) = next {
            sum = sum.wrapping_add(node.value.to_native());
            next = node.next.as_deref();
        }
        sum
    }
}
