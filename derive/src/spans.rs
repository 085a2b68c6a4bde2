//! Where errors about generated code belong.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::ToTokens;

/// The first token of what somebody wrote.
///
/// All that is generated for it gets this one place: of errors about one type in one place the
/// compiler gives only the first.
#[derive(Clone, Copy)]
pub(crate) struct Place(Span);

impl Place {
    pub(crate) fn of(tokens: &impl ToTokens) -> Self {
        Self(first(tokens.to_token_stream()).unwrap_or_else(Span::call_site))
    }

    /// The same tokens, which mean what they meant, as if they had been written here.
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

/// The place of the first token, where a macro of the program got it from.
fn first(tokens: TokenStream) -> Option<Span> {
    match tokens.into_iter().next()? {
        TokenTree::Group(of) if of.delimiter() == Delimiter::None => first(of.stream()),
        token => Some(token.span()),
    }
}
