//! Type parameters of which a type holds no value.
//!
//! A parameter that is named in `PhantomData` alone, as in
//! `struct Id<T> { n: u64, of: PhantomData<T> }`, is a mark. Its argument need not be
//! transportable, and the form has the argument itself where it would have the form of another
//! argument.

use syn::visit::Visit;
use syn::{Generics, Ident, TypeParam, TypePath};

use super::model::Own;

impl Own {
    /// Returns true if the parameter is named in `PhantomData` alone. The decision is made by
    /// spelling. If it is wrong, the types of a field and of its form differ, which does not
    /// compile.
    pub(super) fn is_phantom(&self, param: &Ident) -> bool {
        let mut uses = Uses {
            param,
            in_phantom: false,
            is_marked: false,
            has_value: false,
        };
        for part in self.parts() {
            let is_plain = part.options.form.is_none() && part.options.with.is_none();
            uses.has_value |= !is_plain || part.options.skip.is_some();
            uses.visit_type(&part.ty);
        }
        uses.is_marked && !uses.has_value
    }

    /// Returns the type parameters that are not [phantom](Self::is_phantom).
    pub(super) fn values(&self) -> impl Iterator<Item = &TypeParam> {
        let params = self.generics.type_params();
        params.filter(|param| !self.is_phantom(&param.ident))
    }

    /// Returns the type parameters that are [phantom](Self::is_phantom).
    pub(super) fn phantoms(&self) -> impl Iterator<Item = &TypeParam> {
        let params = self.generics.type_params();
        params.filter(|param| self.is_phantom(&param.ident))
    }

    /// Adds the bound `'static` to the phantom parameters in the generics of an impl: a form with
    /// such an argument does not depend on the buffer's lifetime.
    pub(super) fn make_phantoms_static(&self, generics: &mut Generics) {
        for param in generics.type_params_mut() {
            if self.is_phantom(&param.ident) {
                param.bounds.push(syn::parse_quote!('static));
            }
        }
    }
}

/// The ways in which fields name a type parameter.
struct Uses<'p> {
    param: &'p Ident,
    /// True while the arguments of `PhantomData` are visited.
    in_phantom: bool,
    /// True if `PhantomData` names the parameter.
    is_marked: bool,
    /// True if the parameter is named elsewhere, or may be.
    has_value: bool,
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let last = path.path.segments.last();
        let outer = self.in_phantom;
        self.in_phantom |= last.is_some_and(|last| last.ident == "PhantomData");
        syn::visit::visit_type_path(self, path);
        self.in_phantom = outer;
    }

    fn visit_ident(&mut self, ident: &'ast Ident) {
        if ident == self.param {
            self.is_marked |= self.in_phantom;
            self.has_value |= !self.in_phantom;
        } else if ident == "Self" {
            self.has_value = true;
        }
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.has_value = true;
    }
}
