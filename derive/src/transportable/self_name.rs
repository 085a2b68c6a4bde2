//! The word `Self` in expressions that generated code repeats outside of the type.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Ident};

/// Replaces `Self` by a name in the value of a discriminant, which generated code repeats outside
/// of the type.
pub(super) fn without_self(value: &Expr, name: &Ident) -> Expr {
    fn replaced(tokens: TokenStream, name: &Ident) -> TokenStream {
        tokens
            .into_iter()
            .map(|token| match token {
                TokenTree::Group(of) => {
                    let mut group = Group::new(of.delimiter(), replaced(of.stream(), name));
                    group.set_span(of.span());
                    group.into()
                }
                TokenTree::Ident(of) if of == "Self" => {
                    let mut name = name.clone();
                    name.set_span(of.span());
                    name.into()
                }
                other => other,
            })
            .collect()
    }
    fn has_self(tokens: TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            TokenTree::Group(of) => has_self(of.stream()),
            TokenTree::Ident(of) => of == "Self",
            _ => false,
        })
    }
    let tokens = value.to_token_stream();
    // Literals are examined later.
    match has_self(tokens.clone()) {
        true => Expr::Verbatim(replaced(tokens, name)),
        false => value.clone(),
    }
}
