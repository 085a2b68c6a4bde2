//! Types of messages, derived from those of arguments and results.
//!
//! Decision 077 has the reasons.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{GenericArgument, Lifetime, PathArguments, Type, TypeReference, parse_quote};

use super::interface::{Argument, Interface, Method, passed, plain};

/// Returns the argument type of the stub's method, in which [`sent`] is the lifetime of forms. A
/// message that the server keeps is borrowed by the call. The call needs it only while it is being
/// sent, regardless of the lifetime in the signature.
pub(super) fn stub_type(of: &Interface, argument: &Argument) -> Type {
    if argument.streams().is_some() || passed(&argument.ty) {
        return for_all_time(&argument.ty);
    }
    if let Some(form) = sent_form(argument) {
        return sent_type(of, form);
    }
    let mut ty = match &argument.received {
        Some(of) => parse_quote!(&#of),
        None => argument.ty.clone(),
    };
    Lifetimes::Any.visit_type_mut(&mut ty);
    ty
}

/// Returns the lifetime of the forms that a method of a stub takes.
pub(super) fn sent() -> Lifetime {
    Lifetime::new("'sent", Span::call_site())
}

/// The forms of maps and sets.
const FORMS: &[&str] = &[
    "HashedMap",
    "HashedSet",
    "IndexedMap",
    "IndexedSet",
    "SortedMap",
    "SortedSet",
];

/// Returns the `F` of an argument `&F` or `&[F]` whose name is that of a form.
pub(super) fn sent_form(argument: &Argument) -> Option<SentForm<'_>> {
    let Type::Reference(of) = plain(&argument.ty) else {
        return None;
    };
    let (element, slice) = match plain(&of.elem) {
        Type::Slice(of) => (plain(&of.elem), true),
        other => (other, false),
    };
    let Type::Path(path) = element else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let first = matches!(arguments.args.first(), Some(GenericArgument::Lifetime(_)));
    let name = last.ident.to_string();
    let of_form = name.ends_with("Ref") || FORMS.contains(&name.as_str());
    (first && of_form).then_some(SentForm { element, slice })
}

/// An argument that the derive may have generated as the form of another type.
pub(super) struct SentForm<'t> {
    element: &'t Type,
    slice: bool,
}

/// Returns the type of all arguments that are sent as a form.
fn sent_type(of: &Interface, form: SentForm<'_>) -> Type {
    let mut element = form.element.clone();
    let sent = sent();
    Lifetimes::Of(&sent).visit_type_mut(&mut element);
    let span = located(form.element);
    let krate = respanned(&of.krate, span);
    let each = quote_spanned!(span=> impl #krate::SentAs<#sent, #element>);
    if form.slice {
        parse_quote!(&#sent [#each])
    } else {
        parse_quote!(&#sent #each)
    }
}

/// Returns the argument type of a mock's function.
pub(super) fn mock_type(argument: &Argument) -> Type {
    if argument.received.is_some() || argument.streams().is_some() || passed(&argument.ty) {
        return for_all_time(&argument.ty);
    }
    let mut ty = argument.ty.clone();
    Lifetimes::Any.visit_type_mut(&mut ty);
    ty
}

/// Returns an argument from the receive buffer as the method takes it. A type that does not arrive
/// as itself is an error at the parameter.
pub(super) fn parameter(of: &Interface, argument: &Argument, name: &Ident) -> TokenStream {
    let mut ty = plain(&argument.ty).clone();
    Lifetimes::Any.visit_type_mut(&mut ty);
    let target = match &ty {
        Type::Reference(TypeReference { elem, .. }) => Some(elem),
        _ => None,
    };
    let span = located(target.map_or(&ty, |target| target));
    let krate = respanned(&of.krate, span);
    let name = respanned(name, span);
    match target {
        Some(target) => {
            quote_spanned!(span=> #krate::__private::argument(*#name).target::<#target>())
        }
        None => quote_spanned! {span=>
            #krate::__private::argument(#name).value::<#ty>()
        },
    }
}

/// Returns the type of the arguments' message, with `'static` lifetimes.
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

/// Returns the type that represents an argument in the message.
fn part(of: &Interface, argument: &Argument) -> Type {
    match (argument.streams(), argument.passes()) {
        (Some(_), _) => number(),
        (None, Some(ty)) => wire(of, &ty),
        (None, None) => for_all_time(&argument.ty),
    }
}

/// Returns the type that represents references in the message.
fn wire(of: &Interface, ty: &Type) -> Type {
    let (krate, ty) = (&of.krate, for_all_time(ty));
    parse_quote!(<#ty as #krate::Passed>::Wire)
}

/// Returns the type that represents a stream in the message.
fn number() -> Type {
    parse_quote!(::__core::primitive::u64)
}

/// Returns the type of the result, with `'static` lifetimes.
pub(super) fn result(method: &Method) -> Type {
    match &method.output {
        Some(ty) => for_all_time(ty),
        None => parse_quote!(()),
    }
}

/// Returns the type of the message that ends the call: the result, or the marker of a stream's end.
pub(super) fn output(of: &Interface, method: &Method) -> Type {
    match (method.streams(), method.passes()) {
        (Some(_), _) => number(),
        (None, Some(ty)) => wire(of, ty),
        (None, None) => result(method),
    }
}

/// Returns the type of a stream's items.
pub(super) fn item(of: &Type) -> Type {
    for_all_time(of)
}

/// Returns the span for errors of the arguments: that of a single type, or of all arguments.
pub(super) fn span(method: &Method) -> Span {
    match method.arguments.as_slice() {
        [] => Span::call_site(),
        [only] => located(&only.ty),
        _ => Span::call_site().located_at(method.signature.paren_token.span.join()),
    }
}

/// Returns the span for errors of the result.
pub(super) fn result_span(method: &Method) -> Span {
    method.output.as_ref().map_or_else(Span::call_site, located)
}

/// Returns the path of the crate `jstream_rmi` with the span for errors of the result.
pub(super) fn krate_of_result(of: &Interface, method: &Method) -> TokenStream {
    respanned(&of.krate, result_span(method))
}

/// Returns tokens with the span for errors of another part of the program.
pub(super) fn respanned(of: impl ToTokens, span: Span) -> TokenStream {
    let tokens = of.to_token_stream().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(token.span().located_at(span));
            token
        })
        .collect()
}

/// Returns the span for errors of a type.
fn located(ty: &Type) -> Span {
    Span::call_site().located_at(ty.span())
}

/// Returns assertions that the arguments' types are transportable. They have the same tokens
/// wherever the arguments are used, because the compiler shows equal errors only once.
pub(super) fn assertions(of: &Interface, method: &Method) -> TokenStream {
    let krate = &of.krate;
    let alone = method.arguments.len() == 1;
    // Arguments of an async method stay in place, whereas `Received` is passed by value.
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
    // The wire types of references are transportable if the references can be passed.
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
    let references = method.arguments.iter().filter_map(|argument| {
        let span = located(&argument.ty);
        if let Some(borrowed) = argument.borrows() {
            let element = for_all_time(borrowed.element());
            return Some(quote_spanned!(span=> lends::<#element>));
        }
        let all = for_all_time(&argument.passes()?);
        Some(quote_spanned!(span=> passes::<#all>))
    });
    let result_passes = method.passes().map(|ty| {
        let all = for_all_time(ty);
        quote_spanned!(located(ty)=> passes::<#all>)
    });
    let references = references.chain(result_passes);
    let all = references
        .chain(each)
        .chain(whole)
        .chain(streams)
        .map(|new| {
            quote! {
                let _ = #krate::__private::Method::#new;
            }
        });
    // The type of the result is checked as in the signature of the stub's method and as in the
    // table of methods, whose errors are at different tokens.
    let answered = method.one_way.is_none() && method.streams().is_none();
    let result = (answered && method.passes().is_none()).then(|| {
        let (krate, output) = (krate_of_result(of, method), output(of, method));
        quote_spanned! {result_span(method)=>
            let _ = ::__core::option::Option::None::<#krate::Call<#output>>;
            let _ = #krate::__private::Method::new::<(), #output>;
        }
    });
    quote!(#result #(#all)*)
}

/// Returns code that applies a function to each part of `value`, behind this many slices.
pub(super) fn for_each(
    of: &Interface,
    depth: usize,
    function: &TokenStream,
    value: &TokenStream,
) -> TokenStream {
    let Some(depth) = depth.checked_sub(1) else {
        return quote!(#function(#value));
    };
    let krate = &of.krate;
    let inner = for_each(of, depth, function, &quote!(__slice));
    quote!(#krate::__private::each(#value, |__slice| #inner))
}

/// Returns the type with `'static` lifetimes.
pub(super) fn for_all_time(ty: &Type) -> Type {
    let mut ty = ty.clone();
    Lifetimes::Static.visit_type_mut(&mut ty);
    ty
}

/// The replacement for all lifetimes.
enum Lifetimes<'l> {
    Static,
    Any,
    Of(&'l Lifetime),
}

impl Lifetimes<'_> {
    fn lifetime(&self) -> Lifetime {
        let name = match self {
            Self::Static => "'static",
            Self::Any => "'_",
            Self::Of(lifetime) => return (*lifetime).clone(),
        };
        Lifetime::new(name, Span::call_site())
    }
}

impl VisitMut for Lifetimes<'_> {
    fn visit_type_reference_mut(&mut self, of: &mut TypeReference) {
        of.lifetime = match self {
            Self::Static | Self::Of(_) => Some(self.lifetime()),
            Self::Any => None,
        };
        syn::visit_mut::visit_type_mut(self, &mut of.elem);
    }

    fn visit_lifetime_mut(&mut self, of: &mut Lifetime) {
        *of = self.lifetime();
    }
}
