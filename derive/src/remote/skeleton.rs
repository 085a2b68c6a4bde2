//! Generation of the skeleton, which calls the object.
//!
//! Synchronous methods of a shared object are called directly. All other methods are arms of a
//! single future, which owns the receive buffer and contains the method's own future.
//!
//! Decision 008 has the reasons.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::interface::{Borrowed, Instance, Interface, Method};
use super::{asynchronous, types};

pub(super) fn skeleton(of: &Interface, instance: &Instance) -> TokenStream {
    let krate = &of.krate;
    let interface = instance.interface(of);
    let exclusive = of.is_exclusive();
    let waits = |method: &&Method| exclusive || method.is_async() || method.streams().is_some();
    let sync_arms = instance.methods.iter().filter(|method| !waits(method));
    let sync_arms = sync_arms.map(|method| {
        let body = if method.arguments.is_empty() {
            bare(of, &interface, method)
        } else {
            plain(of, &interface, method, &read_arguments(of, method))
        };
        arm(
            method,
            &quote! {
                #body?;
                ::__core::result::Result::Ok(true)
            },
        )
    });
    let async_arms = instance.methods.iter().filter(waits);
    let async_arms = async_arms.map(|method| {
        let lock_turn = exclusive.then(|| lock_turn(of, method));
        let body = if method.is_async() {
            asynchronous(of, method)
        } else {
            plain(of, &interface, method, &read(of, method))
        };
        arm(method, &quote!(#lock_turn #body))
    });
    let holder = if exclusive {
        quote!(#krate::Exclusive<__Object>)
    } else {
        quote!(::__std::sync::Arc<__Object>)
    };
    let mut asynchronous = instance.methods.iter().filter(|method| method.is_async());
    let (bound, in_place) = if asynchronous.clone().next().is_some() {
        let methods = asynchronous
            .by_ref()
            .map(|method| (&method.signature, &*method.conditions));
        let in_place = asynchronous::in_place_trait(&interface, methods);
        (quote!(__InPlace), Some(in_place))
    } else {
        (quote!(#interface), None)
    };
    let called =
        quote!(::__core::result::Result<::__core::primitive::bool, #krate::__private::Failed>);
    quote! {
        #in_place

        #[automatically_derived]
        impl<__Object: #bound + ?::__core::marker::Sized> #krate::Skeleton<__Object> for dyn #interface {
            type Holder = #holder;

            fn call(
                __object: &#holder,
                __method: ::__core::primitive::usize,
                __call: &mut #krate::__private::Incoming,
            ) -> #called {
                match __method {
                    #(#sync_arms)*
                    _ => ::__core::result::Result::Ok(false),
                }
            }

            async fn run(
                __object: #holder,
                __method: ::__core::primitive::usize,
                __call: #krate::__private::Incoming,
            ) -> ::__core::result::Result<(), #krate::__private::Failed> {
                match __method {
                    #(#async_arms)*
                    _ => {
                        ::__core::result::Result::Err(#krate::__private::Failed::UnknownMethod)
                    }
                }
            }
        }
    }
}

fn arm(method: &Method, body: &TokenStream) -> TokenStream {
    let conditions = &method.conditions;
    let name = &method.signature.ident;
    quote! {
        #(#conditions)*
        _ if __method == __Method::#name as ::__core::primitive::usize => {
            #body
        }
    }
}

/// Returns code that waits for access to the object.
fn lock_turn(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    if method.is_exclusive() {
        quote!(let mut __object = #krate::Exclusive::write(&__object).await;)
    } else {
        quote!(let __object = #krate::Exclusive::read(&__object).await;)
    }
}

/// Returns the object on which a method is called.
fn object(method: &Method) -> TokenStream {
    if method.is_exclusive() {
        quote!(&mut *__object)
    } else {
        quote!(&*__object)
    }
}

/// Returns true if the method receives the whole message.
fn keeps(method: &Method) -> bool {
    matches!(method.arguments.as_slice(), [only] if only.received.is_some())
}

/// Returns the names of the message's parts.
fn parts(method: &Method) -> Vec<Ident> {
    let arguments = (0..method.arguments.len()).map(|i| format_ident!("__argument_{i}"));
    let result = method.streams().map(|_| format_ident!("__stream"));
    arguments.chain(result).collect()
}

/// Returns code that converts parts to streams and references, and the arguments of the method.
fn arguments(of: &Interface, method: &Method) -> (TokenStream, Vec<TokenStream>) {
    let (mut made, mut arguments) = (TokenStream::new(), Vec::new());
    // All references are taken before any of them or another argument can fail: those that are not
    // taken are not given back.
    let mut checked = TokenStream::new();
    for (argument, name) in method.arguments.iter().zip(parts(method)) {
        if let Some(item) = argument.streams().map(types::item) {
            checked.extend(quote!(let #name = __answer.argument::<#item>(*#name)?;));
        } else if let Some(ty) = argument.passes() {
            let ty = types::item(&ty);
            made.extend(quote!(let #name = __answer.references::<#ty>(#name);));
            checked.extend(quote!(let #name = #name?;));
            let krate = &of.krate;
            arguments.push(match argument.borrows() {
                None => quote!(#name),
                Some(Borrowed::One(_)) => quote!(&#name),
                Some(Borrowed::Slices(depth, _)) => {
                    let mut lists = name.clone();
                    // From the inside out, each list of lists becomes a list of slices.
                    for around in (0..depth.saturating_sub(1)).rev() {
                        let slices = format_ident!("{lists}_slices");
                        let function = quote!(#krate::__private::slices);
                        let made = types::for_each(of, around, &function, &quote!(&#lists));
                        checked.extend(quote!(let #slices = #made;));
                        lists = slices;
                    }
                    quote!(::__std::vec::Vec::as_slice(&#lists))
                }
            });
            continue;
        } else {
            arguments.push(types::parameter(of, argument, &name));
            continue;
        }
        arguments.push(quote!(#name));
    }
    made.extend(checked);
    (made, arguments)
}

/// Returns code that takes the call apart and reads the arguments.
fn read(of: &Interface, method: &Method) -> TokenStream {
    let message = types::message(of, method);
    let assertions = types::assertions(of, method);
    // Sending a stream consumes the answer.
    let mutable = method.streams().is_none().then(|| quote!(mut));
    let read = quote_spanned! {types::span(method)=>
        let (__message, #mutable __answer) = __call.into_parts();
        let __arguments = __answer.arguments::<#message>(__message)?;
    };
    quote!(#assertions #read)
}

/// Returns code that reads the arguments and leaves the call in place.
fn read_arguments(of: &Interface, method: &Method) -> TokenStream {
    let message = types::message(of, method);
    let assertions = types::assertions(of, method);
    let read = quote_spanned! {types::span(method)=>
        let (__arguments, __answer) = __call.arguments::<#message>()?;
    };
    quote!(#assertions #read)
}

/// Returns code that reads the arguments, calls a method with references to them, and replies.
fn plain(
    of: &Interface,
    interface: &TokenStream,
    method: &Method,
    read: &TokenStream,
) -> TokenStream {
    let krate = &of.krate;
    let name = &method.signature.ident;
    let object = object(method);
    if keeps(method) {
        let called = quote_spanned! {types::result_span(method)=>
            <__Object as #interface>::#name(#object, __arguments)
        };
        let reply = reply(method, &called);
        return quote!(#read #reply);
    }
    let parts = parts(method);
    let (made, arguments) = arguments(of, method);
    let call = quote_spanned! {types::result_span(method)=>
        <__Object as #interface>::#name(#object, #(#arguments),*)
    };
    let result = if method.streams().is_some() {
        let failed = quote!(#krate::__private::Failed);
        quote!(::__core::result::Result::Ok::<_, #failed>((#call, *__stream)))
    } else if method.arguments.iter().any(|of| of.borrows().is_some()) {
        // The result may refer to arguments that are dropped at the end of the block.
        let reply = reply(method, &call);
        quote!(let __replied = #reply; __replied)
    } else {
        reply(method, &call)
    };
    let visit = quote_spanned! {types::span(method)=>
        #krate::Received::with(&__arguments, |__arguments| {
            let (#(#parts,)*) = __arguments;
            #made
            #result
        })
    };
    if method.streams().is_some() {
        return items(&quote!(#read let (__result, __stream) = #visit?;));
    }
    quote!(#read #visit)
}

/// Returns code that calls a method without arguments and leaves the call in place.
fn bare(of: &Interface, interface: &TokenStream, method: &Method) -> TokenStream {
    let (name, object) = (&method.signature.ident, object(method));
    let assertions = types::assertions(of, method);
    let answer = quote_spanned! {types::span(method)=>
        let __answer = __call.no_arguments()?;
    };
    let call = quote_spanned! {types::result_span(method)=>
        <__Object as #interface>::#name(#object)
    };
    let reply = reply(method, &call);
    quote!(#assertions #answer #reply)
}

/// Returns code that replies with a result.
fn reply(method: &Method, result: &TokenStream) -> TokenStream {
    let span = types::result_span(method);
    match method.passes().map(types::item) {
        Some(ty) => quote_spanned!(span=> __answer.give::<#ty>(#result)),
        None => quote_spanned!(span=> __answer.reply(&#result)),
    }
}

/// Returns code that sends the items of a stream after releasing the object and the arguments.
fn items(method: &TokenStream) -> TokenStream {
    quote! {
        let (__answer, __result, __stream) = {
            #method
            (__answer, __result, __stream)
        };
        ::__core::mem::drop(__object);
        __answer.stream(__result, __stream).await
    }
}

/// Returns code that calls an async method, and replies.
fn asynchronous(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let name = &method.signature.ident;
    let (read, object) = (read(of, method), object(method));
    if keeps(method) {
        let called = quote_spanned! {types::result_span(method)=>
            __InPlace::#name(#object, __arguments).await
        };
        let reply = reply(method, &called);
        return quote!(#read #reply);
    }
    let parts = parts(method);
    let message = types::message(of, method);
    // A value that is kept across an await must have a type that names no lifetime, because the
    // compiler forgets that the lifetime is `'static`.
    let get = quote_spanned! {types::span(method)=>
        struct __Arguments(#krate::Received<#message>);
        let __arguments = __Arguments(__arguments);
        let (#(#parts,)*) = #krate::Received::get(&__arguments.0);
    };
    let (made, arguments) = arguments(of, method);
    let result = quote_spanned! {types::result_span(method)=>
        let __result = __InPlace::#name(#object, #(#arguments),*).await;
    };
    if method.streams().is_some() {
        return items(&quote!(#read #get #made #result let __stream = *__stream;));
    }
    let reply = reply(method, &quote!(__result));
    quote!(#read #get #made #result #reply)
}
