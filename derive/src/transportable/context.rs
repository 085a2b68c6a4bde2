//! Parts that the generators of impls share: the type, its generics, and the bodies of the impls.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{GenericParam, Generics, Ident, TypeParam, parse_quote};

use super::bounds;
use super::model::Own;

/// Values that all impls share.
pub(super) struct Context<'o> {
    pub(super) of: &'o Own,
    /// Path of the support module for generated code.
    pub(super) support: TokenStream,
    /// Generics with the bound `InPlace` on each type parameter.
    pub(super) placed: Generics,
    /// Arguments of the form in a buffer with the lifetime `'__b`.
    pub(super) form_args: TokenStream,
}

impl<'o> Context<'o> {
    pub(super) fn new(of: &'o Own) -> Self {
        let support = of.support();
        let form_args = args(
            of,
            quote!('__b),
            |param| quote!(<#param as #support::Transportable>::InPlace<'__b>),
        );
        let mut placed = with_bound(of, &quote!(#support::InPlace));
        bounds::add_of_defaults(&mut placed, of);
        Self {
            of,
            placed,
            form_args,
            support,
        }
    }
}

/// Returns the generics for an impl: with an additional bound on each type parameter that is not
/// phantom, without defaults.
pub(super) fn with_bound(of: &Own, bound: &TokenStream) -> Generics {
    let mut generics = of.generics.clone();
    for param in generics.type_params_mut() {
        if !of.is_phantom(&param.ident) {
            param.bounds.push(parse_quote!(#bound));
        }
        param.default = None;
    }
    generics
}

/// Returns generic arguments: the given lifetime, and the result of `of_type` for each type
/// parameter that is not phantom.
pub(super) fn args(
    of: &Own,
    lifetime: TokenStream,
    of_type: impl Fn(&Ident) -> TokenStream,
) -> TokenStream {
    let args = of.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => lifetime.clone(),
        GenericParam::Type(TypeParam { ident, .. }) if of.is_phantom(ident) => quote!(#ident),
        GenericParam::Type(TypeParam { ident, .. }) => of_type(ident),
        GenericParam::Const(of) => of.ident.to_token_stream(),
    });
    quote!(<#(#args),*>)
}

/// Functions and constants of the two impls.
pub(super) struct Bodies {
    pub(super) wire_is_memory: TokenStream,
    pub(super) write: TokenStream,
    /// `None` if the value can't be written back field by field.
    pub(super) write_back: Option<TokenStream>,
    pub(super) shape: TokenStream,
    pub(super) read: TokenStream,
    pub(super) verify: TokenStream,
    pub(super) trace: TokenStream,
    pub(super) kind: TokenStream,
    /// Items beside the impls.
    pub(super) beside: TokenStream,
}

/// Returns a name without the prefix of raw identifiers.
pub(crate) fn name_of(ident: &impl ToString) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}
