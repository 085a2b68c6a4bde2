//! Names of crates in generated code.
//!
//! A program can give any crate the names `core` and `std` (`extern crate other as core;`), so
//! generated code does not use them. The macros write `::__core::mem::size_of`, and [`resolve`]
//! replaces the beginning by the path of the crate that the support module exports.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::meta::ParseNestedMeta;
use syn::{Path, Result, Token};

/// The names that stand for crates of the standard library in the macros.
pub(crate) const MARKS: [&str; 2] = ["__core", "__std"];

/// Returns the path of the module of a crate that has the items for generated code.
pub(crate) fn support(krate: &Path) -> TokenStream {
    quote!(#krate::__private)
}

/// Replaces `::__core` and `::__std` by the crates that the support module exports.
pub(crate) fn resolve(code: TokenStream, support: &TokenStream) -> TokenStream {
    let mut resolved: Vec<TokenTree> = Vec::new();
    for token in code {
        match token {
            TokenTree::Group(of) => {
                let mut group = Group::new(of.delimiter(), resolve(of.stream(), support));
                group.set_span(of.span());
                resolved.push(group.into());
            }
            TokenTree::Ident(name)
                if MARKS.iter().any(|mark| name == mark) && ends_with_colons(&resolved) =>
            {
                // The path of the support module takes the place of the two colons.
                resolved.truncate(resolved.len().saturating_sub(2));
                let span = name.span();
                resolved.extend(support.clone().into_iter().map(|mut token| {
                    token.set_span(token.span().located_at(span));
                    token
                }));
                resolved.extend(if name == "__core" {
                    quote_spanned!(span=> ::core)
                } else {
                    quote_spanned!(span=> ::std)
                });
            }
            other => resolved.push(other),
        }
    }
    resolved.into_iter().collect()
}

fn ends_with_colons(tokens: &[TokenTree]) -> bool {
    let is_colon =
        |token: &TokenTree| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ':');
    matches!(tokens, [.., one, other] if is_colon(one) && is_colon(other))
}

/// Parses the value of the option `crate = unsafe(path)`.
pub(crate) fn trusted_path(meta: &ParseNestedMeta<'_>) -> Result<Path> {
    let value = meta.value()?;
    if !value.peek(Token![unsafe]) {
        return Err(value.error(
            "write `crate = unsafe(path)`: the generated code is only sound if the path leads to \
             the crate `jstream`",
        ));
    }
    let _: Token![unsafe] = value.parse()?;
    let path;
    syn::parenthesized!(path in value);
    path.call(Path::parse_mod_style)
}
