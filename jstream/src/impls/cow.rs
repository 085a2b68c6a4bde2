//! `Cow`, which arrives as a reference, whether it is borrowed or owned.

use std::borrow::Cow;

use super::restore::restore;
use crate::model::{Covariant, CovariantTarget, Target, Transportable};
use crate::restore::Restore;
use crate::write::Draft;

owner!(['c, T: Target + ToOwned + ?Sized] Cow<'c, T>, T, |draft| draft.borrow());

// SAFETY: the form is a shared reference to a covariant form.
unsafe impl<T: CovariantTarget + ToOwned + ?Sized> Covariant for Cow<'_, T> {}

restore! {
    [] Cow<'_, str>, |form: &'b str, _restoring| Ok(Cow::Owned((*form).to_owned()));
    [T: Restore + Clone] Cow<'_, T>, |form: &'b T::InPlace<'b>, restoring| {
        restoring.deeper(|restoring| Ok(Cow::Owned(T::restore(form, restoring)?)))
    };
    [T: Restore + Clone] Cow<'_, [T]>, |form: &'b [T::InPlace<'b>], restoring| {
        Ok(Cow::Owned(Vec::<T>::restore(form, restoring)?))
    };
}
