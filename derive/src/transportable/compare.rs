//! `PartialEq` between a type and its form, by the option `compare`.
//!
//! The parts of options, slices, owners and maps, as they are spelled, are compared one by one. All
//! other values are compared by their `PartialEq`, which the option generates for types with forms
//! of their own.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{AngleBracketedGenericArguments, GenericArgument, Index, PathArguments, Type};
use syn::{GenericParam, parse_quote};

use super::context::args;
use super::field::Mode;
use super::form;
use super::model::{Own, Part};

/// Returns the impls that compare an owner and its form.
pub(super) fn expand(form: &Own, owner: &Own) -> TokenStream {
    if owner.options.compare.is_none() {
        return TokenStream::new();
    }
    let (name, form_name) = (&owner.name, &form.name);
    let mut generics = owner.generics.clone();
    for param in generics.type_params_mut() {
        param.default = None;
    }
    // The form has other arguments than the owner, which compare with those of the owner.
    for param in owner.values() {
        let (owned, placed) = (&param.ident, form_of(&param.ident));
        let mut with_bound: syn::TypeParam = parse_quote!(#placed);
        let is_unsized = param.bounds.iter().any(form::is_relaxed);
        if is_unsized {
            with_bound
                .bounds
                .push(parse_quote!(?::__core::marker::Sized));
        }
        generics.params.push(GenericParam::Type(with_bound));
        let compared = parse_quote!(#placed: ::__core::cmp::PartialEq<#owned>);
        generics.make_where_clause().predicates.push(compared);
    }
    generics.params.insert(0, parse_quote!('__b));
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let (_, owner_args, _) = owner.generics.split_for_impl();
    let form_args = args(form, quote!('__b), |param| {
        let placed = form_of(param);
        quote!(#placed)
    });
    let arms = owner.paths().into_iter().map(|(path, parts)| {
        let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
        let owned = parts.iter().map(Part::bound);
        let forms: Vec<_> = parts.iter().map(|part| form_of(&part.binding)).collect();
        let compared = parts.iter().zip(&forms).map(|(part, form)| {
            let binding = &part.binding;
            part.place
                .put(part.compare(owner, &quote!(#form), &quote!(#binding)))
        });
        quote! {
            (
                #form_name #path { #(#members: #forms @ _),* },
                #name #path { #(#members: #owned),* },
            ) => true #(&& #compared)*,
        }
    });
    quote! {
        #[automatically_derived]
        impl #impl_generics ::__core::cmp::PartialEq<#name #owner_args> for #form_name #form_args
        #where_clause
        {
            fn eq(&self, __other @ _: &#name #owner_args) -> ::__core::primitive::bool {
                match (self, __other) {
                    #(#arms)*
                    #[allow(unreachable_patterns, reason = "where there is one variant")]
                    _ => false,
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics ::__core::cmp::PartialEq<#form_name #form_args> for #name #owner_args
        #where_clause
        {
            fn eq(&self, __other @ _: &#form_name #form_args) -> ::__core::primitive::bool {
                ::__core::cmp::PartialEq::eq(__other, self)
            }
        }
    }
}

/// Returns the name for the form of what `owned` names.
fn form_of(owned: &syn::Ident) -> syn::Ident {
    format_ident!("__form_{}", super::name_of(owned))
}

impl Part {
    /// Returns the expression that compares a field of the form with that of the owner, both
    /// behind references.
    fn compare(&self, of: &Own, form: &TokenStream, owned: &TokenStream) -> TokenStream {
        let support = of.support();
        match self.mode(of) {
            // The form has no value of the sender.
            Mode::Skipped | Mode::EmptyPointer => quote!({
                let _ = (#form, #owned);
                true
            }),
            Mode::Replaced(adapter) => {
                quote!(#support::same_as_adapted(#adapter, #owned, #form))
            }
            Mode::Adapted(_) => quote!(#support::same(#owned, #form)),
            Mode::Plain | Mode::As(_) | Mode::Exclusive => {
                Comparison { support }.of_type(&self.ty, form, owned)
            }
        }
    }
}

/// The generator of comparisons by the spelling of types.
struct Comparison {
    support: TokenStream,
}

impl Comparison {
    fn of_type(&self, ty: &Type, form: &TokenStream, owned: &TokenStream) -> TokenStream {
        match ty {
            Type::Paren(of) => self.of_type(&of.elem, form, owned),
            Type::Group(of) => self.of_type(&of.elem, form, owned),
            Type::Reference(of) => self.of_target(&of.elem, form, owned),
            Type::Slice(of) => self.of_slice(&of.elem, form, owned),
            Type::Array(of) => self.of_slice(&of.elem, form, owned),
            Type::Tuple(of) => {
                let parts = of.elems.iter().enumerate().map(|(index, ty)| {
                    let index = Index::from(index);
                    self.of_type(
                        ty,
                        &quote!((&(*#form).#index)),
                        &quote!((&(*#owned).#index)),
                    )
                });
                quote!((true #(&& #parts)*))
            }
            Type::Path(of) => {
                let last = of.path.segments.last();
                let spelled = last.map(|last| (last.ident.to_string(), &last.arguments));
                let spelled = spelled.filter(|_| of.qself.is_none());
                spelled
                    .and_then(|(name, arguments)| self.of_path(&name, arguments, form, owned))
                    .unwrap_or_else(|| self.of_values(form, owned))
            }
            _ => self.of_values(form, owned),
        }
    }

    /// Compares two values by `PartialEq`.
    fn of_values(&self, form: &TokenStream, owned: &TokenStream) -> TokenStream {
        let support = &self.support;
        quote!(#support::same(#owned, #form))
    }

    /// Compares the targets of two pointers.
    fn of_target(&self, target: &Type, form: &TokenStream, owned: &TokenStream) -> TokenStream {
        self.of_type(target, &quote!((&**#form)), &quote!((&**#owned)))
    }

    /// Compares the elements of two values that can be borrowed as slices.
    fn of_slice(&self, element: &Type, form: &TokenStream, owned: &TokenStream) -> TokenStream {
        let (support, each) = (&self.support, self.function(element));
        quote!(#support::same_slices(#form, #owned, #each))
    }

    /// Returns a closure that compares a value with one of type `ty`.
    fn function(&self, ty: &Type) -> TokenStream {
        let same = self.of_type(ty, &quote!(__form), &quote!(__owned));
        quote!(|__form @ _, __owned @ _| #same)
    }

    /// Compares values of a type that is known by its name.
    fn of_path(
        &self,
        name: &str,
        arguments: &PathArguments,
        form: &TokenStream,
        owned: &TokenStream,
    ) -> Option<TokenStream> {
        let support = &self.support;
        let arguments: Vec<&Type> = match arguments {
            PathArguments::AngleBracketed(arguments) => types(arguments).collect(),
            _ => Vec::new(),
        };
        Some(match (name, &arguments[..]) {
            ("String" | "ArrayString" | "PathBuf" | "OsString" | "Bytes" | "BytesMut", _) => {
                quote!(#support::same(&**#owned, &**#form))
            }
            ("Vec" | "ArrayVec", [element, ..]) => self.of_slice(element, form, owned),
            ("SmallVec", [Type::Array(array)]) => self.of_slice(&array.elem, form, owned),
            ("Box" | "Rc" | "Arc" | "Cow" | "Shared", [target, ..]) => {
                self.of_target(target, form, owned)
            }
            ("Option", [payload]) => {
                let each = self.function(payload);
                quote!(#support::same_options(#form, #owned, #each))
            }
            ("Result", [ok, err]) => {
                let (ok, err) = (self.function(ok), self.function(err));
                quote!(#support::same_results(#form, #owned, #ok, #err))
            }
            ("BTreeMap", [key, value, ..]) => {
                let (key, value) = (self.function(key), self.function(value));
                quote!(#support::same_maps(#form.iter(), #owned.iter(), #key, #value))
            }
            ("HashMap" | "IndexMap", [key, value, ..]) => {
                let (key, value) = (self.function(key), self.function(value));
                quote!(#support::same_hashed_maps(#form.iter(), #owned.iter(), #key, #value))
            }
            ("BTreeSet", [key, ..]) => {
                let key = self.function(key);
                quote!(#support::same_sets(#form.iter(), #owned.iter(), #key))
            }
            ("HashSet" | "IndexSet", [key, ..]) => {
                let key = self.function(key);
                quote!(#support::same_hashed_sets(#form.iter(), #owned.iter(), #key))
            }
            _ => return None,
        })
    }
}

fn types(of: &AngleBracketedGenericArguments) -> impl Iterator<Item = &Type> {
    of.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}
