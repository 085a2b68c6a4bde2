//! Generation of the trait, the stub and the skeleton of an interface.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ItemTrait, TraitItem, parse_quote};

use super::interface::{Instance, Interface};
use super::{asynchronous, attributes, mock, skeleton, stub, table};
use crate::shield::shield_with;

pub(super) fn expand(of: &Interface) -> TokenStream {
    let item = remote_trait(of);
    let structure = stub::structure(of);
    let instances = of
        .instances
        .iter()
        .map(|instance| expand_instance(of, instance));
    let mock = mock::mock(of);
    quote! {
        #item
        #structure
        #(#instances)*
        #mock
    }
}

fn expand_instance(of: &Interface, instance: &Instance) -> TokenStream {
    let conditions = &of.conditions;
    let numbers = table::numbers(instance);
    let stub = stub::implementation(of, instance, instance.methods.iter(), |method| {
        stub::body(of, instance, method)
    });
    let remotable = table::remotable(of, instance);
    let skeleton = skeleton::skeleton(of, instance);
    let code = quote!(#numbers #stub #remotable #skeleton);
    let krate = &of.krate;
    let arguments = instance.methods.iter().flat_map(|method| &method.arguments);
    let defaults = arguments.clone();
    let defaults = defaults.filter_map(|argument| argument.rules.default.as_ref()?.value.as_ref());
    let item = without_arguments(&of.item);
    let shield = shield_with(
        &quote!(#krate::__private),
        &code,
        arguments.map(|argument| &argument.name),
        &quote!(#item #(#defaults)*),
    );
    quote! {
        #(#conditions)*
        #[allow(
            dead_code,
            deprecated,
            non_camel_case_types,
            clippy::double_must_use,
            clippy::too_many_arguments,
            reason = "names, arguments and attributes are those of the trait's methods"
        )]
        const _: () = {
            #shield
            #code
        };
    }
}

/// Returns the trait without the names of arguments and the bodies of methods.
fn without_arguments(of: &ItemTrait) -> ItemTrait {
    let mut of = of.clone();
    for part in &mut of.items {
        if let TraitItem::Fn(method) = part {
            method.default = None;
            for input in &mut method.sig.inputs {
                if let FnArg::Typed(input) = input {
                    input.pat = parse_quote!(_);
                }
            }
        }
    }
    of
}

/// Returns the trait as the program sees it: async methods return boxed futures.
pub(super) fn remote_trait(of: &Interface) -> ItemTrait {
    let mut item = shared_trait(of);
    let items = std::mem::take(&mut item.items);
    for part in items {
        match part {
            TraitItem::Fn(method) if method.sig.asyncness.is_some() => {
                let conditions = attributes::conditions(&method.attrs);
                let both = asynchronous::declared(&of.krate, &method, &conditions);
                item.items.extend(both.map(TraitItem::Fn));
            }
            other => item.items.push(other),
        }
    }
    item
}

/// Returns the trait with supertraits that allow threads to share its objects.
fn shared_trait(of: &Interface) -> ItemTrait {
    let mut item = of.item.clone();
    item.supertraits.push(parse_quote!(::__core::marker::Send));
    item.supertraits.push(parse_quote!(::__core::marker::Sync));
    item.supertraits.push(parse_quote!('static));
    item.colon_token.get_or_insert_default();
    for param in item.generics.type_params_mut() {
        // Transportable types must be `'static`.
        param.colon_token.get_or_insert_default();
        param.bounds.push(parse_quote!('static));
    }
    item
}
