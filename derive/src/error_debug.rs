//! The derive `ErrorDebug`: `{:?}` of an error is its sentence, `{:#?}` its structure.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Field, Fields, Ident, Member, Result, Type, parse_quote};

use crate::errors::Errors;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    expand(input).unwrap_or_else(|error| error.to_compile_error())
}

fn expand(input: TokenStream) -> Result<TokenStream> {
    let DeriveInput {
        ident: name,
        mut generics,
        data,
        ..
    } = syn::parse2(input)?;
    let mut errors = Errors::default();
    let mut printed = Vec::new();
    let mut arm = |path: TokenStream, name: &Ident, fields: &Fields| {
        let result = self::arm(&path, name, fields, &mut printed);
        result.unwrap_or_else(|error| {
            errors.add(error);
            TokenStream::new()
        })
    };
    let arms: Vec<TokenStream> = match &data {
        Data::Struct(of) => vec![arm(quote!(Self), &name, &of.fields)],
        Data::Enum(of) => {
            let variants = of.variants.iter();
            let arm = variants.map(|variant| {
                let name = &variant.ident;
                arm(quote!(Self::#name), name, &variant.fields)
            });
            arm.collect()
        }
        Data::Union(of) => {
            let text = "a union has no structure to print";
            return Err(Error::new(of.union_token.span, text));
        }
    };
    errors.finish()?;
    // A parameter that no printed field has needs no `Debug`.
    let params: BTreeSet<String> = generics
        .type_params()
        .map(|param| param.ident.to_string())
        .collect();
    printed.retain(|ty| names_one_of(ty.to_token_stream(), &params));
    let bounds = &mut generics.make_where_clause().predicates;
    for ty in printed {
        bounds.push(parse_quote!(#ty: ::core::fmt::Debug));
    }
    let (impl_generics, type_generics, bounds) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::core::fmt::Debug for #name #type_generics #bounds {
            fn fmt(
                &self,
                __formatter: &mut ::core::fmt::Formatter<'_>,
            ) -> ::core::fmt::Result {
                if !::core::fmt::Formatter::alternate(__formatter) {
                    return ::core::fmt::Display::fmt(self, __formatter);
                }
                match self {
                    #(#arms)*
                }
            }
        }
    })
}

/// Returns the arm that prints a struct or a variant, and adds the types of its fields to
/// `printed`.
fn arm(
    path: &TokenStream,
    name: &Ident,
    fields: &Fields,
    printed: &mut Vec<Type>,
) -> Result<TokenStream> {
    let name = name.unraw().to_string();
    let mut calls = TokenStream::new();
    let mut patterns = Vec::new();
    let mut skips = false;
    for (member, field) in fields.members().zip(fields) {
        if is_skipped(field)? {
            skips = true;
            continue;
        }
        printed.push(field.ty.clone());
        let binding = format_ident!("__{}", patterns.len());
        calls.extend(match &member {
            Member::Named(name) => {
                let name = name.unraw().to_string();
                quote!(.field(#name, #binding))
            }
            Member::Unnamed(_) => quote!(.field(#binding)),
        });
        patterns.push(quote!(#member: #binding));
    }
    let begin = match fields {
        Fields::Unnamed(_) => quote!(debug_tuple),
        Fields::Named(_) | Fields::Unit => quote!(debug_struct),
    };
    let end = if skips {
        quote!(finish_non_exhaustive)
    } else {
        quote!(finish)
    };
    Ok(quote! {
        #path { #(#patterns,)* .. } => {
            ::core::fmt::Formatter::#begin(__formatter, #name) #calls .#end()
        }
    })
}

/// Returns true for a field with `#[error_debug(skip)]`.
fn is_skipped(field: &Field) -> Result<bool> {
    let mut skip = false;
    for attribute in &field.attrs {
        if attribute.path().is_ident("error_debug") {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    skip = true;
                    Ok(())
                } else {
                    Err(meta.error("unknown option: of a field, `error_debug` takes `skip`"))
                }
            })?;
        }
    }
    Ok(skip)
}

/// Returns true if one of the names occurs among the tokens.
fn names_one_of(tokens: TokenStream, names: &BTreeSet<String>) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(of) => names_one_of(of.stream(), names),
        TokenTree::Ident(name) => names.contains(&name.to_string()),
        _ => false,
    })
}
