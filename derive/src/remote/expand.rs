//! The trait, the stub and the skeleton of an interface.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemTrait, parse_quote};

use super::parse::Interface;
use super::{skeleton, stub};

pub(super) fn expand(of: &Interface) -> TokenStream {
    let conditions = &of.conditions;
    let item = shared_trait(of);
    let structure = stub::structure(of);
    let numbers = skeleton::numbers(of);
    let stub = stub::implementation(of, of.methods.iter(), |method| stub::body(of, method));
    let remotable = skeleton::remotable(of);
    quote! {
        #item
        #structure

        #(#conditions)*
        #[allow(
            dead_code,
            deprecated,
            non_camel_case_types,
            clippy::double_must_use,
            clippy::too_many_arguments,
            reason = "names, arguments and attributes are those of the trait's methods"
        )]
        const _: () = {
            #numbers
            #stub
            #remotable
        };
    }
}

/// The trait, of which objects can be shared between threads.
pub(super) fn shared_trait(of: &Interface) -> ItemTrait {
    let mut item = of.item.clone();
    item.supertraits.push(parse_quote!(::core::marker::Send));
    item.supertraits.push(parse_quote!(::core::marker::Sync));
    item.supertraits.push(parse_quote!('static));
    item.colon_token.get_or_insert_default();
    item
}
