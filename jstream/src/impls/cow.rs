//! `Cow`, which arrives as a reference, whether it owned or not.

use std::borrow::Cow;

use crate::impls::reference::write_optional_edge;
use crate::model::{Covariant, Target, Transportable};
use crate::write::Draft;

owner!(['c, T: Target + ToOwned + ?Sized] Cow<'c, T>, T);

// SAFETY: the form is a shared reference to a form that is covariant.
unsafe impl<T: Covariant + ToOwned> Covariant for Cow<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Covariant + Clone> Covariant for Cow<'_, [T]> {}
// SAFETY: as above.
unsafe impl Covariant for Cow<'_, str> {}
