//! Expansion of async methods, which keeps the trait object-safe.
//!
//! Callers see a method that returns a boxed future. A hidden method beside it returns the future
//! itself: a skeleton, which knows the object's type, polls that future in place. For manual
//! implementations of the trait, the hidden method defaults to the boxed one. `#[remote]` on the
//! `impl` block generates both from an `async fn`.
//!
//! Decision 008 has the reasons.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::visit_mut::VisitMut;
use syn::{
    FnArg, GenericParam, ImplItemFn, Lifetime, Pat, Path, ReceiverKind, ReturnType, Signature,
    TraitItemFn, Type, TypeFnPtr, TypeReference, parse_quote,
};

/// Returns the lifetime of a call, with a name that `user` does not use: the code in which the
/// lifetime is going to be in scope. The compiler shows it to users.
fn call_beside(user: &TokenStream) -> Lifetime {
    let mut name = String::from("call");
    while names_lifetime(user, &name) {
        name.push('_');
    }
    Lifetime::new(&format!("'{name}"), Span::call_site())
}

/// Returns true if the code has a lifetime or a label of this name, also in the arguments of
/// macros.
fn names_lifetime(code: &TokenStream, name: &str) -> bool {
    let mut is_behind_quote = false;
    code.clone().into_iter().any(|token| {
        let found = match &token {
            TokenTree::Group(group) => names_lifetime(&group.stream(), name),
            TokenTree::Ident(ident) => is_behind_quote && ident == name,
            _ => false,
        };
        is_behind_quote = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        found
    })
}

/// Returns the lifetime of a call, for methods without a body of the user.
fn call(of: &Signature) -> Lifetime {
    call_beside(&of.to_token_stream())
}

/// Returns the name of the hidden method.
pub(super) fn hidden(name: &Ident) -> Ident {
    format_ident!("__in_place_{}", name.unraw(), span = name.span())
}

/// Returns the type that a method resolves to.
pub(super) fn output(of: &Signature) -> Type {
    match &of.output {
        ReturnType::Default => parse_quote!(()),
        ReturnType::Type(_, ty) => (**ty).clone(),
    }
}

/// Returns the signature without `async`, with elided lifetimes replaced by the lifetime of the
/// call.
fn spelled(of: &Signature, call: &Lifetime) -> Signature {
    let mut of = of.clone();
    of.asyncness = None;
    for param in &mut of.generics.params {
        if let GenericParam::Lifetime(param) = param {
            // Named lifetimes must outlive the future.
            param.colon_token.get_or_insert_default();
            param.bounds.push(call.clone());
        }
    }
    of.generics
        .params
        .insert(0, GenericParam::Lifetime(parse_quote!(#call)));
    Elided(call.clone()).visit_signature_mut(&mut of);
    of
}

/// Returns the signature of an async method of an `impl` block, whose future lives as long as its
/// call. `around` is the rest of the block.
pub(super) fn implemented(of: &ImplItemFn, around: &TokenStream) -> Signature {
    let call = call_beside(&quote!(#of #around));
    let mut spelled = spelled(&of.sig, &call);
    spelled.asyncness = of.sig.asyncness;
    spelled
}

/// Returns the signature of the method that returns a boxed future.
pub(super) fn boxed(krate: &Path, of: &Signature) -> Signature {
    boxed_for(krate, of, &call(of))
}

fn boxed_for(krate: &Path, of: &Signature, call: &Lifetime) -> Signature {
    let mut of = spelled(of, call);
    let output = output(&of);
    of.output = parse_quote!(-> #krate::BoxFuture<#call, #output>);
    of
}

/// Returns the signature of the method that returns the future itself.
fn in_place(of: &Signature) -> Signature {
    let call = call(of);
    let mut of = spelled(of, &call);
    let output = output(&of);
    of.output = parse_quote! {
        -> impl ::__core::future::Future<Output = #output> + ::__core::marker::Send + #call
    };
    of
}

/// Replaces the patterns of the arguments by names of generated variables, and returns the names.
pub(super) fn named(of: &mut Signature) -> Vec<Ident> {
    renamed(of, |place, _| format_ident!("__argument_{place}"))
}

/// Removes `mut` from the patterns of the arguments, and returns their names. Generated names are
/// not possible in a trait, where nothing hides constants of the program.
fn plain(of: &mut Signature) -> Vec<Ident> {
    renamed(of, |place, pattern| match pattern {
        Pat::Ident(of) => of.ident.clone(),
        // An error is reported at the pattern.
        _ => format_ident!("__argument_{place}"),
    })
}

fn renamed(of: &mut Signature, name: impl Fn(usize, &Pat) -> Ident) -> Vec<Ident> {
    let mut names = Vec::new();
    for input in &mut of.inputs {
        if let FnArg::Typed(input) = input {
            let name = name(names.len(), &input.pat);
            input.pat = parse_quote!(#name);
            input.attrs.clear();
            names.push(name);
        }
    }
    names
}

/// Returns the two methods of the trait.
pub(super) fn declared(
    krate: &Path,
    of: &TraitItemFn,
    conditions: &[syn::Attribute],
) -> [TraitItemFn; 2] {
    let mut shown = of.clone();
    let call = call_beside(&of.to_token_stream());
    shown.sig = boxed_for(krate, &of.sig, &call);
    let resolved = output(&spelled(&of.sig, &call));
    shown.sig.output = parse_quote! {
        -> #krate::async_fn_needs_remote_on_the_impl_block!(#call, #resolved)
    };
    if let Some(body) = &of.default {
        // The first `return` fixes the type of the block. Constants of the program are in scope, so
        // the code has no variable.
        shown.default = Some(parse_quote!({
            ::__std::boxed::Box::pin(async move {
                if false {
                    return #krate::__private::no_result::<#resolved>();
                }
                #body
            })
        }));
    }
    let mut hidden_signature = in_place(&of.sig);
    let names = plain(&mut hidden_signature);
    let name = &of.sig.ident;
    hidden_signature.ident = hidden(name);
    hidden_signature
        .generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(Self: ::__core::marker::Sized));
    let place = parse_quote! {
        #(#conditions)*
        #[doc(hidden)]
        #[allow(deprecated, clippy::too_many_arguments, reason = "as the method that it stands for")]
        #hidden_signature {
            Self::#name(self, #(#names),*)
        }
    };
    [shown, place]
}

/// Generates the trait by which a skeleton calls the async methods of an object, for known types
/// and for trait objects.
pub(super) fn in_place_trait<'m>(
    interface: &TokenStream,
    methods: impl Iterator<Item = (&'m Signature, &'m [syn::Attribute])>,
) -> TokenStream {
    let (mut declared, mut known, mut unknown) = (Vec::new(), Vec::new(), Vec::new());
    for (of, conditions) in methods {
        let mut signature = in_place(of);
        let names = named(&mut signature);
        let (name, hidden) = (&of.ident, hidden(&of.ident));
        declared.push(quote!(#(#conditions)* #signature;));
        known.push(quote! {
            #(#conditions)*
            #signature {
                <Self as #interface>::#hidden(self, #(#names),*)
            }
        });
        unknown.push(quote! {
            #(#conditions)*
            #signature {
                <Self as #interface>::#name(self, #(#names),*)
            }
        });
    }
    quote! {
        trait __InPlace: #interface {
            #(#declared)*
        }

        impl<__Object: #interface> __InPlace for __Object {
            #(#known)*
        }

        impl __InPlace for dyn #interface {
            #(#unknown)*
        }
    }
}

/// Replaces elided lifetimes by the given one.
struct Elided(Lifetime);

impl VisitMut for Elided {
    fn visit_receiver_mut(&mut self, of: &mut syn::Receiver) {
        if let ReceiverKind::Reference(_, lifetime, _) = &mut of.kind {
            let lifetime = lifetime.get_or_insert_with(|| self.0.clone());
            self.visit_lifetime_mut(lifetime);
        }
    }

    fn visit_type_reference_mut(&mut self, of: &mut TypeReference) {
        of.lifetime.get_or_insert_with(|| self.0.clone());
        syn::visit_mut::visit_type_reference_mut(self, of);
    }

    fn visit_lifetime_mut(&mut self, of: &mut Lifetime) {
        if of.ident == "_" {
            *of = self.0.clone();
        }
    }

    /// Function pointer types have lifetimes of their own.
    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}
}
