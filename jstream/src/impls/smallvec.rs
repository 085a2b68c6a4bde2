//! `SmallVec`, which arrives as a slice, wherever its elements were.

use smallvec::{Array, SmallVec};

use crate::impls::reference::write_optional_edge;
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

owner!([A: Array<Item: Transportable>] SmallVec<A>, [A::Item]);

// SAFETY: the form is a shared reference to a form that is covariant.
unsafe impl<A: Array<Item: Covariant>> Covariant for SmallVec<A> {}
