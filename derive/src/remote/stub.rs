//! Generation of the stub, which has the methods for clients.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Type};

use super::interface::{Argument, Borrowed, Instance, Interface, Method};
use super::types;
use crate::shield::shield;

pub(super) fn name(of: &Interface) -> Ident {
    format_ident!("{}Stub", of.item.ident)
}

/// Returns the type of the stub of an instance.
pub(super) fn named(of: &Interface, instance: &Instance) -> TokenStream {
    let (name, arguments) = (name(of), &instance.arguments);
    quote!(#name #arguments)
}

/// Returns the definition of the stub.
pub(super) fn structure(of: &Interface) -> TokenStream {
    let Interface {
        krate, conditions, ..
    } = of;
    let vis = &of.item.vis;
    let name = name(of);
    let doc = format!(
        "A stub that calls the methods of a [`{}`] on another node.",
        of.item.ident.unraw()
    );
    let mut generics = of.item.generics.clone();
    generics.where_clause = None;
    let mut types = Vec::new();
    for param in &mut generics.params {
        match param {
            GenericParam::Type(of) => {
                of.colon_token = None;
                of.bounds.clear();
                of.default = None;
                let name = &of.ident;
                types.push(quote!(#name));
            }
            GenericParam::Const(of) => {
                of.default = None;
            }
            // Lifetimes are rejected, but the stub is still generated to avoid further errors.
            GenericParam::Lifetime(of) => {
                let name = &of.lifetime;
                types.push(quote!(&#name ()));
            }
        }
    }
    let (parameters, arguments, _) = generics.split_for_impl();
    let (instance, unknown) = if types.is_empty() {
        (None, None)
    } else {
        let of = quote!(::__core::marker::PhantomData);
        (
            Some(quote!(instance: #of<fn() -> (#(#types,)*)>,)),
            Some(quote!(instance: #of,)),
        )
    };
    let text = name.unraw().to_string();
    let code = quote! {
        #[automatically_derived]
        impl #parameters ::__core::clone::Clone for #name #arguments {
            fn clone(&self) -> Self {
                Self { object: ::__core::clone::Clone::clone(&self.object), #unknown }
            }
        }

        #[automatically_derived]
        impl #parameters ::__core::fmt::Debug for #name #arguments {
            fn fmt(&self, __formatter: &mut ::__core::fmt::Formatter<'_>) -> ::__core::fmt::Result {
                ::__core::fmt::Formatter::debug_struct(__formatter, #text)
                    .field("object", &self.object)
                    .finish()
            }
        }

        #[automatically_derived]
        impl #parameters #krate::Stub for #name #arguments {
            fn new(__object: #krate::Object) -> Self {
                Self { object: __object, #unknown }
            }

            fn object(&self) -> &#krate::Object {
                &self.object
            }
        }
    };
    let shield = shield(&quote!(#krate::__private), &code, &of.item);
    quote! {
        #(#conditions)*
        #[doc = #doc]
        #[allow(dead_code, reason = "a server may not use it")]
        #vis struct #name #parameters {
            object: #krate::Object,
            #instance
        }

        #(#conditions)*
        const _: () = {
            #shield
            #code
        };
    }
}

/// Returns the `impl` block of the stub; `body` returns the body of each method.
pub(super) fn implementation<'m>(
    of: &Interface,
    instance: &Instance,
    methods: impl Iterator<Item = &'m Method>,
    body: impl Fn(&Method) -> TokenStream,
) -> TokenStream {
    let name = named(of, instance);
    let methods = methods.map(|method| {
        let body = body(method);
        function(of, method, &body)
    });
    quote! {
        impl #name {
            #(#methods)*
        }
    }
}

fn function(of: &Interface, method: &Method, body: &TokenStream) -> TokenStream {
    let vis = &of.item.vis;
    let attrs = &method.attrs;
    let name = &method.signature.ident;
    let arguments = method.arguments.iter().map(|argument| {
        let name = &argument.name;
        let ty = types::stub_type(of, argument);
        quote!(#name: #ty)
    });
    let mut forms = method.arguments.iter().filter_map(types::sent_form);
    let generics = forms.next().map(|_| {
        let sent = types::sent();
        quote!(<#sent>)
    });
    let result = result(of, method);
    let (promise, lint) = if method.streams().is_some() {
        (
            "Sends the call. The stream yields the items, or the error of the call.",
            None,
        )
    } else if method.one_way.is_some() {
        let text = "Sends the call, and does not wait. Success does not mean that the method runs.";
        (
            text,
            Some(quote!(#[allow(clippy::missing_errors_doc, reason = "see above")])),
        )
    } else {
        (
            "Sends the call. Wait for the returned value to get the result.",
            None,
        )
    };
    quote! {
        #(#attrs)*
        ///
        #[doc = #promise]
        #lint
        #vis fn #name #generics(&self, #(#arguments),*) -> #result {
            #body
        }
    }
}

/// Returns the result type of a stub's method.
fn result(of: &Interface, method: &Method) -> TokenStream {
    if method.one_way.is_some() {
        let krate = &of.krate;
        return quote!(::__core::result::Result<(), #krate::CallError>);
    }
    let krate = types::krate_of_result(of, method);
    if let Some(item) = method.streams() {
        let item = types::item(item);
        return quote_spanned!(types::result_span(method)=> #krate::Stream<#item>);
    }
    if let Some(ty) = method.passes() {
        let ty = types::item(ty);
        return quote_spanned!(types::result_span(method)=> #krate::RemoteCall<#ty>);
    }
    let output = types::output(of, method);
    quote_spanned!(types::result_span(method)=> #krate::Call<#output>)
}

/// Returns the references of an argument by value. Those that the caller lends are copied. An error
/// about their type has the position of the assertion about it.
fn owned(of: &Interface, argument: &Argument) -> TokenStream {
    let (krate, name) = (&of.krate, &argument.name);
    let Some(borrowed) = argument.borrows() else {
        return quote!(#name);
    };
    let (lend, around) = match borrowed {
        Borrowed::One(_) => (quote!(lend), 0),
        Borrowed::Slices(depth, _) => (quote!(lend_slice), depth.saturating_sub(1)),
    };
    let element = types::item(borrowed.element());
    let lent = types::for_each(of, around, &quote!(__lend), &quote!(#name));
    quote!({
        let __lend = #krate::__private::#lend::<#element>;
        #lent
    })
}

/// Returns code that sends a call.
pub(super) fn body(of: &Interface, instance: &Instance, method: &Method) -> TokenStream {
    if let (Some(place), Some(item)) = (method.resumes_at(), method.streams()) {
        return resumed_body(of, instance, method, (place, item));
    }
    let krate = &of.krate;
    let interface = instance.interface(of);
    let name = &method.signature.ident;
    let names = method.arguments.iter().map(|argument| {
        let name = &argument.name;
        match (argument.streams().map(types::item), argument.passes()) {
            (Some(item), _) => quote!(__carried.send::<#item>(#name)),
            (None, Some(_)) => {
                let owned = owned(of, argument);
                quote!(__carried.give(#owned))
            }
            (None, None) => quote!(#name),
        }
    });
    let taken = method.streams().map(types::item);
    let names = names.chain(taken.as_ref().map(|_| quote!(__number)));
    let arguments = match method.arguments.as_slice() {
        [only] if only.received.is_some() => quote!(#(#names)*),
        _ => quote!(&(#(#names,)*)),
    };
    let assertions = types::assertions(of, method);
    let output = types::output(of, method);
    let span = types::span(method);
    let takes = method
        .arguments
        .iter()
        .any(|of| of.streams().is_some() || of.passes().is_some());
    let mutable = (takes || taken.is_some()).then(|| quote!(mut));
    let carried = method
        .carries()
        .then(|| quote!(let #mutable __carried = #krate::Object::carried(__object);));
    let take = taken
        .as_ref()
        .map(|item| quote!(let (__taken, __number) = __carried.take::<#item>();));
    let passed = method.passes().map(types::item);
    let send = match (&taken, &carried) {
        _ if passed.is_some() => quote_spanned!(span=> fetch::<_, #passed>),
        (Some(item), _) => quote_spanned!(span=> stream::<_, #item>),
        (None, Some(_)) => quote_spanned!(span=> call_with::<_, #output>),
        (None, None) if method.one_way.is_some() => quote_spanned!(span=> send),
        (None, None) => quote_spanned!(span=> call::<_, #output>),
    };
    let more = carried.as_ref().map(|_| quote!(__carried,));
    let more = more
        .into_iter()
        .chain(taken.as_ref().map(|_| quote!(__taken,)));
    let call = quote_spanned! {span=>
        let __arguments = #arguments;
        __object.#send(
            <dyn #interface as #krate::Remotable>::interface(),
            __Method::#name as ::__core::primitive::usize,
            __arguments,
            #(#more)*
        )
    };
    // References and streams among the arguments belong to one connection.
    let object = match carried {
        Some(_) => quote! {
            let __current = #krate::Object::current(&self.object);
            let __object: &#krate::Object = &__current;
        },
        None => quote!(let __object = &self.object;),
    };
    quote! {
        #assertions
        #object
        #carried
        #take
        #call
    }
}

/// Returns code that sends a call whose stream is resumed. `place` is the place of the argument
/// that gets the number of the next item. The arguments are kept as a message. For each attempt,
/// they are read from it, and are sent with the number of the next item and that of the stream.
fn resumed_body(
    of: &Interface,
    instance: &Instance,
    method: &Method,
    (place, item): (usize, &Type),
) -> TokenStream {
    let krate = &of.krate;
    let interface = instance.interface(of);
    let name = &method.signature.ident;
    let names = method.arguments.iter().map(|argument| &argument.name);
    let parts: Vec<_> = (0..method.arguments.len())
        .map(|i| format_ident!("__argument_{i}"))
        .collect();
    let arguments = method.arguments.iter().zip(&parts).enumerate();
    let arguments = arguments.map(|(i, (argument, part))| {
        if i != place {
            return types::parameter(of, argument, part);
        }
        let (ty, span) = (types::item(&argument.ty), argument.ty.span());
        let krate = types::respanned(krate, span);
        quote_spanned! {Span::call_site().located_at(span)=>
            <#ty as #krate::__private::ItemNumber>::advanced(*#part, __items)?
        }
    });
    let assertions = types::assertions(of, method);
    let message = types::message(of, method);
    let item = types::item(item);
    let table = quote! {
        <dyn #interface as #krate::Remotable>::interface(),
        __Method::#name as ::__core::primitive::usize
    };
    quote! {
        #assertions
        #krate::Object::resumed_stream::<_, #message, #item>(
            &self.object,
            #table,
            &(#(#names,)* 0u64,),
            |__object, __arguments, __items| {
                let (#(#parts,)* _) = __arguments;
                let mut __carried = #krate::Object::carried(__object);
                let (__taken, __number) = __carried.take::<#item>();
                let __arguments = &(#(#arguments,)* __number,);
                ::__core::option::Option::Some(__object.stream::<_, #item>(
                    #table,
                    __arguments,
                    __carried,
                    __taken,
                ))
            },
        )
    }
}
