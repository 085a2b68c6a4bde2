//! `Debug` of the form of a type that has it.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Member;

use super::context::{args, name_of};
use super::model::{Body, Own, Part};

/// Returns an impl that applies if the owner has `Debug`, as the owner's own derive is not visible
/// here. There is none if the form derives the trait or has cells, through which it could print
/// itself without end, nor for a type with parameters, whose form says nothing about the owner.
pub(super) fn expand(form: &Own, owner: &Own) -> TokenStream {
    let mut derives = owner.options.derives.iter();
    let derived = derives.any(|path| path.segments.last().is_some_and(|of| of.ident == "Debug"));
    let generic = owner.generics.type_params().next().is_some()
        || owner.generics.const_params().next().is_some();
    if derived || owner.options.no_debug || generic || form.is_invariant() {
        return TokenStream::new();
    }
    let support = form.support();
    let (name, owner_name) = (&form.name, &owner.name);
    let form_args = args(form, quote!('__b), |param| quote!(#param));
    let owner_args = args(owner, quote!('__b), |param| quote!(#param));
    let arms: TokenStream = match &form.body {
        Body::Struct(parts) => arm(&support, &quote!(#name), &name_of(name), parts),
        Body::Enum(variants) => variants
            .iter()
            .map(|variant| {
                let variant_name = &variant.name;
                let path = quote!(#name::#variant_name);
                arm(&support, &path, &name_of(variant_name), &variant.parts)
            })
            .collect(),
        Body::Union(_) => return TokenStream::new(),
    };
    quote! {
        #[automatically_derived]
        impl<'__b> ::__core::fmt::Debug for #name #form_args
        where
            &'__b #owner_name #owner_args: ::__core::fmt::Debug,
        {
            fn fmt(
                &self,
                __formatter @ _: &mut ::__core::fmt::Formatter<'_>,
            ) -> ::__core::fmt::Result {
                #[allow(unused_imports, reason = "the fields decide which is used")]
                use #support::{ShownByDebug as _, ShownByName as _};
                match self {
                    #arms
                }
            }
        }
    }
}

/// Returns the match arm that prints a struct or variant.
fn arm(support: &TokenStream, path: &TokenStream, name: &str, parts: &[Part]) -> TokenStream {
    let members = parts.iter().map(|part| &part.member);
    let bindings = parts.iter().map(Part::bound);
    let tuple = parts
        .iter()
        .any(|part| matches!(part.member, Member::Unnamed(_)));
    let fields = parts.iter().map(|part| {
        let binding = &part.binding;
        let value = quote!((&#support::Shown(#binding)).shown_field());
        match &part.member {
            Member::Named(name) => {
                let name = name_of(name);
                quote!(.field(#name, #value))
            }
            Member::Unnamed(_) => quote!(.field(#value)),
        }
    });
    let formatter = quote!(::__core::fmt::Formatter);
    let begin = if parts.is_empty() {
        quote!(#formatter::write_str(__formatter, #name))
    } else if tuple {
        quote!(#formatter::debug_tuple(__formatter, #name) #(#fields)* .finish())
    } else {
        quote!(#formatter::debug_struct(__formatter, #name) #(#fields)* .finish())
    };
    quote!(#path { #(#members: #bindings),* } => #begin,)
}
