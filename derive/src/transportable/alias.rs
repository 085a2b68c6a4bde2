//! The macro `alias!`: type aliases that can be the types of fields.
//!
//! The derive maps the names of types to those of their forms and can't see what an alias stands
//! for. So the macro defines the form of the alias beside it, under the name that the derive
//! expects.

use proc_macro2::TokenStream;
use quote::quote;
use syn::meta::ParseNestedMeta;
use syn::parse::{Parse, ParseStream};
use syn::{DeriveInput, Error, Item, ItemType, Path, Result, parse_quote};

use super::model::Own;
use super::{bare_path, form, parse};
use crate::crates::{resolve, trusted_path};

/// The aliases in the braces of the macro.
struct Aliases(Vec<ItemType>);

impl Parse for Aliases {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut aliases = Vec::new();
        while !input.is_empty() {
            match input.parse()? {
                Item::Type(alias) => aliases.push(alias),
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "`alias!` takes type aliases, such as `type Name = String;`",
                    ));
                }
            }
        }
        Ok(Self(aliases))
    }
}

pub(crate) fn alias(input: TokenStream) -> TokenStream {
    let aliases = syn::parse2(input);
    let code = aliases.and_then(|Aliases(aliases)| aliases.into_iter().map(one).collect());
    code.unwrap_or_else(|error: Error| error.to_compile_error())
}

/// Returns an alias and its form.
fn one(mut alias: ItemType) -> Result<TokenStream> {
    let krate = take_crate(&mut alias)?;
    if let Some(lifetime) = alias.generics.lifetimes().nth(1) {
        return Err(Error::new_spanned(
            lifetime,
            "a transportable type has one lifetime at most, which is that of the receive buffer",
        ));
    }
    let of = as_field(&alias, krate)?;
    let ty = form::of_alias(&of, &alias.ty);
    let (vis, name, generics) = (&alias.vis, form::name(&alias.ident), form::generics(&of));
    let import = bare_path::import(&of);
    let doc = format!("The in-place form of [`{}`].", alias.ident);
    let code = quote! {
        #alias
        #import
        #[doc = #doc]
        #[allow(
            dead_code, non_camel_case_types, type_alias_bounds, unused_lifetimes,
            reason = "used by the forms of types that have fields of this type"
        )]
        #vis type #name #generics = #ty;
    };
    Ok(resolve(code, &of.support()))
}

/// Removes the options from an alias, and returns the path of the crate `jstream` if there is one.
fn take_crate(alias: &mut ItemType) -> Result<Option<Path>> {
    let mut krate = None;
    for attr in &alias.attrs {
        if attr.path().is_ident("transportable") {
            attr.parse_nested_meta(|meta: ParseNestedMeta<'_>| {
                if !meta.path.is_ident("crate") {
                    return Err(meta.error(
                        "unknown option: on an alias, `transportable` takes `crate = unsafe(path)`",
                    ));
                }
                krate = Some(trusted_path(&meta)?);
                Ok(())
            })?;
        }
    }
    alias
        .attrs
        .retain(|attr| !attr.path().is_ident("transportable"));
    Ok(krate)
}

/// Returns the description of a struct with one field of the type that an alias stands for.
fn as_field(alias: &ItemType, krate: Option<Path>) -> Result<Own> {
    let (name, generics, ty) = (&alias.ident, &alias.generics, &alias.ty);
    let input: DeriveInput = parse_quote!(struct #name #generics (#ty););
    let mut of = parse::parse(&input)?;
    of.options.krate = krate;
    Ok(of)
}
