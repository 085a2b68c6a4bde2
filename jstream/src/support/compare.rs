//! Comparison of values with forms, for the option `compare` of the derive.

use std::hash::Hash;

use super::type_checks::TypeCheck;
use crate::adapter::Adapter;
use crate::map::{TableEntry, arranged};

/// A form that can be compared with an `O`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be compared with `{O}`",
    note = "if the form is that of `{O}`, add `#[transportable(compare)]` to `{O}`; otherwise \
            derive or implement `PartialEq<{O}>` for `{Self}`"
)]
pub trait Comparable<O: ?Sized> {
    /// Returns true if the values are equal.
    fn is_same(&self, owned: &O) -> bool;
}

#[diagnostic::do_not_recommend]
impl<F: PartialEq<O> + ?Sized, O: ?Sized> Comparable<O> for F {
    fn is_same(&self, owned: &O) -> bool {
        self == owned
    }
}

/// Compares a form with a value by `PartialEq`. The value comes first, so that its type is known
/// where the compiler reports that the form can't be compared with it.
pub fn same<O: ?Sized, F: Comparable<O> + ?Sized>(owned: &O, form: &F) -> bool {
    form.is_same(owned)
}

/// Compares a form with what an adapter sends for a value.
pub fn same_as_adapted<A, O, F>(_: TypeCheck<A>, owned: &O, form: &F) -> bool
where
    A: Adapter<O>,
    F: Comparable<A::Wire>,
{
    form.is_same(&A::to_wire(owned))
}

/// Compares the elements of slices.
pub fn same_slices<F, O>(form: &[F], owned: &[O], same: impl Fn(&F, &O) -> bool) -> bool {
    form.len() == owned.len()
        && form
            .iter()
            .zip(owned)
            .all(|(form, owned)| same(form, owned))
}

/// Compares the payloads of options.
pub fn same_options<F, O>(
    form: &Option<F>,
    owned: &Option<O>,
    same: impl FnOnce(&F, &O) -> bool,
) -> bool {
    match (form, owned) {
        (Some(form), Some(owned)) => same(form, owned),
        (None, None) => true,
        _ => false,
    }
}

/// Compares the payloads of results.
pub fn same_results<F, O, G, P>(
    form: &Result<F, G>,
    owned: &Result<O, P>,
    same: impl FnOnce(&F, &O) -> bool,
    same_error: impl FnOnce(&G, &P) -> bool,
) -> bool {
    match (form, owned) {
        (Ok(form), Ok(owned)) => same(form, owned),
        (Err(form), Err(owned)) => same_error(form, owned),
        _ => false,
    }
}

/// Compares the elements of sorted sets.
pub fn same_sets<'f, 'o, F: 'f, O: 'o>(
    form: impl ExactSizeIterator<Item = &'f F>,
    owned: impl ExactSizeIterator<Item = &'o O>,
    same: impl Fn(&F, &O) -> bool,
) -> bool {
    form.len() == owned.len() && form.zip(owned).all(|(form, owned)| same(form, owned))
}

/// Compares the entries of sorted maps.
pub fn same_maps<'f, 'o, F: 'f, O: 'o, G: 'f, P: 'o>(
    form: impl ExactSizeIterator<Item = (&'f F, &'f G)>,
    owned: impl ExactSizeIterator<Item = (&'o O, &'o P)>,
    same_key: impl Fn(&F, &O) -> bool,
    same_value: impl Fn(&G, &P) -> bool,
) -> bool {
    form.len() == owned.len()
        && form.zip(owned).all(|((form_key, form), (key, owned))| {
            same_key(form_key, key) && same_value(form, owned)
        })
}

/// Compares the elements of hashed sets, in whatever order they are.
pub fn same_hashed_sets<'f, 'o, F: Hash + 'f, O: Hash + 'o>(
    form: impl ExactSizeIterator<Item = &'f F>,
    owned: impl ExactSizeIterator<Item = &'o O>,
    same: impl Fn(&F, &O) -> bool,
) -> bool {
    let form = form.map(|key| (key, &()));
    let owned = owned.map(|key| (key, &()));
    same_hashed_maps(form, owned, same, |_, _| true)
}

/// Compares the entries of hashed maps, in whatever order they are: both are sorted by the hashes
/// of their keys, which a key and its form have in common.
pub fn same_hashed_maps<'f, 'o, F: Hash + 'f, O: Hash + 'o, G: 'f, P: 'o>(
    form: impl ExactSizeIterator<Item = (&'f F, &'f G)>,
    owned: impl ExactSizeIterator<Item = (&'o O, &'o P)>,
    same_key: impl Fn(&F, &O) -> bool,
    same_value: impl Fn(&G, &P) -> bool,
) -> bool {
    if form.len() != owned.len() {
        return false;
    }
    let form: Vec<_> = form
        .map(|(key, value)| TableEntry::new(key, value))
        .collect();
    let owned: Vec<_> = owned
        .map(|(key, value)| TableEntry::new(key, value))
        .collect();
    let (form, owned) = (arranged(form), arranged(owned));
    form.iter()
        .zip(&owned)
        .all(|(form, owned)| same_key(form.key, owned.key) && same_value(form.with, owned.with))
}
