//! The types of messages, made from those of arguments and results.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Lifetime, Type, TypeReference, parse_quote};

use super::parse::{Argument, Interface, Method};

/// What the stub takes for an argument: a message that the server is to keep is lent to the call.
/// The call needs it for as long as it is being sent, whatever lifetime the method names.
pub(super) fn stub_type(argument: &Argument) -> Type {
    if argument.streams().is_some() || argument.passes().is_some() {
        return for_all_time(&argument.ty);
    }
    let mut ty = match &argument.received {
        Some(of) => parse_quote!(&#of),
        None => argument.ty.clone(),
    };
    Lifetimes::Any.visit_type_mut(&mut ty);
    ty
}

/// What a mock's function takes for an argument.
pub(super) fn mock_type(argument: &Argument) -> Type {
    if argument.received.is_some() || argument.streams().is_some() || argument.passes().is_some() {
        return for_all_time(&argument.ty);
    }
    let mut ty = argument.ty.clone();
    Lifetimes::Any.visit_type_mut(&mut ty);
    ty
}

/// The type of the arguments' message, for all time.
pub(super) fn message(of: &Interface, method: &Method) -> TokenStream {
    match method.arguments.first() {
        Some(Argument {
            received: Some(whole),
            ..
        }) => {
            let whole = for_all_time(whole);
            quote!(#whole)
        }
        _ => {
            let result = method.streams().map(|_| number());
            let parts = method.arguments.iter().map(|argument| part(of, argument));
            let types = parts.chain(result);
            quote_spanned!(span(method)=> (#(#types,)*))
        }
    }
}

/// The type of what stands for an argument in the message.
fn part(of: &Interface, argument: &Argument) -> Type {
    match (argument.streams(), argument.passes()) {
        (Some(_), _) => number(),
        (None, Some(ty)) => wire(of, ty),
        (None, None) => for_all_time(&argument.ty),
    }
}

/// The type of what stands for references.
fn wire(of: &Interface, ty: &Type) -> Type {
    let (krate, ty) = (&of.krate, for_all_time(ty));
    parse_quote!(<#ty as #krate::Passed>::Wire)
}

/// What stands for a stream.
fn number() -> Type {
    parse_quote!(::core::primitive::u64)
}

/// The type of the result, for all time.
pub(super) fn result(method: &Method) -> Type {
    match &method.output {
        Some(ty) => for_all_time(ty),
        None => parse_quote!(()),
    }
}

/// The type of the message that ends the call: the result, or what says that a stream has ended.
pub(super) fn output(of: &Interface, method: &Method) -> Type {
    match (method.streams(), method.passes()) {
        (Some(_), _) => number(),
        (None, Some(ty)) => wire(of, ty),
        (None, None) => result(method),
    }
}

/// The type of a stream's items.
pub(super) fn item(of: &Type) -> Type {
    for_all_time(of)
}

/// Where errors about the arguments are shown: at the type, or at all arguments.
pub(super) fn span(method: &Method) -> Span {
    match method.arguments.as_slice() {
        [] => Span::call_site(),
        [only] => located(&only.ty),
        _ => Span::call_site().located_at(method.signature.paren_token.span.join()),
    }
}

/// Where errors about the result are shown.
pub(super) fn result_span(method: &Method) -> Span {
    method.output.as_ref().map_or_else(Span::call_site, located)
}

/// The crate `jstream_rmi`, as it is named where errors about the result are shown.
pub(super) fn krate_of_result(of: &Interface, method: &Method) -> TokenStream {
    let span = result_span(method);
    let tokens = of.krate.to_token_stream().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// Where errors about a type are shown.
fn located(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

/// Says of each argument's type that it can travel, in the same words wherever arguments are used:
/// the compiler shows an error that it has shown already only once.
pub(super) fn assertions(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let alone = method.arguments.len() == 1;
    // Arguments of an async method stay where they are; `Received` is handed over.
    let stays = |argument: &Argument| method.is_async() && argument.received.is_none();
    let plain = |argument: &&Argument| argument.streams().is_none() && argument.passes().is_none();
    let each = method.arguments.iter().filter(plain).map(|argument| {
        let new = if stays(argument) {
            quote!(new_async)
        } else {
            quote!(new)
        };
        let message = if alone {
            message(of, method)
        } else {
            let ty = for_all_time(&argument.ty);
            quote_spanned!(located(&argument.ty)=> (#ty,))
        };
        quote!(#new::<#message, ()>)
    });
    let whole = (!alone).then(|| {
        let message = message(of, method);
        quote!(new::<#message, ()>)
    });
    // What stands for references travels, if they do.
    let whole = whole.filter(|_| {
        method
            .arguments
            .iter()
            .all(|argument| argument.passes().is_none())
    });
    let arguments = method.arguments.iter().filter_map(Argument::streams);
    let streams = arguments.chain(method.streams()).map(|of| {
        let item = item(of);
        quote_spanned!(located(of)=> streams::<#item>)
    });
    let references = method.arguments.iter().filter_map(Argument::passes);
    let references = references.chain(method.passes()).map(|ty| {
        let all = for_all_time(ty);
        quote_spanned!(located(ty)=> passes::<#all>)
    });
    let all = references
        .chain(each)
        .chain(whole)
        .chain(streams)
        .map(|new| {
            quote! {
                let _ = #krate::__private::Method::#new;
            }
        });
    quote!(#(#all)*)
}

fn for_all_time(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Lifetimes::Static.visit_type_mut(&mut ty);
    ty
}

/// What is put in the place of all lifetimes.
enum Lifetimes {
    Static,
    Any,
}

impl Lifetimes {
    fn lifetime(&self) -> Lifetime {
        let name = match self {
            Self::Static => "'static",
            Self::Any => "'_",
        };
        Lifetime::new(name, Span::call_site())
    }
}

impl VisitMut for Lifetimes {
    fn visit_type_reference_mut(&mut self, of: &mut TypeReference) {
        of.lifetime = match self {
            Self::Static => Some(self.lifetime()),
            Self::Any => None,
        };
        syn::visit_mut::visit_type_mut(self, &mut of.elem);
    }

    fn visit_lifetime_mut(&mut self, of: &mut Lifetime) {
        *of = self.lifetime();
    }
}
