//! The code for a type and its in-place form.
//!
//! Field types are never spelled out where unsafe code relies on them: they are inferred from the
//! fields themselves, and a pattern without `..` that binds by reference proves that no field is
//! missing and that none is packed.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, GenericParam, Generics, Ident, TypeParam, parse_quote};

use super::parse::{Body, Own, Part};
use super::{expand_enum, form, restore};

/// The pieces that all impls share.
pub(super) struct Context<'o> {
    pub(super) of: &'o Own,
    /// The path of what generated code uses.
    pub(super) support: TokenStream,
    /// The generics with `InPlace` on each type parameter.
    pub(super) placed: Generics,
    /// The arguments of the form in a buffer that lives for `'__b`.
    pub(super) form_args: TokenStream,
}

impl<'o> Context<'o> {
    fn new(of: &'o Own) -> Self {
        let support = of.support();
        let form_args = args(
            of,
            quote!('__b),
            |param| quote!(<#param as #support::Transportable>::InPlace<'__b>),
        );
        Self {
            of,
            placed: with_bound(&of.generics, &quote!(#support::InPlace)),
            form_args,
            support,
        }
    }
}

/// The generics with one more bound on each type parameter, and without defaults, for an impl.
pub(super) fn with_bound(generics: &Generics, bound: &TokenStream) -> Generics {
    let mut generics = generics.clone();
    for param in generics.type_params_mut() {
        param.bounds.push(parse_quote!(#bound));
        param.default = None;
    }
    generics
}

/// Generic arguments: this lifetime, and what `of_type` makes of each type parameter.
fn args(of: &Own, lifetime: TokenStream, of_type: impl Fn(&Ident) -> TokenStream) -> TokenStream {
    let args = of.generics.params.iter().map(|param| match param {
        GenericParam::Lifetime(_) => lifetime.clone(),
        GenericParam::Type(TypeParam { ident, .. }) => of_type(ident),
        GenericParam::Const(of) => of.ident.to_token_stream(),
    });
    quote!(<#(#args),*>)
}

/// The functions and constants of the two impls.
pub(super) struct Bodies {
    pub(super) wire_is_memory: TokenStream,
    pub(super) write: TokenStream,
    pub(super) shape: TokenStream,
    pub(super) read: TokenStream,
    pub(super) verify: TokenStream,
    pub(super) trace: TokenStream,
    pub(super) kind: TokenStream,
    /// Items that stand beside the impls.
    pub(super) beside: TokenStream,
}

/// The code for a type that is its own form.
pub(super) fn own_form(of: &Own) -> TokenStream {
    let alias = form::alias(of);
    let impls = expand(of, None);
    quote! {
        #alias
        #impls
    }
}

/// The code for a type that owns its parts, and for its form.
pub(super) fn with_form(of: &Own, form: &Own, definition: &DeriveInput) -> TokenStream {
    let derives = &of.options.derives;
    let derives = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    let impls = expand(form, Some(of));
    quote! {
        #derives
        #[allow(dead_code, reason = "made by reading, and of interest as far as the program says")]
        #definition
        #impls
    }
}

/// The impls of a form, and of the type whose form it is.
fn expand(of: &Own, owner: Option<&Own>) -> TokenStream {
    let context = Context::new(of);
    let bodies = match &of.body {
        Body::Struct(parts) => of_struct(&context, parts),
        Body::Enum(variants) => expand_enum::of_enum(&context, variants),
        Body::Union(_) => return TokenStream::new(),
    };
    let transportable = transportable(&context, of, &bodies.wire_is_memory, &bodies.write);
    let in_place = in_place(&context, &bodies);
    let covariant = covariant(&context);
    let early = early(&context);
    let restore = restore::of(&context, owner.unwrap_or(of));
    let implements = implements(owner.unwrap_or(of));
    let owner = owner.map(|owner| of_owner(&context, owner));
    let beside = &bodies.beside;
    quote! {
        #[allow(
            clippy::all, clippy::pedantic, clippy::restriction, missing_docs, non_camel_case_types,
            single_use_lifetimes, unreachable_pub, unused_lifetimes, unused_qualifications,
            reason = "generated code"
        )]
        const _: () = {
            #beside
            #transportable
            #in_place
            #covariant
            #early
            #owner
            #restore
            #implements
        };
    }
}

/// How a type is written that is not its own form.
fn of_owner(form: &Context<'_>, owner: &Own) -> TokenStream {
    let support = &form.support;
    let name = &owner.name;
    let write = match &owner.body {
        Body::Struct(parts) => write_struct(owner, name, parts),
        Body::Enum(variants) => expand_enum::write_enum(form, owner, variants),
        Body::Union(_) => TokenStream::new(),
    };
    let transportable = transportable(form, owner, &quote!(false), &write);
    let (_, ty_generics, where_clause) = owner.generics.split_for_impl();
    let covariant = with_bound(&owner.generics, &quote!(#support::Covariant));
    let (covariant_generics, ..) = covariant.split_for_impl();
    let covariant = (!form.of.is_invariant()).then(|| {
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

/// What is asserted of every form when it is read, asserted of this one where it is defined. Of a
/// generic type it can't be: its instances are not known here.
fn early(context: &Context<'_>) -> TokenStream {
    let Context { of, support, .. } = context;
    if of.generics.type_params().next().is_some() || of.generics.const_params().next().is_some() {
        return TokenStream::new();
    }
    let name = &of.name;
    let args = args(of, quote!('static), |param| quote!(#param));
    let span = proc_macro2::Span::call_site().located_at(name.span());
    quote_spanned!(span=> const _: () = #support::assert_form::<#name #args>();)
}

/// How a type is written: the form itself, or the type whose form it is.
fn transportable(
    form: &Context<'_>,
    of: &Own,
    wire_is_memory: &TokenStream,
    write: &TokenStream,
) -> TokenStream {
    let Context {
        support, form_args, ..
    } = form;
    let (name, form_name) = (&of.name, &form.of.name);
    let sent = with_bound(&of.generics, &quote!(#support::Transportable));
    let (impl_generics, _, where_clause) = sent.split_for_impl();
    let (_, ty_generics, _) = of.generics.split_for_impl();
    quote! {
        // SAFETY: every field is written into the slot of its own form, in the order in which the
        // form's `read` reads them; the types of the slots are those of the form.
        #[automatically_derived]
        unsafe impl #impl_generics #support::Transportable for #name #ty_generics #where_clause {
            type InPlace<'__b> = #form_name #form_args where Self: '__b;
            const WIRE_IS_MEMORY: bool = #wire_is_memory;

            #[inline]
            unsafe fn write<'__b>(
                &'__b self,
                slot: *mut Self::InPlace<'__b>,
                draft: &mut #support::Draft<'__b>,
            ) {
                #write
            }
        }
    }
}

fn in_place(context: &Context<'_>, bodies: &Bodies) -> TokenStream {
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
    let of_type = &of.options.verify;
    let (shape, refused) = if of_type.is_empty() {
        (shape.clone(), TokenStream::new())
    } else {
        let refused = quote! {
            if trace.hit_verified(slot) {
                return;
            }
        };
        (quote!(#shape.verified()), refused)
    };
    quote! {
        // SAFETY: every field is read in its own place, and with all of them the whole is valid.
        #[automatically_derived]
        unsafe impl #impl_generics #support::InPlace for #name #ty_generics #where_clause {
            const SHAPE: #support::Shape = #shape;

            #[inline]
            unsafe fn read(
                slot: *mut Self,
                pass: &mut #support::Pass<'_>,
            ) -> ::core::result::Result<(), #support::Fault> {
                #read
                ::core::result::Result::Ok(())
            }

            unsafe fn verify(
                slot: *const Self,
            ) -> ::core::result::Result<(), #support::Refusal> {
                if Self::SHAPE.verified {
                    #verify
                    // SAFETY: the caller's slot holds a value, and nothing changes it.
                    unsafe {
                        #(#support::approve(slot, #of_type)?;)*
                    }
                }
                ::core::result::Result::Ok(())
            }

            unsafe fn trace(slot: *const Self, trace: &mut #support::Trace) {
                #refused
                #trace
            }

            fn describe(schema: &mut #support::Schema) -> #support::TypeIndex {
                schema.define::<Self>(#name_string, |schema| #kind)
            }
        }
    }
}

/// A name as people write it: raw identifiers without their prefix.
pub(crate) fn name_of(ident: &impl ToString) -> String {
    let name = ident.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

/// Proves that the form is covariant, unless it has cells. Type parameters with bounds of their own leave it unproved.
fn covariant(context: &Context<'_>) -> TokenStream {
    let Context { of, support, .. } = context;
    let bounded = of.generics.where_clause.is_some()
        || of
            .generics
            .type_params()
            .any(|param| !param.bounds.is_empty());
    if bounded || of.is_invariant() {
        return TokenStream::new();
    }
    let name = &of.name;
    let (_, ty_generics, _) = of.generics.split_for_impl();
    let generics = with_bound(&of.generics, &quote!(#support::Covariant));
    let (impl_generics, ..) = generics.split_for_impl();
    let long = args(of, quote!('long), |_| quote!(&'long ()));
    let short = args(of, quote!('short), |_| quote!(&'short ()));
    let consts: Vec<_> = of.generics.const_params().collect();
    quote! {
        // SAFETY: the function compiles only if the type is covariant in its lifetime and in each
        // type parameter, whose forms are covariant by their bounds.
        #[automatically_derived]
        unsafe impl #impl_generics #support::Covariant for #name #ty_generics {}

        const _: () = {
            fn covariant<'long: 'short, 'short, #(#consts),*>(
                long: ::core::marker::PhantomData<#name #long>,
            ) -> ::core::marker::PhantomData<#name #short> {
                long
            }
        };
    }
}

/// Registers the type as an implementation of traits.
fn implements(of: &Own) -> TokenStream {
    let (krate, name) = (of.krate(), &of.name);
    let (_, ty_generics, _) = of.generics.split_for_impl();
    let all = of.options.implements.iter();
    // The class is that of the type for all time.
    let ty = if of.lifetimes.is_empty() {
        quote!(#name #ty_generics)
    } else {
        quote!(#name<'static>)
    };
    quote!(#(#krate::implements!(#all: #ty);)*)
}

/// Writes the fields of a type into the slots of its form's fields.
fn write_struct(of: &Own, name: &Ident, parts: &[Part]) -> TokenStream {
    let members = parts.iter().map(|part| &part.member);
    let bindings = parts.iter().map(|part| &part.binding);
    let writes = parts.iter().map(|part| {
        let member = &part.member;
        part.write(of, &quote!(&raw mut (*slot).#member))
    });
    quote! {
        let #name { #(#members: #bindings),* } = self;
        // SAFETY: the caller's slot is that of the whole, and each of these lies inside it.
        unsafe {
            #(#writes)*
        }
    }
}

fn of_struct(context: &Context<'_>, parts: &[Part]) -> Bodies {
    let Context { of, support, .. } = context;
    let name = &of.name;
    let members: Vec<_> = parts.iter().map(|part| &part.member).collect();
    // Errors about a field's type belong to the field.
    let of_each = |code: &dyn Fn(&Part, &TokenStream) -> TokenStream| -> Vec<TokenStream> {
        let access = |part: &Part| {
            let member = &part.member;
            quote!(|of: *const Self| unsafe { &raw const (*of).#member })
        };
        parts.iter().map(|part| code(part, &access(part))).collect()
    };
    let memories = of_each(&|part, access| part.memory(of, access));
    // A generic type and its form need not be laid out alike unless the language says so.
    let same_layout = of.generics.type_params().next().is_none() || of.repr.c.is_some();
    let wire_is_memory = quote! {
        #same_layout
            && #support::Memory::NOTHING
                #(.and(#memories))*
                .fills(::core::mem::size_of::<Self>())
    };
    let shapes = of_each(&|part, access| part.shape(of, access));
    let shape = quote! {
        #support::Shape::NOTHING #(.and(#shapes))* .within(::core::mem::size_of::<Self>())
    };
    let reads = parts.iter().map(|part| {
        let member = &part.member;
        part.read(of, &quote!(&raw mut (*slot).#member))
    });
    let read = quote! {
        // SAFETY: the caller's slot is that of the whole, and each of these lies inside it.
        unsafe {
            #(#reads)*
        }
    };
    let checks = parts.iter().map(|part| {
        let member = &part.member;
        part.verify(of, &quote!(&raw const (*slot).#member))
    });
    let verify = quote! {
        // SAFETY: the caller's slot holds a value, and so does each field of it.
        unsafe {
            #(#checks)*
        }
    };
    let walks = parts.iter().filter(|part| part.travels()).map(|part| {
        let member = &part.member;
        let name = name_of(&quote!(#member));
        let walk = part.trace(of, &quote!(&raw const (*slot).#member));
        quote! {
            trace.enter(#name);
            // SAFETY: the fields before this one did not hold the fault.
            unsafe {
                #walk
            }
            if trace.leave() {
                return;
            }
        }
    });
    let infos = parts.iter().filter(|part| part.travels()).map(|part| {
        let member = &part.member;
        let name = name_of(&quote!(#member));
        let access = quote!(|of: *const Self| unsafe { &raw const (*of).#member });
        let of_part = part.describe(of, &access);
        quote! {
            #support::FieldInfo::new(#name, ::core::mem::offset_of!(Self, #member), #of_part)
        }
    });
    let (impl_generics, ty_generics, where_clause) = of.generics.split_for_impl();
    let bindings = parts.iter().map(|part| &part.binding);
    // Safe, so that it does not compile for a union.
    let all_fields = quote! {
        const _: () = {
            #[allow(unused_variables, reason = "all that matters is that they are there")]
            fn all_fields #impl_generics (of: &#name #ty_generics) #where_clause {
                let #name { #(#members: #bindings),* } = of;
            }
        };
    };
    Bodies {
        wire_is_memory,
        write: write_struct(of, name, parts),
        shape,
        read,
        verify,
        trace: quote!(#(#walks)*),
        kind: quote!(#support::Kind::Struct(#support::list([#(#infos),*]))),
        beside: all_fields,
    }
}
