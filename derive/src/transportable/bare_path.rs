//! Pointers to a type that is spelled `Path`, without the module that it is in.
//!
//! The form of a program's type `Path` is `PathRef`, whereas `std::path::Path` is its own form. The
//! spelling does not tell which one is meant, so the form has a pointer to `PathRef` for both. An
//! import of all names of a module declares a `PathRef` that is `std::path::Path`. A `PathRef` of
//! the program takes precedence over it, because a declaration or an import by name hides the names
//! that are imported together. If the wrong one is found, the form's field has another type than
//! the one that arrives, which does not compile.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::{GenericArgument, PathArguments, Type, TypePath, TypeReference};

use super::model::Own;

/// Returns the import that a form needs if one of its fields has a pointer to a bare `Path`.
pub(super) fn import(owner: &Own) -> Option<TokenStream> {
    let mut pointers = Pointers { found: false };
    for part in owner.parts() {
        pointers.visit_type(&part.ty);
    }
    let mut params = owner.generics.type_params();
    if !pointers.found || params.any(|param| param.ident == "Path") {
        return None;
    }
    let support = owner.support();
    Some(quote! {
        #[allow(unused_imports, reason = "the program may have a type of that name")]
        use #support::bare_path::*;
    })
}

/// Finds pointers whose target is spelled `Path`. Elsewhere, a `Path` without a size is impossible.
struct Pointers {
    found: bool,
}

impl Pointers {
    fn target(&mut self, ty: &Type) {
        self.found |=
            matches!(ty, Type::Path(of) if of.qself.is_none() && of.path.is_ident("Path"));
    }
}

impl<'ast> Visit<'ast> for Pointers {
    fn visit_type_reference(&mut self, of: &'ast TypeReference) {
        self.target(&of.elem);
        syn::visit::visit_type_reference(self, of);
    }

    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let pointers = ["Box", "Rc", "Arc", "Cow"];
        let last = path.path.segments.last();
        let pointer = last.filter(|last| pointers.iter().any(|name| last.ident == name));
        if let Some(PathArguments::AngleBracketed(arguments)) = pointer.map(|last| &last.arguments)
        {
            for argument in &arguments.args {
                if let GenericArgument::Type(ty) = argument {
                    self.target(ty);
                }
            }
        }
        syn::visit::visit_type_path(self, path);
    }
}
