//! The stub, the skeleton and the method table of an interface.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::visit_mut::VisitMut;
use syn::{Ident, Lifetime, Type, TypeReference, parse_quote};

use super::parse::{Argument, Interface, Method};

pub(super) fn expand(of: &Interface) -> TokenStream {
    let item = shared_trait(of);
    let stub = stub(of);
    let remotable = remotable(of);
    quote! {
        #item
        #stub
        #remotable
    }
}

/// The trait, of which objects can be shared between threads.
fn shared_trait(of: &Interface) -> TokenStream {
    let mut item = of.item.clone();
    item.supertraits.push(parse_quote!(::core::marker::Send));
    item.supertraits.push(parse_quote!(::core::marker::Sync));
    item.supertraits.push(parse_quote!('static));
    item.colon_token.get_or_insert_default();
    quote!(#item)
}

fn stub_name(of: &Interface) -> Ident {
    format_ident!("{}Stub", of.item.ident)
}

/// The methods as a client calls them.
fn stub(of: &Interface) -> TokenStream {
    let krate = &of.krate;
    let vis = &of.item.vis;
    let name = stub_name(of);
    let interface = &of.item.ident;
    let doc = format!("Calls the methods of a [`{interface}`] on another node.");
    let methods = of.methods.iter().enumerate().map(|(index, method)| {
        let Method {
            attrs, signature, ..
        } = method;
        let name = &signature.ident;
        let arguments = method.arguments.iter().map(|argument| {
            let name = &argument.name;
            let ty = stub_type(argument);
            quote!(#name: #ty)
        });
        let sent = sent(method);
        let output = output(method);
        quote! {
            #(#attrs)*
            ///
            /// Sends the call and returns at once; the result is had by waiting for it.
            #vis fn #name(&self, #(#arguments),*) -> #krate::Call<#output> {
                self.object.call(
                    <dyn #interface as #krate::Remotable>::interface(),
                    #index,
                    #sent,
                )
            }
        }
    });
    quote! {
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #vis struct #name {
            object: #krate::Object,
        }

        #[allow(clippy::too_many_arguments, reason = "as many as the trait's method has")]
        impl #name {
            #(#methods)*
        }

        #[automatically_derived]
        impl #krate::Stub for #name {
            fn new(object: #krate::Object) -> Self {
                Self { object }
            }
        }
    }
}

/// What the stub takes for an argument: a message that the server is to keep is lent to the call.
fn stub_type(argument: &Argument) -> Type {
    match &argument.received {
        Some(of) => {
            let mut of = of.clone();
            Lifetimes { to: "'_" }.visit_type_mut(&mut of);
            parse_quote!(&#of)
        }
        None => argument.ty.clone(),
    }
}

/// The arguments as they are sent.
fn sent(method: &Method) -> TokenStream {
    let names = method.arguments.iter().map(|argument| &argument.name);
    match method.arguments.first() {
        Some(argument) if argument.received.is_some() => {
            let name = &argument.name;
            quote!(#name)
        }
        _ => quote!(&(#(#names,)*)),
    }
}

/// The type of the arguments' message, for all time.
fn message(method: &Method) -> Type {
    let mut ty: Type = match method.arguments.first() {
        Some(Argument {
            received: Some(of), ..
        }) => of.clone(),
        _ => {
            let types = method.arguments.iter().map(|argument| &argument.ty);
            parse_quote!((#(#types,)*))
        }
    };
    Lifetimes { to: "'static" }.visit_type_mut(&mut ty);
    ty
}

/// The type of the result, for all time.
fn output(method: &Method) -> Type {
    let mut ty = method.output.clone().unwrap_or_else(|| parse_quote!(()));
    Lifetimes { to: "'static" }.visit_type_mut(&mut ty);
    ty
}

/// Puts one lifetime in the place of all.
struct Lifetimes {
    to: &'static str,
}

impl Lifetimes {
    fn lifetime(&self) -> Lifetime {
        Lifetime::new(self.to, proc_macro2::Span::call_site())
    }
}

impl VisitMut for Lifetimes {
    fn visit_type_reference_mut(&mut self, of: &mut TypeReference) {
        of.lifetime = Some(self.lifetime());
        syn::visit_mut::visit_type_mut(self, &mut of.elem);
    }

    fn visit_lifetime_mut(&mut self, of: &mut Lifetime) {
        *of = self.lifetime();
    }
}

/// The method table, and the skeleton that calls the object.
fn remotable(of: &Interface) -> TokenStream {
    let krate = &of.krate;
    let interface = &of.item.ident;
    let stub = stub_name(of);
    let name = interface.to_string();
    let table = of.methods.iter().map(|method| {
        let signature = text(&method.signature);
        let name = method.signature.ident.to_string();
        let (message, output) = (message(method), output(method));
        quote!(#krate::__private::Method::new::<#message, #output>(#name, #signature))
    });
    let arms = of.methods.iter().enumerate().map(|(index, method)| {
        let call = skeleton(of, method);
        quote!(#index => { #call })
    });
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
                method: usize,
                call: #krate::__private::Incoming<'_>,
            ) -> ::core::result::Result<(), #krate::__private::Failed> {
                match method {
                    #(#arms)*
                    _ => ::core::result::Result::Err(#krate::__private::Failed::UnknownMethod),
                }
            }
        }
    }
}

/// Reads the arguments, calls the method with references into them, and replies.
fn skeleton(of: &Interface, method: &Method) -> TokenStream {
    let interface = &of.item.ident;
    let name = &method.signature.ident;
    let message = message(method);
    if method
        .arguments
        .iter()
        .any(|argument| argument.received.is_some())
    {
        return quote! {
            let (arguments, answer) = call.arguments::<#message>()?;
            answer.reply(&<Self as #interface>::#name(self, arguments))
        };
    }
    let parts: Vec<_> = (0..method.arguments.len())
        .map(|i| format_ident!("argument_{i}"))
        .collect();
    quote! {
        let (arguments, answer) = call.arguments::<#message>()?;
        let (#(#parts,)*) = arguments.get();
        answer.reply(&<Self as #interface>::#name(self, #(*#parts),*))
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
