//! Case `list`: a linked list, as deep as it is long.

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
    next: Option<Box<Node>>,
}

impl Walk for Node {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(node) = next {
            sum = sum.wrapping_add(node.value);
            next = node.next.as_deref();
        }
        sum
    }
}

impl Walk for NodeRef<'_> {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(node) = next {
            sum = sum.wrapping_add(node.value);
            next = node.next;
        }
        sum
    }
}

impl Walk for ArchivedNode {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(node) = next {
            sum = sum.wrapping_add(node.value.to_native());
            next = node.next.as_deref();
        }
        sum
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(2);
    // The nodes lie in memory as an allocator places them when they are created one after another.
    let list = (1..size).fold(None, |next, _| {
        let value = numbers.next();
        Some(Box::new(Node { value, next }))
    });
    let value = numbers.next();
    let list = forever(Node { value, next: list });
    let about = format!("a linked list of {} nodes: u64, next", number(size as f64));
    Case::new(about, list)
}
