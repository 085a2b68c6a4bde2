//! Code for a trait with errors, which prevents further errors at its uses.

use proc_macro2::TokenStream;
use quote::quote;
use syn::visit::Visit;
use syn::{
    FnArg, GenericParam, Generics, ItemTrait, ReturnType, Signature, TraitItem, Type, parse_quote,
};

use super::check::Search;
use super::interface::{Instance, Interface, borrowed, passed, streamed};
use super::{expand, stub};

/// Returns the trait, a stub that can't be created, and the implementations that make the trait
/// remote.
pub(super) fn dummy(of: &Interface) -> TokenStream {
    let conditions = &of.conditions;
    let mut item = expand::remote_trait(of);
    for part in &mut item.items {
        exempt(part);
    }
    let structure = stub::structure(of);
    let instances = of.instances.iter().map(|instance| {
        // Methods could refer to generics that the stub does not have.
        let known = of.item.generics.params.is_empty() || instance.arguments.is_some();
        let methods = instance
            .methods
            .iter()
            .filter(|method| known && callable(&method.signature));
        let stub = known.then(|| {
            stub::implementation(of, instance, methods, |_| quote!(::__core::unreachable!()))
        });
        let remotable = remotable(of, instance, &item);
        quote!(#stub #remotable)
    });
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
            reason = "none of this is called"
        )]
        const _: () = {
            #(#instances)*
        };
    }
}

/// Adds `Self: Sized` to an item that would make the trait not object-safe.
fn exempt(part: &mut TraitItem) {
    let generics = match part {
        TraitItem::Fn(of) if !callable(&of.sig) => &mut of.sig.generics,
        TraitItem::Type(of) => &mut of.generics,
        _ => return,
    };
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::__core::marker::Sized));
}

/// Returns true if a method can be called on `dyn Trait` and the stub can name its types.
fn callable(signature: &Signature) -> bool {
    let mut search = Search::default();
    for input in &signature.inputs {
        if let FnArg::Typed(of) = input {
            search.visit_type(&of.ty);
        }
    }
    search.visit_return_type(&signature.output);
    let on_reference = matches!(
        signature.inputs.first(),
        Some(FnArg::Receiver(of)) if matches!(of.kind, syn::ReceiverKind::Reference(..))
    );
    on_reference
        && signature.generics.where_clause.is_none()
        && !search.itself
        && !search.opaque
        && !nested(signature)
        && lifetimes_only(&signature.generics)
}

/// Returns true if a stream or a reference is nested in another type, which a stub can't name.
fn nested(signature: &Signature) -> bool {
    let nested = |ty: &Type, is_passed: bool| {
        let mut search = Search::default();
        search.visit_type(streamed(ty).unwrap_or(ty));
        search.streams || (search.remotes && !is_passed)
    };
    let mut inputs = signature.inputs.iter();
    let result = matches!(&signature.output, ReturnType::Type(_, ty) if nested(ty, passed(ty)));
    let is_passed = |ty: &Type| passed(ty) || borrowed(ty).is_some();
    result
        || inputs
            .any(|input| matches!(input, FnArg::Typed(of) if nested(&of.ty, is_passed(&of.ty))))
}

fn lifetimes_only(generics: &Generics) -> bool {
    generics
        .params
        .iter()
        .all(|param| matches!(param, GenericParam::Lifetime(_)))
}

fn remotable(of: &Interface, instance: &Instance, item: &ItemTrait) -> Option<TokenStream> {
    // Constants, and items that did not parse, make the trait not object-safe.
    let possible = item
        .items
        .iter()
        .all(|part| matches!(part, TraitItem::Fn(_) | TraitItem::Type(_)));
    if !possible {
        return None;
    }
    let krate = &of.krate;
    let (name, stub) = (&item.ident, stub::name(of));
    let mut generics = item.generics.clone();
    let interface = if instance.arguments.is_some() {
        generics = Generics::default();
        instance.interface(of)
    } else {
        let (_, types, _) = item.generics.split_for_impl();
        quote!(#name #types)
    };
    let stub = match (&instance.arguments, item.generics.split_for_impl()) {
        (Some(arguments), _) => quote!(#stub #arguments),
        (None, (_, types, _)) => quote!(#stub #types),
    };
    if !generics.params.is_empty() {
        generics
            .make_where_clause()
            .predicates
            .push(parse_quote!(dyn #interface: 'static));
    }
    let holder = if of.is_exclusive() {
        quote!(#krate::Exclusive<__Object>)
    } else {
        quote!(::__std::sync::Arc<__Object>)
    };
    let incoming = quote!(#krate::__private::Incoming);
    let failed = quote!(#krate::__private::Failed);
    let (parameters, _, conditions) = generics.split_for_impl();
    let mut with_object = generics.clone();
    with_object
        .params
        .push(parse_quote!(__Object: #interface + ?::__core::marker::Sized));
    let (parameters_with_object, _, _) = with_object.split_for_impl();
    Some(quote! {
        #[automatically_derived]
        impl #parameters #krate::Remotable for dyn #interface #conditions {
            type Stub = #stub;

            const NAME: &'static str = "";

            fn interface() -> &'static #krate::Interface {
                ::__core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #parameters_with_object #krate::Skeleton<__Object> for dyn #interface #conditions {
            type Holder = #holder;

            fn call(
                _: &#holder,
                _: ::__core::primitive::usize,
                _: &mut #incoming,
            ) -> ::__core::result::Result<::__core::primitive::bool, #failed> {
                ::__core::unreachable!()
            }

            async fn run(
                _: #holder,
                _: ::__core::primitive::usize,
                _: #incoming,
            ) -> ::__core::result::Result<(), #failed> {
                ::__core::unreachable!()
            }
        }
    })
}
