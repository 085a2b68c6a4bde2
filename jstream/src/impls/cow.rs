//! `Cow`, which arrives as a reference, whether it is borrowed or owned.

use std::borrow::Cow;

use crate::model::{Covariant, CovariantTarget, Target, Transportable};
use crate::write::Draft;

owner!(['c, T: Target + ToOwned + ?Sized] Cow<'c, T>, T, |draft| draft.borrow());

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl<T: CovariantTarget + ToOwned + ?Sized> Covariant for Cow<'_, T> {}
