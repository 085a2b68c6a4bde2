//! The method table, and the skeleton that calls the object.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::parse::{Interface, Method};
use super::{stub, types};

/// Numbers the methods that there are, in the order of the table.
pub(super) fn numbers(of: &Interface) -> TokenStream {
    let variants = of.methods.iter().map(|method| {
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

pub(super) fn remotable(of: &Interface) -> TokenStream {
    let krate = &of.krate;
    let interface = &of.item.ident;
    let stub = stub::name(of);
    let name = interface.unraw().to_string();
    let table = of.methods.iter().map(|method| entry(of, method));
    let arms = of.methods.iter().map(|method| arm(of, method));
    quote! {
        #[automatically_derived]
        impl #krate::Remotable for dyn #interface {
            type Stub = #stub;

            fn interface() -> &'static #krate::Interface {
                static INTERFACE: ::std::sync::OnceLock<#krate::Interface> =
                    ::std::sync::OnceLock::new();
                INTERFACE.get_or_init(|| {
                    #krate::Interface::new(#name, #krate::__private::list([#(#table),*]))
                })
            }

            fn dispatch(
                &self,
                __method: usize,
                __call: #krate::__private::Incoming<'_>,
            ) -> ::core::result::Result<(), #krate::__private::Failed> {
                match __method {
                    #(#arms)*
                    _ => ::core::result::Result::Err(#krate::__private::Failed::UnknownMethod),
                }
            }
        }
    }
}

/// A method in the table.
fn entry(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let conditions = &method.conditions;
    let name = method.signature.ident.unraw().to_string();
    let signature = text(&method.signature);
    let (message, output) = (types::message(method), types::output(method));
    let assertions = types::assertions(of, method);
    quote! {
        #(#conditions)* {
            #assertions
            #krate::__private::Method::new::<#message, #output>(#name, #signature)
        }
    }
}

/// Reads the arguments, calls the method with references into them, and replies.
fn arm(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let conditions = &method.conditions;
    let interface = &of.item.ident;
    let name = &method.signature.ident;
    let message = types::message(method);
    let assertions = types::assertions(of, method);
    let parts: Vec<_> = (0..method.arguments.len())
        .map(|i| format_ident!("__argument_{i}"))
        .collect();
    let kept = matches!(method.arguments.as_slice(), [only] if only.received.is_some());
    let given = if kept {
        quote!(__arguments)
    } else {
        quote!(#(*#parts),*)
    };
    let reply = quote_spanned! {types::result_span(method)=>
        __answer.reply(&<Self as #interface>::#name(self, #given))
    };
    let span = types::span(method);
    let reply = if kept {
        reply
    } else {
        quote_spanned! {span=>
            #krate::Received::with(&__arguments, |__arguments| {
                let (#(#parts,)*) = __arguments;
                #reply
            })
        }
    };
    let read = quote_spanned! {span=>
        let (__arguments, __answer) = __call.arguments::<#message>()?;
    };
    quote! {
        #(#conditions)*
        _ if __method == __Method::#name as usize => {
            #assertions
            #read
            #reply
        }
    }
}

/// A signature as people write it.
fn text(signature: &syn::Signature) -> String {
    let mut text = quote!(#signature).to_string();
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
    ] {
        text = text.replace(from, to);
    }
    text
}
