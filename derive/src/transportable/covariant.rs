//! The proof that a form is covariant in the buffer's lifetime.
//!
//! The proof is a function that compiles only if the form with a longer lifetime, also in its
//! arguments, is one with a shorter lifetime. It names the form with arguments that hold nothing
//! else. If the type has bounds, they do not meet them, so a struct without bounds that has fields
//! of the same types takes the place of the type.

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::visit::Visit;
use syn::{GenericArgument, GenericParam, PathArguments, Type, TypeParamBound};

use super::context::{Context, args, with_bound};
use super::model::{Own, Part};
use super::{bounds, form};
use crate::spans::Place;

/// Implements `Covariant` for the form, unless it has cells, or has bounds that the types of its
/// fields may need.
pub(super) fn implemented(context: &Context<'_>) -> TokenStream {
    let Context { of, support, .. } = context;
    let needs_mirror = has_bounds(of);
    let has_mirror = || of.parts().iter().all(|part| needs_no_bounds(&part.ty, of));
    // The bounds that a default needs would be missing in the proof.
    if of.is_invariant() || of.has_generic_default() || needs_mirror && !has_mirror() {
        return TokenStream::new();
    }
    let name = &of.name;
    let (_, ty_generics, where_clause) = of.generics.split_for_impl();
    let mut generics = with_bound(of, &quote!(#support::Covariant));
    bounds::add_of_forms(&mut generics, of);
    of.make_phantoms_static(&mut generics);
    let (impl_generics, _, impl_clause) = generics.split_for_impl();
    let proof = if needs_mirror {
        let mirror = mirror(context);
        let proof = proof(of, &quote!(__Mirror), None);
        quote!(#mirror #proof)
    } else {
        proof(
            of,
            &name.to_token_stream(),
            where_clause.to_token_stream().into(),
        )
    };
    quote! {
        // SAFETY: the function compiles only if the type, or a struct with fields of the same
        // types, is covariant in its lifetime and in each type parameter that varies, whose forms
        // are covariant by their bounds. The form has the other arguments as they are, for any
        // buffer.
        #[automatically_derived]
        unsafe impl #impl_generics #support::Covariant for #name #ty_generics #impl_clause {}

        const _: () = {
            #proof
        };
    }
}

/// Returns true if the proof can't name the type: the arguments of the proof may not meet the
/// bounds, or the bounds name the lifetime of the type.
fn has_bounds(of: &Own) -> bool {
    let has_clause = of.generics.where_clause.is_some();
    let has_values = of.values().next().is_some();
    has_clause && (has_values || !of.lifetimes.is_empty())
        || of.values().any(|param| !param.bounds.is_empty())
        || of
            .phantoms()
            .any(|param| param.bounds.iter().any(names_lifetime))
}

/// Returns the function that proves the covariance of the type `name`.
fn proof(of: &Own, name: &TokenStream, where_clause: Option<TokenStream>) -> TokenStream {
    let is_mirror = where_clause.is_none();
    let long = args(of, quote!('long_unless_the_type_says_invariant), |_| {
        quote!(&'long_unless_the_type_says_invariant ())
    });
    let short = args(of, quote!('short), |_| quote!(&'short ()));
    // The proof is generic in the parameters that do not vary.
    let phantoms = of.phantoms().map(|param| {
        let (name, bounds) = (&param.ident, &param.bounds);
        if is_mirror {
            relaxed(param).unwrap_or_else(|| quote!(#name))
        } else {
            quote!(#name: #bounds)
        }
    });
    let consts = of.generics.const_params().map(|of| {
        let (name, ty) = (&of.ident, &of.ty);
        quote!(const #name: #ty)
    });
    let constants: Vec<_> = phantoms.chain(consts).collect();
    Place::new(&of.name).put(quote! {
        fn covariant<'long_unless_the_type_says_invariant: 'short, 'short, #(#constants),*>(
            __long @ _: ::__core::marker::PhantomData<#name #long>,
        ) -> ::__core::marker::PhantomData<#name #short>
        #where_clause
        {
            __long
        }
    })
}

/// Returns a parameter without bounds that may be unsized, if it may be.
fn relaxed(param: &syn::TypeParam) -> Option<TokenStream> {
    let name = &param.ident;
    let is_unsized = param.bounds.iter().any(form::is_relaxed);
    is_unsized.then(|| quote!(#name: ?::__core::marker::Sized))
}

/// Returns a struct without bounds that has the fields of the type, and a function that compiles
/// only if the fields have the same types: the spelling of a type is not relied upon.
fn mirror(context: &Context<'_>) -> TokenStream {
    let Context { of, support, .. } = context;
    let name = &of.name;
    let (impl_generics, ty_generics, where_clause) = of.generics.split_for_impl();
    let params = of.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(of) => of.lifetime.to_token_stream(),
        GenericParam::Type(of) => relaxed(of).unwrap_or_else(|| of.ident.to_token_stream()),
        GenericParam::Const(of) => {
            let (name, ty) = (&of.ident, &of.ty);
            quote!(const #name: #ty)
        }
    });
    let mut all = 0usize;
    let mut fields = Vec::new();
    let mut arms = Vec::new();
    for (path, parts) in of.paths() {
        let members = parts.iter().map(|part| &part.member);
        let bound = parts.iter().map(Part::bound);
        let same = parts.iter().map(|part| {
            let (binding, field) = (&part.binding, format_ident!("field_{all}"));
            all = all.wrapping_add(1);
            let ty = &part.ty;
            fields.push(quote!(#field: #ty));
            quote! {
                let __first = #support::exact_type(#binding);
                let __second = #support::exact_type(&mut __mirror.#field);
                #support::same_exact_type(__first, __second);
            }
        });
        let same: Vec<_> = same.collect();
        arms.push(quote!(#name #path { #(#members: #bound),* } => { #(#same)* }));
    }
    quote! {
        #[allow(dead_code, reason = "only its variance matters")]
        struct __Mirror<#(#params),*> {
            #(#fields),*
        }

        #[allow(dead_code, unused_variables, reason = "only the types matter")]
        fn same_types #impl_generics (
            __of @ _: &mut #name #ty_generics,
            __mirror @ _: &mut __Mirror #ty_generics,
        )
        #where_clause
        {
            match __of {
                #(#arms)*
            }
        }
    }
}

/// Returns true if a type is spelled such that it exists whatever its parameters are: it does not
/// name them as arguments of types of the program, which may have bounds.
fn needs_no_bounds(ty: &Type, of: &Own) -> bool {
    const UNBOUNDED: [&str; 4] = ["Option", "Result", "PhantomData", "Shared"];
    match ty {
        Type::Reference(ty) => needs_no_bounds(&ty.elem, of),
        Type::Slice(ty) => needs_no_bounds(&ty.elem, of),
        Type::Array(ty) => needs_no_bounds(&ty.elem, of),
        Type::Paren(ty) => needs_no_bounds(&ty.elem, of),
        Type::Group(ty) => needs_no_bounds(&ty.elem, of),
        Type::Tuple(ty) => ty.elems.iter().all(|ty| needs_no_bounds(ty, of)),
        Type::Path(path) if path.qself.is_none() => {
            let Some(last) = path.path.segments.last() else {
                return false;
            };
            let mut params = of.generics.type_params();
            if params.any(|param| path.path.is_ident(&param.ident)) || !names_parameter(ty, of) {
                return true;
            }
            let is_known = UNBOUNDED.iter().any(|name| last.ident == name);
            match &last.arguments {
                PathArguments::AngleBracketed(args) if is_known => {
                    args.args.iter().all(|arg| match arg {
                        GenericArgument::Type(ty) => needs_no_bounds(ty, of),
                        _ => true,
                    })
                }
                _ => false,
            }
        }
        _ => !names_parameter(ty, of),
    }
}

/// Returns true if a type names a type parameter, or may do so.
fn names_parameter(ty: &Type, of: &Own) -> bool {
    struct Names<'o> {
        of: &'o Own,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Names<'_> {
        fn visit_ident(&mut self, ident: &'ast syn::Ident) {
            let mut params = self.of.generics.type_params();
            self.found |= ident == "Self" || params.any(|param| param.ident == *ident);
        }

        fn visit_macro(&mut self, _: &'ast syn::Macro) {
            self.found = true;
        }
    }
    let mut names = Names { of, found: false };
    names.visit_type(ty);
    names.found
}

/// Returns true for a bound that names a lifetime other than `'static`.
fn names_lifetime(bound: &TypeParamBound) -> bool {
    let mut lifetimes = form::Lifetimes::default();
    lifetimes.visit_type_param_bound(bound);
    lifetimes.found
}
