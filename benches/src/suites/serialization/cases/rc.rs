//! Cases `distinct-rc`, `held-rc` and `shared-rc`: pointers that preserve the identity of their
//! targets.

use std::rc::Rc;

use jstream::Transportable;

use super::{Case, Numbers, forever};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Pointers {
    pointers: Vec<Rc<u64>>,
}

walk_fields!(Pointers, PointersRef<'_>, ArchivedPointers => pointers);

/// Creates the case in which each pointer has its own target.
pub(super) fn distinct(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(5);
    let pointers = (0..size).map(|_| Rc::new(numbers.next()));
    let about = format!("{} x Rc<u64>, each the only one", number(size as f64));
    case(about, pointers.collect())
}

/// Creates the case in which each target also has an owner that is not sent.
pub(super) fn held(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(12);
    let pointers: Vec<_> = (0..size).map(|_| Rc::new(numbers.next())).collect();
    forever(pointers.clone());
    let about = format!(
        "{} x Rc<u64>, each also held elsewhere",
        number(size as f64)
    );
    case(about, pointers)
}

/// Creates the case in which every other pointer has the target of an earlier one.
pub(super) fn shared(size: usize) -> Result<Case, Failure> {
    let about = format!(
        "{} x Rc<u64>, of which half repeat an earlier one",
        number(size as f64)
    );
    case(about, half_repeated(size))
}

fn half_repeated(size: usize) -> Vec<Rc<u64>> {
    let mut numbers = Numbers(6);
    let mut pointers: Vec<Rc<u64>> = Vec::with_capacity(size);
    for i in 0..size {
        let earlier = pointers.get(numbers.below(i.max(1)));
        let repeated = earlier.filter(|_| i % 2 == 1).map(Rc::clone);
        pointers.push(repeated.unwrap_or_else(|| Rc::new(numbers.next())));
    }
    pointers
}

fn case(about: String, pointers: Vec<Rc<u64>>) -> Result<Case, Failure> {
    let mut case = Case::sharing(about, forever(Pointers { pointers }))?;
    let text = "rkyv looks for shared pointers while it writes, and checks them with a table";
    case.notes.push(text.to_owned());
    Ok(case)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn half_of_the_pointers_repeat_others() {
        let pointers = half_repeated(1_000);
        let targets: HashSet<_> = pointers.iter().map(Rc::as_ptr).collect();
        assert_eq!((pointers.len(), targets.len()), (1_000, 500));
    }

    #[test]
    fn what_is_shared_is_sent_once() {
        let bytes = |case: Case| -> Vec<usize> {
            case.subjects
                .iter()
                .map(|subject| subject.bytes())
                .collect()
        };
        let distinct = bytes(distinct(1_000).unwrap());
        let shared = bytes(shared(1_000).unwrap());
        for (distinct, shared) in distinct.into_iter().zip(shared) {
            assert_eq!(distinct - shared, 500 * size_of::<u64>());
        }
    }
}
