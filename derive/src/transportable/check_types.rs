//! Checks of the types of fields by their spelling.

use syn::visit::Visit;
use syn::{Error, Type, TypeReference};

use super::form;
use crate::errors::Errors;

/// Rejects elements of an exclusive slice that are spelled as references or owners.
pub(super) fn plain(element: &Type, errors: &mut Errors) {
    if form::Owners::are_in(element) || has_references(element) {
        errors.add(Error::new_spanned(
            element,
            "an exclusive slice can hold only plain data, without references and text: use a \
             shared one",
        ));
    }
}

/// Returns true if a type is spelled with references.
pub(super) fn has_references(ty: &Type) -> bool {
    struct References(bool);
    impl<'ast> Visit<'ast> for References {
        fn visit_type_reference(&mut self, _: &'ast TypeReference) {
            self.0 = true;
        }
    }
    let mut references = References(false);
    references.visit_type(ty);
    references.0
}
