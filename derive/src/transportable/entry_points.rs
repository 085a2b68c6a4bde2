//! Code by which the compiler meets the functions of all types of a chain before a generic one, so
//! that `recursion_limit` does not bound the length of the chain: the module `entry_points` of
//! `jstream` has the reason.

use proc_macro2::TokenStream;
use quote::quote;
use syn::Type;

use super::field::Mode;
use super::known;
use super::model::{Own, Part};

/// The functions of a trait.
///
/// `Restore` is not among the traits: a value that is restored is dropped, too, and the compiler
/// bounds how deep the functions that drop values are nested.
#[derive(Clone, Copy)]
pub(super) enum Functions {
    /// `Transportable::{write, write_back}`.
    Write,
    /// `InPlace::{read, verify, trace, describe}`.
    Read,
}

impl Functions {
    /// Returns the trait, and the functions that return the entry points of a type and of a field.
    fn names(self) -> (TokenStream, TokenStream, TokenStream) {
        match self {
            Self::Write => (quote!(Transportable), quote!(writing), quote!(written)),
            Self::Read => (quote!(InPlace), quote!(reading), quote!(read_in_place)),
        }
    }

    fn count(self) -> usize {
        match self {
            Self::Write => 2,
            Self::Read => 4,
        }
    }

    /// Returns the constants for the impl of the trait. The instances of a generic type share their
    /// functions, so the entry points are those of its arguments.
    pub(super) fn constants(self, of: &Own, asked: &TokenStream) -> TokenStream {
        let support = of.support();
        let (of_trait, of_type, of_field) = self.names();
        let count = self.count();
        let entry_points = if is_generic(of) {
            let params = of.generics.type_params().map(|param| &param.ident);
            let params = params.filter(|param| !of.is_phantom(param));
            quote! {
                #support::EntryPoints::NONE
                    #(.or(<#params as #support::#of_trait>::ENTRY_POINTS))*
            }
        } else {
            quote!(#support::#of_type::<Self>())
        };
        let parts = leading(of);
        let parts = (!parts.is_empty()).then(|| {
            let (name, (_, ty_generics, _)) = (&of.name, of.generics.split_for_impl());
            let parts = parts.iter().map(|(path, part)| {
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
            quote! {
                const PARTS: &'static [#support::EntryPoints<#count>] = {
                    #asked
                    &[#(#parts),*]
                };
            }
        });
        quote! {
            const ENTRY_POINTS: #support::EntryPoints<#count> = #entry_points;
            #parts
        }
    }

    /// Returns the first statement of the trait's function with this number.
    pub(super) fn meet(self, of: &Own, function: usize) -> Option<TokenStream> {
        let support = of.support();
        let (of_trait, ..) = self.names();
        let (count, parts) = (self.count(), leading(of).len());
        (parts > 0).then(|| {
            quote! {
                #support::meet(const {
                    &#support::entries::<#count, #parts>(
                        <Self as #support::#of_trait>::PARTS,
                        #function,
                    )
                });
            }
        })
    }
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
