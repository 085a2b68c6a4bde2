//! The attribute `#[remote]`.

mod asynchronous;
mod attributes;
mod check;
mod dummy;
mod expand;
mod implementation;
mod instances;
mod interface;
mod mock;
mod parse;
mod referring;
mod skeleton;
mod stub;
mod table;
mod types;

pub(crate) use self::referring::referring;

use proc_macro2::TokenStream;
use quote::quote;

use crate::crates::{resolve, support};
use crate::errors::Errors;

pub(crate) fn remote(options: TokenStream, item: TokenStream) -> TokenStream {
    if let Ok(of) = syn::parse2(item.clone()) {
        return implementation::implementation(options, of);
    }
    let mut errors = Errors::default();
    let of = parse::parse(options, item.clone(), &mut errors);
    if let Some(of) = &of {
        check::check(of, &mut errors);
    }
    let errors = errors.finish().err().map(|all| all.to_compile_error());
    // After an error, the items that other code uses are still generated, to avoid further errors.
    let Some(of) = of else {
        return quote!(#item #errors);
    };
    let code = match errors {
        None => expand::expand(&of),
        Some(errors) => {
            let dummy = dummy::dummy(&of);
            quote!(#dummy #errors)
        }
    };
    resolve(code, &support(&of.krate))
}
