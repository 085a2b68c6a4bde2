//! Generation of the method table.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::LitStr;
use syn::ext::IdentExt;

use super::interface::{Instance, Interface, Method};
use super::{stub, types};
use crate::spans::Place;

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
    // The names of the instances of a generic trait include the types.
    let types = name.find('<').and_then(|at| name.get(at..));
    let types = types.unwrap_or_default();
    let older_names = of.older_names.iter();
    let older_names: Vec<_> = older_names
        .map(|older| LitStr::new(&format!("{}{types}", older.value()), older.span()))
        .collect();
    let entries = instance.methods.iter().map(|method| entry(of, method));
    let stateful = of.stateful.then(|| quote!(.stateful()));
    let renamed = renamed(&older_names);
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
                        #renamed
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
    // A method that is called again in the middle of its stream may run more than once.
    let may_be_repeated = method.idempotent || method.resume.is_some();
    let idempotent = may_be_repeated.then(|| quote!(.idempotent()));
    let renamed = renamed(&method.older_names);
    let arguments = arguments(of, method);
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
                #arguments
                #(#takes)*
                #gives
                #(#passing)*
                #returns
                #one_way
                #idempotent
                #renamed
        }
    }
}

/// Returns the call that sets older names, if there are any.
fn renamed(older_names: &[LitStr]) -> Option<TokenStream> {
    (!older_names.is_empty()).then(|| quote!(.renamed_from(&[#(#older_names),*])))
}

/// Returns the calls that set the names and the rules of the arguments, if these are the parts of
/// the message.
fn arguments(of: &Interface, method: &Method) -> Option<TokenStream> {
    let krate = &of.krate;
    let mut all = method.arguments.iter();
    if method.arguments.is_empty() || all.any(|argument| argument.received.is_some()) {
        return None;
    }
    let names = method.arguments.iter();
    let names = names.map(|argument| argument.name.unraw().to_string());
    let rules = method.arguments.iter().enumerate();
    let rules = rules.filter_map(|(place, argument)| {
        let rules = &argument.rules;
        let older_names = &rules.older_names;
        if older_names.is_empty() && rules.default.is_none() {
            return None;
        }
        let default = match &rules.default {
            Some(default) => {
                let ty = types::item(&argument.ty);
                let ty = quote!(#krate::__private::check_type_of::<#ty>());
                let message = match &default.value {
                    Some(value) => quote!(#ty.write_value(|| #value)),
                    None => Place::at(default.span).put(quote!(#ty.write_default())),
                };
                quote!(::__core::option::Option::Some(|| #message))
            }
            None => quote!(::__core::option::Option::None),
        };
        Some(quote!(.with_rules(#place, &[#(#older_names),*], #default)))
    });
    Some(quote! {
        .with_arguments(&[#(#names),*])
        #(#rules)*
    })
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
