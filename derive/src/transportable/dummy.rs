//! Implementations for a type that the derive refused.
//!
//! The program does not compile, because the derive also emits its error. With these
//! implementations, the compiler does not report in addition that each use of the type lacks one.
//! Their functions do not return, so no value is written or read even if a crate that is called
//! `core` hides the error.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Type};

use super::model::Own;
use super::{form, parse};
use crate::crates::resolve;

/// Returns implementations whose functions do not return.
pub(super) fn expand(input: &DeriveInput) -> TokenStream {
    // If the options can't be parsed, there is no alias, and the crate has its usual name.
    let parsed = parse::parse(input).ok();
    if parsed.as_ref().is_some_and(is_unsized) {
        return TokenStream::new();
    }
    // An alias has one lifetime.
    let alias = parsed
        .as_ref()
        .filter(|of| of.lifetimes.len() <= 1)
        .map(form::alias);
    let support = parsed.map_or(quote!(::jstream::__private), |of| of.support());
    let name = &input.ident;
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    let code = quote! {
        #alias

        #[automatically_derived]
        unsafe impl #impl_generics #support::Transportable for #name #ty_generics #where_clause {
            type InPlace<'__b> = Self where Self: '__b;
            const WIRE_IS_MEMORY: ::__core::primitive::bool = false;

            unsafe fn write<'__b>(
                &'__b self,
                _: *mut Self::InPlace<'__b>,
                _: &mut #support::Draft<'__b>,
            ) {
                loop {}
            }
        }

        #[automatically_derived]
        unsafe impl #impl_generics #support::InPlace for #name #ty_generics #where_clause {
            const SHAPE: #support::Shape = #support::Shape::NOTHING;

            unsafe fn read(
                _: *mut Self,
                _: &mut #support::Pass<'_>,
            ) -> ::__core::result::Result<(), #support::Fault> {
                loop {}
            }

            unsafe fn trace(_: *const Self, _: &mut #support::Trace) {
                loop {}
            }

            fn describe(_: &mut #support::Schema) -> #support::TypeIndex {
                loop {}
            }
        }

        #[automatically_derived]
        unsafe impl #impl_generics #support::Covariant for #name #ty_generics #where_clause {}

        #[automatically_derived]
        impl #impl_generics #support::Restore for #name #ty_generics #where_clause {
            fn restore<'__b>(
                _: &Self::InPlace<'__b>,
                _: &mut #support::Restoring,
            ) -> ::__core::result::Result<Self, #support::RestoreError>
            where
                Self: '__b,
            {
                loop {}
            }
        }
    };
    resolve(code, &support)
}

/// Returns true if a field is spelled as a type without a size. The implementations would cause
/// more errors than they prevent.
fn is_unsized(of: &Own) -> bool {
    of.parts().iter().any(|part| match &part.ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(path) => path.path.is_ident("str"),
        _ => false,
    })
}
