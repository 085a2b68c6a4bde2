//! Generation of mocks: objects whose methods are set by a test.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;

use super::interface::{Interface, Method};
use super::{asynchronous, types};
use crate::shield::shield;

/// Returns the mock of a trait without parameters.
pub(super) fn mock(of: &Interface) -> Option<TokenStream> {
    of.mock.as_ref()?;
    let Interface {
        krate, conditions, ..
    } = of;
    let (vis, interface) = (&of.item.vis, &of.item.ident);
    let name = format_ident!("{}Mock", interface.unraw());
    let doc = format!(
        "A mock of [`{}`] for tests: its `expect_` methods set what each method does.",
        interface.unraw()
    );
    let fields = of.methods.iter().map(|method| {
        let (conditions, field, answer) = (&method.conditions, field(method), answer(method));
        quote!(#(#conditions)* #field: #krate::mock::Expectation<dyn #answer>,)
    });
    let news = of.methods.iter().map(|method| {
        let (conditions, field) = (&method.conditions, field(method));
        let text = format!("{}::{}", interface.unraw(), method.signature.ident.unraw());
        quote!(#(#conditions)* #field: #krate::mock::Expectation::new(#text),)
    });
    let checks = of.methods.iter().map(|method| {
        let (conditions, field) = (&method.conditions, field(method));
        quote!(#(#conditions)* self.#field.check();)
    });
    let expects = of.methods.iter().map(|method| expect(of, method));
    let methods = of.methods.iter().map(|method| called(of, method));
    let code = quote! {
        impl #name {
            /// Checks that each method was called as often as expected.
            ///
            /// # Panics
            ///
            /// Panics if a method was called less often.
            #vis fn check(&self) {
                #(#checks)*
            }

            #(#expects)*
        }

        #[automatically_derived]
        impl #interface for #name {
            #(#methods)*
        }
    };
    let shield = shield(&quote!(#krate::__private), &code, &of.item);
    Some(quote! {
        #(#conditions)*
        #[doc = #doc]
        #[derive(::__core::fmt::Debug)]
        #[allow(dead_code, non_snake_case, reason = "a test may use only a part")]
        #vis struct #name {
            #(#fields)*
        }

        #(#conditions)*
        #[automatically_derived]
        impl ::__core::default::Default for #name {
            fn default() -> Self {
                Self {
                    #(#news)*
                }
            }
        }

        #(#conditions)*
        #[allow(
            dead_code,
            deprecated,
            clippy::too_many_arguments,
            reason = "a test may use only a part"
        )]
        const _: () = {
            #shield
            #code
        };
    })
}

fn field(method: &Method) -> proc_macro2::Ident {
    format_ident!("method_{}", method.signature.ident.unraw())
}

/// Returns the type of the function that a test sets for a method.
fn answer(method: &Method) -> TokenStream {
    let arguments = method.arguments.iter().map(types::mock_type);
    let output = types::result(method);
    quote! {
        ::__core::ops::Fn(#(#arguments),*) -> #output
            + ::__core::marker::Send + ::__core::marker::Sync + 'static
    }
}

/// Returns the functions that set and count the calls of a method.
fn expect(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let vis = &of.item.vis;
    let conditions = &method.conditions;
    let (field, answer) = (field(method), answer(method));
    let plain = method.signature.ident.unraw();
    let (name, calls) = (
        format_ident!("expect_{plain}", span = plain.span()),
        format_ident!("calls_of_{plain}", span = plain.span()),
    );
    let doc = format!("Sets the function that `{plain}` calls from now on.");
    let doc_of_calls = format!("Returns the number of calls of `{plain}`.");
    quote! {
        #(#conditions)*
        #[doc = #doc]
        #vis fn #name(&self, __answer: impl #answer) -> &#krate::mock::Expectation<dyn #answer> {
            self.#field.answer(::__std::sync::Arc::new(__answer))
        }

        #(#conditions)*
        #[doc = #doc_of_calls]
        #vis fn #calls(&self) -> ::__core::primitive::u64 {
            self.#field.calls()
        }
    }
}

/// Returns the implementation of the trait's method.
fn called(of: &Interface, method: &Method) -> TokenStream {
    let conditions = &method.conditions;
    let field = field(method);
    let mut signature = if method.is_async() {
        asynchronous::boxed(&of.krate, &method.signature)
    } else {
        method.signature.clone()
    };
    let names = asynchronous::named(&mut signature);
    let called = quote!(self.#field.called()(#(#names),*));
    let body = if method.is_async() {
        quote! {
            let __result = #called;
            ::__std::boxed::Box::pin(::__core::future::ready(__result))
        }
    } else {
        called
    };
    quote! {
        #(#conditions)*
        #signature {
            #body
        }
    }
}
