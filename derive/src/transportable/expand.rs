//! Code for a type and its in-place form.
//!
//! If unsafe code relies on the types of fields, they are inferred from the fields themselves
//! and not spelled out. A pattern without `..` that binds by reference proves that no field is
//! missing and that none is packed.

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use super::asked::{Need, asked, asked_of_owner, asked_restored};
use super::context::{Bodies, Context, args, name_of, with_bound};
use super::entry_points::{Chain, link};
use super::model::{Body, Own};
use super::{
    bare_path, bounds, compare, covariant, debug, expand_enum, expand_struct, form, restore, rules,
};
use crate::shield::shield;
use crate::spans::Place;

/// Returns the code for a type that is its own form.
pub(super) fn own_form(of: &Own, definition: &DeriveInput) -> TokenStream {
    let alias = form::alias(of);
    let impls = expand(of, None, definition);
    quote! {
        #alias
        #impls
    }
}

/// Returns the code for a type that owns its parts, and for its form.
pub(super) fn with_form(of: &Own, form: &Own, definition: &DeriveInput) -> TokenStream {
    let derives = &of.options.derives;
    let derives = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let impls = expand(form, Some(of), definition);
    let import = bare_path::import(of);
    quote! {
        #import
        #derives
        #[allow(
            dead_code, non_camel_case_types,
            reason = "created by reading; the program may use only a part"
        )]
        #definition
        #impls
    }
}

/// Returns the impls of a form, and of the type that it is the form of.
fn expand(of: &Own, owner: Option<&Own>, definition: &DeriveInput) -> TokenStream {
    let context = Context::new(of);
    let bodies = match &of.body {
        Body::Struct(parts) => expand_struct::of_struct(&context, parts),
        Body::Enum(variants) => expand_enum::of_enum(&context, variants),
        Body::Union(_) => return TokenStream::new(),
    };
    let transportable = transportable(
        &context,
        of,
        owner,
        (
            Some(&bodies.wire_is_memory),
            &bodies.write,
            bodies.write_back.as_ref(),
        ),
    );
    let in_place = in_place(&context, &bodies, owner);
    let covariant = covariant::implemented(&context);
    let early = early(&context);
    let restore = restore::expand(&context, owner.unwrap_or(of));
    let implements = implements(owner.unwrap_or(of));
    let program = rules::program_code(owner.unwrap_or(of));
    let debug = owner.map(|owner| debug::expand(of, owner));
    let compare = owner.map(|owner| compare::expand(of, owner));
    let owner = owner.map(|owner| of_owner(&context, owner));
    let beside = &bodies.beside;
    let code = quote! {
        #beside
        #transportable
        #in_place
        #covariant
        #early
        #owner
        #restore
        #debug
        #compare
        #implements
    };
    let shield = shield(&context.support, &code, &quote!(#definition #program));
    quote! {
        #[allow(
            clippy::all, clippy::pedantic, clippy::restriction, missing_docs, non_camel_case_types,
            single_use_lifetimes, unreachable_pub, unused_lifetimes, unused_qualifications,
            reason = "generated code"
        )]
        const _: () = {
            #shield
            #code
        };
    }
}

/// Returns the impls of a type with a separate form.
fn of_owner(form: &Context<'_>, owner: &Own) -> TokenStream {
    let support = &form.support;
    let name = &owner.name;
    let write = match &owner.body {
        Body::Struct(parts) => expand_struct::write_struct(owner, name, parts),
        Body::Enum(variants) => expand_enum::write_enum(form, owner, variants),
        Body::Union(_) => TokenStream::new(),
    };
    let transportable = transportable(form, owner, Some(owner), (None, &write, None));
    let (_, ty_generics, where_clause) = owner.generics.split_for_impl();
    let mut covariant = with_bound(owner, &quote!(#support::Covariant));
    owner.make_phantoms_static(&mut covariant);
    let (covariant_generics, ..) = covariant.split_for_impl();
    let is_covariant = !form.of.is_invariant() && !owner.has_generic_default();
    let covariant = is_covariant.then(|| {
        quote! {
            // SAFETY: the form is covariant, as its own impl proves.
            #[automatically_derived]
            unsafe impl #covariant_generics #support::Covariant for #name #ty_generics
            #where_clause {}
        }
    });
    quote! {
        #transportable
        #covariant
    }
}

/// Returns assertions on a form at its definition, which reading would evaluate later. For a
/// generic type they can't be evaluated early, since its instances are not known.
fn early(context: &Context<'_>) -> TokenStream {
    let Context { of, support, .. } = context;
    if of.generics.type_params().next().is_some() || of.generics.const_params().next().is_some() {
        return TokenStream::new();
    }
    let name = &of.name;
    let args = args(of, quote!('static), |param| quote!(#param));
    Place::new(name).put(quote!(const _: () = #support::assert_form::<#name #args>();))
}

/// Returns the impl of `Transportable`, for a form itself or for the type that it is the form of,
/// whose memory is never its wire form.
fn transportable(
    form: &Context<'_>,
    of: &Own,
    owner: Option<&Own>,
    (wire_is_memory, write, write_back): (Option<&TokenStream>, &TokenStream, Option<&TokenStream>),
) -> TokenStream {
    let Context {
        support, form_args, ..
    } = form;
    let (name, form_name) = (&of.name, &form.of.name);
    let mut sent = with_bound(of, &quote!(#support::Transportable));
    bounds::add_of_forms(&mut sent, of);
    let (impl_generics, _, where_clause) = sent.split_for_impl();
    let (_, ty_generics, _) = of.generics.split_for_impl();
    let of_owner = owner.and_then(|owner| asked_of_owner(owner, form.of, Need::Travel));
    let asked = of_owner.unwrap_or_else(|| asked(of, Need::Travel));
    let asked_restored = owner.is_none().then(|| asked_restored(of, false));
    let inline = inline(of);
    let option_is_memory = (owner.is_none() && of.is_fieldless()).then(|| {
        quote! {
            const OPTION_IS_MEMORY: ::__core::primitive::bool =
                <Self as #support::InPlace>::OPTION_SHAPE.most_as_is().is_some();
        }
    });
    let wire_is_memory = match wire_is_memory {
        Some(wire_is_memory) => quote!({
            #asked
            #wire_is_memory
        }),
        None => quote!(false),
    };
    let entry_point = Chain::Write.entry_point(of);
    let name_parts = Chain::Write.name_entry_points(of).map(|name_entry_points| {
        quote! {
            #[inline(never)]
            fn name_parts() {
                #asked
                #name_entry_points
            }
        }
    });
    let after_write = if write_back.is_some() {
        "WRITE_BACK"
    } else {
        "NAME_PARTS"
    };
    let [meet_after_write, meet_name_parts] =
        [after_write, "NAME_PARTS"].map(|next| link(of, next));
    let write_back = write_back.map(|write_back| {
        quote! {
            #[inline]
            unsafe fn write_back<'__b>(__place: *mut Self, __draft: &mut #support::Draft<'__b>)
            where
                Self: '__b,
            {
                #asked
                #meet_name_parts
                #write_back
            }
        }
    });
    quote! {
        // SAFETY: every field is written into the slot of its own form, in the order in which the
        // form's `read` reads them; the types of the slots are those of the form.
        #[automatically_derived]
        unsafe impl #impl_generics #support::Transportable for #name #ty_generics #where_clause {
            type InPlace<'__b> = #form_name #form_args where Self: '__b;
            const WIRE_IS_MEMORY: ::__core::primitive::bool = #wire_is_memory;
            #option_is_memory
            #entry_point
            #name_parts

            #inline
            unsafe fn write<'__b>(
                &'__b self,
                __slot: *mut Self::InPlace<'__b>,
                __draft: &mut #support::Draft<'__b>,
            ) {
                #asked
                #asked_restored
                #meet_after_write
                #write
            }

            #write_back
        }
    }
}

/// Largest number of fields of a struct whose `write` and `read` are always inlined.
const SMALL: usize = 4;

/// Returns the attribute of `write` and `read`.
///
/// The compiler inlines a function that is called once. The root and the targets of pointers have
/// one call each. With one codegen unit, both call the same function, so that it is not inlined.
/// For a node with three fields, reading then takes a third more instructions. Larger structs take
/// up to 5 % more if they are inlined.
fn inline(of: &Own) -> TokenStream {
    match &of.body {
        Body::Struct(parts) if parts.len() <= SMALL => quote!(#[inline(always)]),
        _ => quote!(#[inline]),
    }
}

fn in_place(context: &Context<'_>, bodies: &Bodies, owner: Option<&Own>) -> TokenStream {
    let Context { of, support, .. } = context;
    let name = &of.name;
    let name_string = name_of(name);
    let (impl_generics, _, where_clause) = context.placed.split_for_impl();
    let (_, ty_generics, _) = of.generics.split_for_impl();
    let Bodies {
        shape,
        read,
        verify,
        trace,
        kind,
        ..
    } = bodies;
    let of_owner = owner.and_then(|owner| asked_of_owner(owner, of, Need::Travel));
    let asked = of_owner.unwrap_or_else(|| asked(of, Need::Stand));
    let inline = inline(of);
    let entry_point = Chain::Read.entry_point(of);
    let [meet_verify, meet_trace, meet_describe] =
        ["VERIFY", "TRACE", "DESCRIBE"].map(|next| link(of, next));
    let name_entry_points = Chain::Read.name_entry_points(of);
    let define = quote! {
        __schema.define(
            #support::Schema::key_of::<Self>(),
            #name_string,
            &mut |__schema| #kind,
        )
    };
    let define = match rules::expand(owner.unwrap_or(of), of) {
        Some(rules) => quote! {
            let __index @ _ = #define;
            __schema.set_rules(__index, #rules);
            __index
        },
        None => define,
    };
    let of_type = &of.options.verify;
    let (shape, refused) = if of_type.is_empty() {
        (shape.clone(), TokenStream::new())
    } else {
        let refused = quote! {
            if __trace.hit_verified(__slot) {
                return;
            }
        };
        (quote!(#shape.verified()), refused)
    };
    quote! {
        // SAFETY: every field is read in its own place, and with all of them the whole is valid.
        #[automatically_derived]
        unsafe impl #impl_generics #support::InPlace for #name #ty_generics #where_clause {
            const SHAPE: #support::Shape = {
                #asked
                #shape
            };
            #entry_point

            #inline
            unsafe fn read(
                __slot: *mut Self,
                __pass: &mut #support::Pass<'_>,
            ) -> ::__core::result::Result<(), #support::Fault> {
                #asked
                #meet_verify
                #read
                ::__core::result::Result::Ok(())
            }

            unsafe fn verify(
                __slot: *const Self,
            ) -> ::__core::result::Result<(), #support::Refusal> {
                #asked
                #meet_trace
                if <Self as #support::InPlace>::SHAPE.verified {
                    #verify
                    // SAFETY: the caller's slot holds a value, and nothing changes it.
                    unsafe {
                        #(#support::approve(__slot, #of_type)?;)*
                    }
                }
                ::__core::result::Result::Ok(())
            }

            unsafe fn trace(__slot: *const Self, __trace: &mut #support::Trace) {
                #asked
                #meet_describe
                #refused
                #trace
            }

            fn describe(__schema: &mut #support::Schema) -> #support::TypeIndex {
                #asked
                #name_entry_points
                #define
            }
        }
    }
}

/// Registers the type as an implementation of traits.
fn implements(of: &Own) -> TokenStream {
    let (krate, name) = (of.krate(), &of.name);
    let (_, ty_generics, _) = of.generics.split_for_impl();
    // The class is that of the type with `'static` lifetimes.
    let ty = if of.lifetimes.is_empty() {
        quote!(#name #ty_generics)
    } else {
        quote!(#name<'static>)
    };
    let all = of.options.implements.iter();
    let all =
        all.map(|of_trait| Place::new(of_trait).put(quote!(#krate::implements!(#of_trait: #ty);)));
    all.collect()
}
