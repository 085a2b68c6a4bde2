//! `Cow`, which arrives as a reference, whether it owned or not.

use std::borrow::Cow;

use crate::model::{Covariant, CovariantTarget, Target, Transportable};
use crate::write::Draft;

owner!(['c, T: Target + ToOwned + ?Sized] Cow<'c, T>, T, |draft| draft.borrow());

// SAFETY: the form is a shared reference to a form that is covariant.
unsafe impl<T: CovariantTarget + ToOwned + ?Sized> Covariant for Cow<'_, T> {}
