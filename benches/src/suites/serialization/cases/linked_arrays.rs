//! Cases `linked-arrays/...`: a linked list whose elements have an array each, as in figure 5.4 of
//! the thesis on jstreams. The number is the length of an array in bytes.

use jstream::Transportable;

use super::{Case, Numbers, forever};
use crate::Failure;
use crate::suites::serialization::walk::Walk;
use crate::table::number;

/// Number of elements in a list.
const ELEMENTS: usize = 16;

#[derive(Transportable, rkyv::Archive, rkyv::Serialize, serde::Serialize, serde::Deserialize)]
#[rkyv(serialize_bounds(
    __S: rkyv::ser::Writer + rkyv::ser::Allocator,
    __S::Error: rkyv::rancor::Source,
))]
#[rkyv(bytecheck(bounds(
    __C: rkyv::validation::ArchiveContext,
    __C::Error: rkyv::rancor::Source,
)))]
struct Element {
    number: i32,
    array: Vec<f64>,
    #[rkyv(omit_bounds)]
    next: Option<Box<Element>>,
}

impl Walk for Element {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(element) = next {
            let own = element.number.walk().wrapping_add(element.array.walk());
            sum = sum.wrapping_add(own);
            next = element.next.as_deref();
        }
        sum
    }
}

impl Walk for ElementRef<'_> {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(element) = next {
            let own = element.number.walk().wrapping_add(element.array.walk());
            sum = sum.wrapping_add(own);
            next = element.next;
        }
        sum
    }
}

impl Walk for ArchivedElement {
    fn walk(&self) -> u64 {
        let mut sum = 0u64;
        let mut next = Some(self);
        while let Some(element) = next {
            let own = element.number.walk().wrapping_add(element.array.walk());
            sum = sum.wrapping_add(own);
            next = element.next.as_deref();
        }
        sum
    }
}

pub(super) fn case(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(12);
    let mut element = |next| Element {
        number: numbers.below(1_000) as i32,
        array: (0..size)
            .map(|_| numbers.below(1_000_000) as f64 / 1_000.0)
            .collect(),
        next,
    };
    let last = element(None);
    let first = (1..ELEMENTS).fold(last, |next, _| element(Some(Box::new(next))));
    let value = forever(first);
    let about = format!(
        "a linked list of {ELEMENTS} elements: i32, an array of {} x f64, next",
        number(size as f64)
    );
    Case::new(about, value)?.and_postcard(value)
}
