//! `#[derive(Transportable)]`.

mod check;
mod expand;
mod expand_enum;
mod parse;

use proc_macro2::TokenStream;
use syn::DeriveInput;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    let result = syn::parse2::<DeriveInput>(input)
        .and_then(|input| parse::parse(&input))
        .and_then(|of| check::check(&of).map(|()| expand::expand(&of)));
    result.unwrap_or_else(|error| error.to_compile_error())
}
