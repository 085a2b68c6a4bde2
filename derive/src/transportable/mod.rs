//! The derive macro `#[derive(Transportable)]`.

mod alias;
mod asked;
mod bare_path;
mod bounds;
mod check;
mod check_options;
mod check_rules;
mod check_types;
mod compare;
mod context;
mod covariant;
mod debug;
mod dummy;
mod entry_points;
mod expand;
mod expand_enum;
mod expand_struct;
mod field;
mod form;
mod known;
mod model;
mod parse;
mod phantom;
mod restorable;
mod restore;
mod rules;
mod self_name;

pub(crate) use self::alias::alias;
pub(crate) use self::check_rules::{Renamed, check_names};
pub(crate) use self::context::name_of;
pub(crate) use self::parse::names_of_option;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Result};

use crate::crates::resolve;

pub(crate) fn derive(input: TokenStream) -> TokenStream {
    match syn::parse2(input) {
        Ok(input) => derive_or_error(&input).unwrap_or_else(|error| {
            let (error, dummy) = (error.to_compile_error(), dummy::expand(&input));
            quote!(#error #dummy)
        }),
        Err(error) => error.to_compile_error(),
    }
}

fn derive_or_error(input: &DeriveInput) -> Result<TokenStream> {
    let of = parse::parse(input)?;
    check::check(&of)?;
    if of.has_form {
        let definition = form::definition(input, &of);
        let mut form = parse::parse(&definition)?;
        form::carry(&of, &mut form);
        check::check_form(&of, &form)?;
        let code = expand::with_form(&of, &form, &definition);
        Ok(resolve(code, &of.support()))
    } else {
        Ok(resolve(expand::own_form(&of, input), &of.support()))
    }
}
