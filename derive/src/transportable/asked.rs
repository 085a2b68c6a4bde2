//! Assertions on the types of fields, on which generated code relies.
//!
//! Each function with the same requirements makes the same assertions with the same tokens, at the
//! position of the field's type. The compiler reports equal errors only once. Errors that it would
//! report for the code behind the assertions concern the same types at the same position, and are
//! suppressed as well.
//!
//! Decision 006 has the reasons.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;

use super::context::args;
use super::field::Mode;
use super::model::{Own, Part};
use super::restorable;

/// Requirement of a generated function on the fields.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// Fields can be sent.
    Travel,
    /// Fields can be read in place.
    Stand,
    /// Fields can be restored from their forms.
    Restore,
}

/// Returns the assertions on all fields of a type. They are the same in each function with the same
/// requirement, so that the compiler reports an error once.
pub(super) fn asked(of: &Own, need: Need) -> TokenStream {
    if of.parts().is_empty() {
        return TokenStream::new();
    }
    let name = &of.name;
    let arms = of.paths().into_iter().map(|(path, parts)| {
        let members = parts.iter().map(|part| &part.member);
        let bindings = parts.iter().map(Part::bound);
        let asks = parts.iter().map(|part| part.ask(of, need));
        quote!(#name #path { #(#members: #bindings),* } => { #(#asks)* })
    });
    let (_, ty_generics, _) = of.generics.split_for_impl();
    // The closure is never called.
    quote!(let _ = |__of @ _: &#name #ty_generics| match __of { #(#arms)* };)
}

/// Returns the assertions that all fields can be restored, if the type can be. `write` of a type
/// that is its own form makes them, too: for a field that borrows behind an alias, the compiler
/// would report there that data does not live long enough. Its type parameters need not be
/// restored, so `generic` is false there.
pub(super) fn asked_restored(of: &Own, generic: bool) -> Option<TokenStream> {
    if of.parts().is_empty() || !restorable::is_possible(of) {
        return None;
    }
    let (name, support) = (&of.name, of.support());
    let arms = of.paths().into_iter().map(|(path, parts)| {
        let members = parts.iter().map(|part| &part.member);
        let bindings = parts.iter().map(Part::bound);
        let asks = parts.iter().map(|part| {
            let binding = &part.binding;
            part.place.put(match part.mode(of) {
                Mode::Plain | Mode::EmptyPointer | Mode::As(_) if generic || part.is_own(of) => {
                    quote!(#support::asked(#binding).is_restored();)
                }
                _ => quote!(let _ = #binding;),
            })
        });
        quote!(#name #path { #(#members: #bindings),* } => { #(#asks)* })
    });
    let (_, ty_generics, _) = of.generics.split_for_impl();
    Some(quote!(let _ = |__of @ _: &#name #ty_generics| match __of { #(#arms)* };))
}

/// Returns the assertions on the fields of a type with a separate form, and that their forms match
/// the form's fields. They are used in the functions of both types. For generic types there are
/// none, because the functions of the form lack the necessary bounds.
pub(super) fn asked_of_owner(owner: &Own, form: &Own, need: Need) -> Option<TokenStream> {
    if owner.generics.type_params().next().is_some() {
        return None;
    }
    if owner.parts().is_empty() {
        return Some(TokenStream::new());
    }
    let (name, form_name) = (&owner.name, &form.name);
    let arms = owner.paths().into_iter().map(|(path, parts)| {
        let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
        let bindings = parts.iter().map(Part::bound);
        let forms: Vec<_> = parts
            .iter()
            .map(|part| format_ident!("{}_form", part.binding))
            .collect();
        let asks = parts.iter().zip(&forms).map(|(part, form)| {
            let ask = part.ask(owner, need);
            let ask_form = part.ask_form(owner, form);
            quote!(#ask #ask_form)
        });
        quote! {
            (
                #name #path { #(#members: #bindings),* },
                #form_name #path { #(#members: #forms @ _),* },
            ) => { #(#asks)* }
        }
    });
    let (_, ty_generics, _) = owner.generics.split_for_impl();
    // If the owner borrows, its form has the same lifetime, because a form with cells is invariant.
    let lifetime = owner.generics.lifetimes().next().map(|of| &of.lifetime);
    let lifetime = lifetime.map_or(quote!('_), |of| quote!(#of));
    let form_args = args(form, lifetime, |param| quote!(#param));
    Some(quote! {
        let _ = |__both @ _: (&#name #ty_generics, &#form_name #form_args)| match __both {
            #(#arms)*
            #[allow(unreachable_patterns, reason = "where there is one variant")]
            _ => {}
        };
    })
}

impl Part {
    /// Returns the assertions on the field that `binding` refers to.
    pub(super) fn ask(&self, of: &Own, need: Need) -> TokenStream {
        let (support, binding) = (of.support(), &self.binding);
        let asked = quote!(#support::asked(#binding));
        let questions = match self.mode(of) {
            Mode::Skipped if need == Need::Travel => quote!(let _ = #binding;),
            Mode::Skipped => quote!(#asked.has_a_default();),
            Mode::Adapted(adapter) => quote! {
                #asked.has_an_adapter(#adapter);
                #asked.fits_an_adapter(#adapter);
            },
            Mode::Replaced(adapter) => {
                quote!(#asked.has_an_adapter(#adapter);)
            }
            Mode::As(mirror) => {
                let of_mirror =
                    self.ask_type(of, need, &quote!(#support::check_type_of::<#mirror>()));
                quote!(#of_mirror #asked.is_like::<#mirror, _>();)
            }
            _ => self.ask_type(of, need, &asked),
        };
        self.place.put(questions)
    }

    /// Returns the assertions on a type.
    fn ask_type(&self, of: &Own, need: Need, asked: &TokenStream) -> TokenStream {
        if self.is_own(of) {
            quote!(#asked.arrives_as_itself();)
        } else if need == Need::Stand {
            quote!(#asked.is_in_place();)
        } else {
            quote!(#asked.travels();)
        }
    }

    /// Returns the assertion that the form of the field behind `binding` is the type behind `form`.
    pub(super) fn ask_form(&self, of: &Own, form: &Ident) -> TokenStream {
        let (support, binding) = (of.support(), &self.binding);
        let asked = quote!(#support::check_type_with_form(#binding, #form));
        self.place.put(match self.mode(of) {
            Mode::Replaced(adapter) => {
                quote!(#asked.agree_through_adapter(#adapter);)
            }
            Mode::Plain | Mode::EmptyPointer => quote!(#asked.agree();),
            Mode::Skipped => quote!(#support::asked(#form).has_a_default();),
            _ => quote!(let _ = #form;),
        })
    }
}
