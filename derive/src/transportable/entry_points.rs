//! Code by which the compiler meets the functions of all types of a chain before a generic one, so
//! that `recursion_limit` does not bound the length of the chain: the module `entry_points` of
//! `jstream` has the reason.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

use super::field::Mode;
use super::known;
use super::model::{Own, Part};

/// A chain of functions of a trait.
///
/// `Restore` is not among the traits: a value that is restored is dropped, too, and the compiler
/// bounds how deep the functions that drop values are nested.
#[derive(Clone, Copy)]
pub(super) enum Chain {
    /// `Transportable::{write, write_back}`.
    Write,
    /// `InPlace::{read, verify, trace, describe}`.
    Read,
}

impl Chain {
    /// Returns the trait, the first function of the chain, and the function that returns the entry
    /// point of a field.
    fn names(self) -> (TokenStream, TokenStream, TokenStream) {
        match self {
            Self::Write => (quote!(Transportable), quote!(WRITE), quote!(written)),
            Self::Read => (quote!(InPlace), quote!(READ), quote!(read_in_place)),
        }
    }

    /// Returns the constant for the impl of the trait. The instances of a generic type share their
    /// functions, so the entry point is that of its arguments.
    pub(super) fn entry_point(self, of: &Own) -> TokenStream {
        let support = of.support();
        let (of_trait, first, _) = self.names();
        let entry_point = if is_generic(of) {
            let params = of.generics.type_params().map(|param| &param.ident);
            let params = params.filter(|param| !of.is_phantom(param));
            quote! {
                #support::EntryPoint::NONE
                    #(.or(<#params as #support::#of_trait>::ENTRY_POINT))*
            }
        } else {
            quote!(#support::Chain::<Self>::#first)
        };
        quote!(const ENTRY_POINT: #support::EntryPoint = #entry_point;)
    }

    /// Returns the statement that names the entry points of the fields. It relies on the assertions
    /// on their types in the same function.
    pub(super) fn name_entry_points(self, of: &Own) -> Option<TokenStream> {
        let support = of.support();
        let (_, _, of_field) = self.names();
        let (name, (_, ty_generics, _)) = (&of.name, of.generics.split_for_impl());
        let parts = leading(of);
        let entry_points = parts.iter().map(|(path, part)| {
            let (member, binding, bound) = (&part.member, &part.binding, part.bound());
            part.place.put(quote! {
                #support::#of_field(|__of: &#name #ty_generics| match __of {
                    #name #path { #member: #bound, .. } => {
                        ::__core::option::Option::Some(#binding)
                    }
                    #[allow(unreachable_patterns, reason = "where there is one variant")]
                    _ => ::__core::option::Option::None,
                })
            })
        });
        (!parts.is_empty()).then(|| quote!(#support::link(const { &[#(#entry_points),*] });))
    }
}

/// Returns the statement that names the `next` function of the type.
pub(super) fn link(of: &Own, next: &str) -> Option<TokenStream> {
    let (support, next) = (of.support(), format_ident!("{next}"));
    let is_end = leading(of).is_empty();
    (!is_end).then(|| quote!(#support::link(#support::Chain::<Self>::#next);))
}

fn is_generic(of: &Own) -> bool {
    of.generics.type_params().next().is_some() || of.generics.const_params().next().is_some()
}

/// Returns the fields that may lead to a derived type, with the paths of their variants.
fn leading(of: &Own) -> Vec<(TokenStream, &Part)> {
    if is_generic(of) {
        return Vec::new();
    }
    let paths = of.paths().into_iter();
    let all = paths.flat_map(|(path, parts)| parts.iter().map(move |part| (path.clone(), part)));
    all.filter(|(_, part)| !is_leaf(&part.ty) && is_sent_by_its_type(&part.mode(of)))
        .collect()
}

fn is_sent_by_its_type(mode: &Mode) -> bool {
    !matches!(mode, Mode::Skipped | Mode::Adapted(_) | Mode::Replaced(_))
}

fn is_leaf(of: &Type) -> bool {
    match of {
        Type::Path(of) => of.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            name == "String" || known::is_leaf(&of.path, &name)
        }),
        Type::Reference(of) => is_leaf(&of.elem),
        _ => false,
    }
}
