//! Conversion from a form back to the type that owns its parts.

use proc_macro2::TokenStream;
use quote::quote;

use super::asked::{Need, asked, asked_of_owner, asked_restored};
use super::bounds;
use super::context::{Context, with_bound};
use super::model::{Body, Own, Part};
use super::restorable;

/// Returns the code that restores a value of the type from its form. There is none if the fields'
/// types show that this is not possible.
pub(super) fn expand(context: &Context<'_>, of: &Own) -> TokenStream {
    if !restorable::is_possible(of) {
        return TokenStream::new();
    }
    let support = &context.support;
    let (name, form_name) = (&of.name, &context.of.name);
    let form_args = &context.form_args;
    let mut restored = with_bound(of, &quote!(#support::Restore));
    bounds::add_of_forms(&mut restored, of);
    let (impl_generics, _, where_clause) = restored.split_for_impl();
    let (_, ty_generics, _) = of.generics.split_for_impl();
    let body = match &of.body {
        Body::Struct(parts) => fields(of, &quote!(#name), &quote!(#form_name), parts),
        Body::Enum(variants) => variants
            .iter()
            .map(|variant| {
                let variant_name = &variant.name;
                let (owner, form) = (
                    quote!(#name::#variant_name),
                    quote!(#form_name::#variant_name),
                );
                fields(of, &owner, &form, &variant.parts)
            })
            .collect(),
        Body::Union(_) => return TokenStream::new(),
    };
    let generic =
        of.generics.type_params().next().is_some() || of.generics.const_params().next().is_some();
    let method = (form_name != name && !generic).then(|| {
        let visible = &of.vis;
        quote! {
            impl<'__b> #form_name #form_args {
                /// Returns the owned value of this form, made from copies of all parts.
                ///
                /// # Errors
                ///
                /// If the graph is deeper than 128 pointers, or an adapter refuses a part.
                #visible fn to_owned(
                    &self,
                ) -> ::__core::result::Result<#name, #support::RestoreError> {
                    #support::restore::<#name>(self)
                }
            }
        }
    });
    let owner = Some(of).filter(|of| of.has_form);
    let of_owner = owner.and_then(|of| asked_of_owner(of, context.of, Need::Restore));
    let asked = of_owner.unwrap_or_else(|| {
        let restored = asked_restored(of, true);
        let asked = asked(of, Need::Restore);
        quote!(#asked #restored)
    });
    let is_copy = match &of.body {
        Body::Struct(parts) if form_name == name => is_copy(of, parts, &asked),
        _ => None,
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #support::Restore for #name #ty_generics #where_clause {
            #is_copy

            #[inline]
            fn restore<'__b>(
                __form @ _: &#form_name #form_args,
                __restoring: &mut #support::Restoring,
            ) -> ::__core::result::Result<Self, #support::RestoreError>
            where
                Self: '__b,
            {
                #asked
                ::__core::result::Result::Ok(match __form {
                    #body
                })
            }
        }

        #method
    }
}

/// Returns the constant that permits to copy slices of a struct that is its own form.
fn is_copy(of: &Own, parts: &[Part], asked: &TokenStream) -> Option<TokenStream> {
    if parts.is_empty() {
        return None;
    }
    let this = quote!(Self);
    let parts = parts.iter().map(|part| {
        let member = &part.member;
        part.is_copy(of, &this, &quote!(&raw const (*__of).#member))
    });
    Some(quote! {
        const IS_COPY: ::__core::primitive::bool = {
            #asked
            #(#parts)&&*
        };
    })
}

/// Returns a match arm that makes a struct or variant from its form.
fn fields(of: &Own, owner: &TokenStream, form: &TokenStream, parts: &[Part]) -> TokenStream {
    let members = parts.iter().map(|part| &part.member);
    let bindings = parts.iter().map(Part::bound);
    let values = parts.iter().map(|part| {
        let member = &part.member;
        let value = part.restore(of);
        quote!(#member: #value)
    });
    quote!(#form { #(#members: #bindings),* } => #owner { #(#values),* },)
}
