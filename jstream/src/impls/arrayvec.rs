//! `ArrayVec` and `ArrayString`, which arrive as slices and text.

use arrayvec::{ArrayString, ArrayVec};

use crate::impls::reference::write_optional_edge;
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

owner!([T: Transportable, const N: usize] ArrayVec<T, N>, [T]);
owner!([const N: usize] ArrayString<N>, str);

// SAFETY: the form is a shared reference to a form that is covariant.
unsafe impl<T: Covariant, const N: usize> Covariant for ArrayVec<T, N> {}
// SAFETY: as above.
unsafe impl<const N: usize> Covariant for ArrayString<N> {}
