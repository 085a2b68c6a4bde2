//! Source positions for errors in generated code.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The position of the first token of some user code.
///
/// All code generated for it gets this single position, because the compiler reports only the first
/// of several equal errors at one position.
#[derive(Clone, Copy)]
pub(crate) struct Place(Span);

impl Place {
    pub(crate) fn new(tokens: &impl ToTokens) -> Self {
        Self(first(tokens.to_token_stream()).unwrap_or_else(Span::call_site))
    }

    pub(crate) const fn at(span: Span) -> Self {
        Self(span)
    }

    /// Returns the same tokens, with the same name resolution, at this position.
    pub(crate) fn put(self, tokens: TokenStream) -> TokenStream {
        let of_each = tokens.into_iter().map(|token| self.put_one(token));
        of_each.collect()
    }

    fn put_one(self, token: TokenTree) -> TokenTree {
        let span = token.span();
        let mut token = match token {
            TokenTree::Group(of) => {
                TokenTree::Group(Group::new(of.delimiter(), self.put(of.stream())))
            }
            other => other,
        };
        token.set_span(span.located_at(self.0));
        token
    }
}

/// Returns the span of the first token, which may come from a macro of the program.
fn first(tokens: TokenStream) -> Option<Span> {
    match tokens.into_iter().next()? {
        TokenTree::Group(of) if of.delimiter() == Delimiter::None => first(of.stream()),
        token => Some(token.span()),
    }
}
