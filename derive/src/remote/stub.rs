//! The stub: the methods as a client calls them.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;

use super::parse::{Interface, Method};
use super::types;

pub(super) fn name(of: &Interface) -> Ident {
    format_ident!("{}Stub", of.item.ident)
}

/// The stub's type.
pub(super) fn structure(of: &Interface) -> TokenStream {
    let Interface {
        krate, conditions, ..
    } = of;
    let vis = &of.item.vis;
    let name = name(of);
    let doc = format!(
        "Calls the methods of a [`{}`] on another node.",
        of.item.ident.unraw()
    );
    quote! {
        #(#conditions)*
        #[doc = #doc]
        #[derive(::core::clone::Clone, ::core::fmt::Debug)]
        #[allow(dead_code, reason = "a server alone calls nothing")]
        #vis struct #name {
            object: #krate::Object,
        }
    }
}

/// What the stub can do, each method with a body.
pub(super) fn implementation<'m>(
    of: &Interface,
    methods: impl Iterator<Item = &'m Method>,
    body: impl Fn(&Method) -> TokenStream,
) -> TokenStream {
    let krate = &of.krate;
    let name = name(of);
    let methods = methods.map(|method| {
        let body = body(method);
        function(of, method, &body)
    });
    quote! {
        impl #name {
            #(#methods)*
        }

        #[automatically_derived]
        impl #krate::Stub for #name {
            fn new(__object: #krate::Object) -> Self {
                Self { object: __object }
            }
        }
    }
}

fn function(of: &Interface, method: &Method, body: &TokenStream) -> TokenStream {
    let vis = &of.item.vis;
    let attrs = &method.attrs;
    let name = &method.signature.ident;
    let arguments = method.arguments.iter().map(|argument| {
        let name = &argument.name;
        let ty = types::stub_type(argument);
        quote!(#name: #ty)
    });
    let krate = types::krate_of_result(of, method);
    let output = types::output(method);
    let call = quote_spanned!(types::result_span(method)=> #krate::Call<#output>);
    quote! {
        #(#attrs)*
        ///
        /// Sends the call; the result is had by waiting for it.
        #vis fn #name(&self, #(#arguments),*) -> #call {
            #body
        }
    }
}

/// Sends a call.
pub(super) fn body(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let interface = &of.item.ident;
    let name = &method.signature.ident;
    let names = method.arguments.iter().map(|argument| &argument.name);
    let arguments = match method.arguments.as_slice() {
        [only] if only.received.is_some() => quote!(#(#names)*),
        _ => quote!(&(#(#names,)*)),
    };
    let assertions = types::assertions(of, method);
    let output = types::output(method);
    let call = quote_spanned! {types::span(method)=>
        let __arguments = #arguments;
        __object.call::<_, #output>(
            <dyn #interface as #krate::Remotable>::interface(),
            __Method::#name as usize,
            __arguments,
        )
    };
    quote! {
        #assertions
        let __object = &self.object;
        #call
    }
}
