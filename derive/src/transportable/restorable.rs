//! Types whose values can be restored from their forms.

use syn::visit::{self, Visit};
use syn::{GenericArgument, PathArguments, Type, TypePath, TypeReference};

use super::model::{Own, Part};

/// Returns true unless the options of a type, or the spelling of its fields' types, show that its
/// values can't be restored.
pub(super) fn is_possible(of: &Own) -> bool {
    of.lifetimes.is_empty()
        && !of.options.no_to_owned
        && !of.parts().iter().any(|part| is_borrowed(part))
}

/// Returns true if a field's type, as it is spelled, borrows or is a trait object.
fn is_borrowed(part: &Part) -> bool {
    struct Borrows(bool);
    impl<'ast> Visit<'ast> for Borrows {
        fn visit_type_reference(&mut self, _: &'ast TypeReference) {
            self.0 = true;
        }

        fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {
            self.0 = true;
        }

        fn visit_lifetime(&mut self, _: &'ast syn::Lifetime) {
            self.0 = true;
        }

        fn visit_type_path(&mut self, path: &'ast TypePath) {
            let last = path.path.segments.last();
            let Some(last) = last.filter(|last| last.ident == "Cow") else {
                return visit::visit_type_path(self, path);
            };
            // A `Cow<'static, T>` can own its target.
            if let PathArguments::AngleBracketed(arguments) = &last.arguments {
                for argument in &arguments.args {
                    match argument {
                        GenericArgument::Lifetime(of) if of.ident == "static" => {}
                        other => self.visit_generic_argument(other),
                    }
                }
            }
        }
    }
    let options = &part.options;
    if options.skip.is_some() || options.with.is_some() {
        return false;
    }
    let mut borrows = Borrows(false);
    borrows.visit_type(&part.ty as &Type);
    borrows.0
}
