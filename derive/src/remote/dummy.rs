//! What stands for a trait that has errors, so that its users don't get errors as well.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::{FnArg, GenericParam, Generics, ItemTrait, Signature, TraitItem, parse_quote};

use super::check::Search;
use super::parse::Interface;
use super::{expand, stub};

/// The trait, a stub that can't be had, and the promise that the trait is remote.
pub(super) fn dummy(of: &Interface) -> TokenStream {
    let conditions = &of.conditions;
    let mut item = expand::shared_trait(of);
    for part in &mut item.items {
        exempt(part);
    }
    let structure = stub::structure(of);
    // The stub has no generics that its methods could name.
    let methods = of
        .methods
        .iter()
        .filter(|method| of.item.generics.params.is_empty() && callable(&method.signature));
    let stub = stub::implementation(of, methods, |_| quote!(::core::unreachable!()));
    let remotable = remotable(of, &item);
    quote! {
        #item
        #structure

        #(#conditions)*
        #[allow(
            dead_code,
            deprecated,
            unused_variables,
            clippy::double_must_use,
            clippy::too_many_arguments,
            reason = "nothing of this is called"
        )]
        const _: () = {
            #stub
            #remotable
        };
    }
}

/// Makes an item harmless to `dyn Trait` that would rule it out.
fn exempt(part: &mut TraitItem) {
    let generics = match part {
        TraitItem::Fn(of) if !callable(&of.sig) => &mut of.sig.generics,
        TraitItem::Type(of) => &mut of.generics,
        _ => return,
    };
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::core::marker::Sized));
}

/// Whether a method can be called on `dyn Trait`, and has types that the stub can name.
fn callable(signature: &Signature) -> bool {
    let mut search = Search::default();
    for input in &signature.inputs {
        if let FnArg::Typed(of) = input {
            search.visit_type(&of.ty);
        }
    }
    search.visit_return_type(&signature.output);
    let on_shared_self = matches!(
        signature.inputs.first(),
        Some(FnArg::Receiver(of)) if of.reference.is_some() && of.mutability.is_none()
    );
    on_shared_self
        && signature.asyncness.is_none()
        && signature.generics.where_clause.is_none()
        && !search.itself
        && !search.opaque
        && lifetimes_only(&signature.generics)
}

fn lifetimes_only(generics: &Generics) -> bool {
    generics
        .params
        .iter()
        .all(|param| matches!(param, GenericParam::Lifetime(_)))
}

fn remotable(of: &Interface, item: &ItemTrait) -> Option<TokenStream> {
    // A constant, or what is no item, rules `dyn Trait` out.
    let possible = item
        .items
        .iter()
        .all(|part| matches!(part, TraitItem::Fn(_) | TraitItem::Type(_)));
    if !possible {
        return None;
    }
    let krate = &of.krate;
    let interface = &item.ident;
    let stub = stub::name(of);
    let mut generics = item.generics.clone();
    let (_, types, _) = item.generics.split_for_impl();
    if !generics.params.is_empty() {
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(dyn #interface #types: 'static));
    }
    let (parameters, _, conditions) = generics.split_for_impl();
    Some(quote! {
        #[automatically_derived]
        impl #parameters #krate::Remotable for dyn #interface #types #conditions {
            type Stub = #stub;

            fn interface() -> &'static #krate::Interface {
                ::core::unreachable!()
            }

            fn dispatch(
                &self,
                _: usize,
                _: #krate::__private::Incoming<'_>,
            ) -> ::core::result::Result<(), #krate::__private::Failed> {
                ::core::unreachable!()
            }
        }
    })
}
