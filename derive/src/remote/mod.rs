//! `#[remote]`.

mod check;
mod expand;
mod parse;

use proc_macro2::TokenStream;

pub(crate) fn remote(options: TokenStream, item: TokenStream) -> TokenStream {
    let result = parse::parse(options, item.clone())
        .and_then(|of| check::check(&of).map(|()| expand::expand(&of)));
    // The trait stays, so that its users don't get errors of their own.
    result.unwrap_or_else(|error| {
        let error = error.to_compile_error();
        quote::quote!(#item #error)
    })
}
