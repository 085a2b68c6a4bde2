//! Generation of the method table.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;

use super::interface::{Instance, Interface, Method};
use super::{stub, types};

/// Returns an enum that numbers the methods that are compiled, in the order of the table.
pub(super) fn numbers(instance: &Instance) -> TokenStream {
    let variants = instance.methods.iter().map(|method| {
        let conditions = &method.conditions;
        let name = &method.signature.ident;
        quote!(#(#conditions)* #name)
    });
    quote! {
        enum __Method {
            #(#variants,)*
        }
    }
}

pub(super) fn remotable(of: &Interface, instance: &Instance) -> TokenStream {
    let krate = &of.krate;
    let interface = instance.interface(of);
    let stub = stub::named(of, instance);
    let name = {
        let (name, arguments) = (of.item.ident.unraw(), &instance.arguments);
        text(quote!(#name #arguments))
    };
    let entries = instance.methods.iter().map(|method| entry(of, method));
    let stateful = of.stateful.then(|| quote!(.stateful()));
    quote! {
        #[automatically_derived]
        impl #krate::Remotable for dyn #interface {
            type Stub = #stub;

            const NAME: &'static str = #name;

            fn interface() -> &'static #krate::Interface {
                static __INTERFACE: ::__std::sync::OnceLock<#krate::Interface> =
                    ::__std::sync::OnceLock::new();
                __INTERFACE.get_or_init(|| {
                    #krate::Interface::new(#name, #krate::__private::list([#(#entries),*]))
                        #stateful
                })
            }
        }
    }
}

/// Returns the table entry of a method.
fn entry(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let conditions = &method.conditions;
    let name = method.signature.ident.unraw().to_string();
    let signature = text(&method.signature);
    let (message, output) = (types::message(of, method), types::output(of, method));
    let assertions = types::assertions(of, method);
    let one_way = method.one_way.as_ref().map(|_| quote!(.one_way()));
    let idempotent = method.idempotent.then(|| quote!(.idempotent()));
    let takes = method.arguments.iter().enumerate();
    let takes = takes.filter_map(|(place, argument)| {
        let item = types::item(argument.streams()?);
        Some(quote!(.takes::<#item>(#place)))
    });
    let passing = method.arguments.iter().enumerate();
    let passing = passing.filter_map(|(place, argument)| {
        let ty = types::item(&argument.passes()?);
        Some(quote!(.passing::<#ty>(::__core::option::Option::Some(#place))))
    });
    let returns = method.passes().map(|ty| {
        let ty = types::item(ty);
        quote!(.passing::<#ty>(::__core::option::Option::None))
    });
    let gives = method.streams().map(|of| {
        let item = types::item(of);
        quote!(.gives::<#item>())
    });
    quote! {
        #(#conditions)* {
            #assertions
            #krate::__private::Method::new::<#message, #output>(#name, #signature)
                #(#takes)*
                #gives
                #(#passing)*
                #returns
                #one_way
                #idempotent
        }
    }
}

/// Formats a signature or a type as people write it.
pub(super) fn text(of: impl ToTokens) -> String {
    let text = of.to_token_stream().to_string();
    // Tokens of long signatures are printed on several lines.
    let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for (from, to) in [
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" :", ":"),
        (": :", "::"),
        (" :: ", "::"),
        (":: ", "::"),
        ("& ", "&"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("[ ", "["),
        (" ]", "]"),
        (" ;", ";"),
        (",)", ")"),
        // For types that begin with a bracket.
        ("-><", "-> <"),
        (",<", ", <"),
        (":<", ": <"),
        (":: <", "::<"),
    ] {
        text = text.replace(from, to);
    }
    text
}
