//! `SmallVec`, which arrives as a slice, whether its elements are inline or on the heap.

use smallvec::{Array, SmallVec};

use super::restore::restore;
use crate::model::{Covariant, Target, Transportable};
use crate::restore::Restore;
use crate::write::Draft;

owner!([A: Array<Item: Transportable>] SmallVec<A>, [A::Item]);

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl<A: Array<Item: Covariant>> Covariant for SmallVec<A> {}

restore! {
    [A: Array<Item: Restore>] SmallVec<A>, |form: &'b [<A::Item as Transportable>::InPlace<'b>], restoring| {
        restoring.deeper(|restoring| {
            form.iter().map(|one| A::Item::restore(one, restoring)).collect()
        })
    };
}
