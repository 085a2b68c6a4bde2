//! Code for enums.
//!
//! The layout of an enum with an integer `repr` is that of a union of `repr(C)` structs that begin
//! with the tag (RFC 2195). Each variant with data therefore gets such a struct as its mirror. Its
//! fields are spelled as in the enum. A function that compiles only if the types agree proves that
//! they are the same, and an assertion checks that each tag selects its variant.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use syn::Ident;

use super::context::{Bodies, Context, name_of};
use super::model::{Own, Part, Variant};
use crate::spans::Place;

/// A variant, and the names of the items generated for it.
struct Mirrored<'v> {
    variant: &'v Variant,
    tag: Ident,
    mirror: Ident,
}

/// Returns the integer type of the tag, by a path that is independent of names in scope.
fn tag_type(context: &Context<'_>) -> TokenStream {
    match &context.of.repr.int {
        Some(int) => quote!(::__core::primitive::#int),
        None => quote!(::__core::primitive::u8),
    }
}

fn mirrored(variants: &[Variant]) -> Vec<Mirrored<'_>> {
    let of_each = variants.iter().enumerate();
    of_each
        .map(|(i, variant)| Mirrored {
            variant,
            tag: format_ident!("__TAG_{i}"),
            mirror: format_ident!("__Variant{i}"),
        })
        .collect()
}

/// Returns code that writes the variants of the enum `of` as variants of its form.
pub(super) fn write_enum(form: &Context<'_>, of: &Own, variants: &[Variant]) -> TokenStream {
    write(form, of, &mirrored(variants), &tag_type(form))
}

pub(super) fn of_enum(context: &Context<'_>, variants: &[Variant]) -> Bodies {
    let support = &context.support;
    let int = tag_type(context);
    let variants = mirrored(variants);
    let fieldless = context.of.is_fieldless();
    let beside = [
        tags(&variants, &int),
        mirrors(context, &variants, &int),
        same_types(context, &variants),
    ]
    .into_iter()
    .collect();
    let all_tags: Vec<_> = variants.iter().map(|of| &of.tag).collect();
    let reads = variants.iter().map(|of| read(context, of));
    let checks = variants.iter().map(|of| verify(context, of));
    let traces = variants.iter().map(|of| trace(context, of));
    let infos = variants.iter().map(|of| info(context, of));
    let backs: Option<Vec<_>> = variants.iter().map(|of| write_back(context, of)).collect();
    let write_back = backs.filter(|_| !fieldless).map(|backs| {
        quote! {
            // SAFETY: the caller's value begins with the tag, as `SHAPE` asserts.
            let __tag = unsafe { __place.cast::<#int>().read() };
            match __tag {
                #(#all_tags => { #backs })*
                _ => {}
            }
        }
    });
    Bodies {
        wire_is_memory: quote!(#fieldless),
        write: write(context, context.of, &variants, &int),
        write_back,
        shape: shape(context, &variants, &int, fieldless),
        read: quote! {
            // Evaluates the assertions in `SHAPE` wherever an enum is read.
            const { ::__core::assert!(!<Self as #support::InPlace>::SHAPE.plain) };
            // SAFETY: the caller's slot is initialised, and begins with the tag as `SHAPE` asserts.
            let __tag = unsafe { __slot.cast::<#int>().read() };
            match __tag {
                #(#all_tags => { #reads })*
                _ => {
                    return ::__core::result::Result::Err(#support::Fault::new(
                        __slot,
                        #support::FaultKind::Invalid,
                    ));
                }
            }
        },
        verify: quote! {
            // SAFETY: the slot begins with the tag, which reading does not change.
            let __tag = unsafe { __slot.cast::<#int>().read() };
            match __tag {
                #(#all_tags => { #checks })*
                _ => {}
            }
        },
        trace: quote! {
            if __trace.hit(__slot) {
                return;
            }
            // SAFETY: the slot begins with the tag, which reading does not change.
            let __tag = unsafe { __slot.cast::<#int>().read() };
            match __tag {
                #(#all_tags => { #traces })*
                _ => {}
            }
        },
        kind: quote! {
            #support::Kind::Enum {
                tag: ::__core::mem::size_of::<#int>(),
                variants: #support::list([#(#infos),*]),
            }
        },
        beside,
    }
}

/// Returns a constant for each variant's tag.
fn tags(variants: &[Mirrored<'_>], int: &TokenStream) -> TokenStream {
    let mut last: Option<&Ident> = None;
    let mut tags = TokenStream::new();
    for of in variants {
        let tag = &of.tag;
        let value = match (&of.variant.discriminant, last) {
            (Some(explicit), _) => quote!(#explicit),
            (None, Some(last)) => quote!(#last + 1),
            (None, None) => quote!(0),
        };
        tags.extend(quote!(const #tag: #int = #value;));
        last = Some(tag);
    }
    tags
}

/// Returns a struct for each variant with data, with the layout of the variant.
fn mirrors(context: &Context<'_>, variants: &[Mirrored<'_>], int: &TokenStream) -> TokenStream {
    let of = context.of;
    let name = &of.name;
    let (_, ty_generics, where_clause) = of.generics.split_for_impl();
    let mut generics = of.generics.clone();
    for param in generics.type_params_mut() {
        param.default = None;
    }
    let params = &generics.params;
    let mirrors = variants
        .iter()
        .filter(|of| !of.variant.parts.is_empty())
        .map(|of| {
            let mirror = &of.mirror;
            let fields = of.variant.parts.iter().map(|part| {
                let (binding, ty) = (&part.binding, &part.ty);
                quote!(#binding: #ty)
            });
            quote! {
                #[repr(C)]
                struct #mirror<#params> #where_clause {
                    tag: #int,
                    #(#fields,)*
                    of: ::__core::marker::PhantomData<#name #ty_generics>,
                }
            }
        });
    quote!(#(#mirrors)*)
}

/// Returns a function that compiles only if the mirrors' fields have the types of the variants'
/// fields, including lifetimes: targets of exclusive references are invariant. Both types are
/// inferred, because the spelling of a type may have a different meaning at each expansion.
fn same_types(context: &Context<'_>, variants: &[Mirrored<'_>]) -> TokenStream {
    let support = &context.support;
    let name = &context.of.name;
    let (impl_generics, ty_generics, where_clause) = context.of.generics.split_for_impl();
    let arms = variants.iter().map(|of| {
        let (bindings, pattern) = of.names(name);
        let mirror = &of.mirror;
        quote! {
            #pattern => {
                #(#support::same_type(#bindings, |__of: *mut #mirror #ty_generics| unsafe {
                    &raw mut (*__of).#bindings
                });)*
            }
        }
    });
    quote! {
        const _: () = {
            fn same_types #impl_generics (__of @ _: &mut #name #ty_generics) #where_clause {
                match __of {
                    #(#arms)*
                }
            }
        };
    }
}

impl Mirrored<'_> {
    /// Returns the names of the bindings, and a pattern that binds all fields.
    fn names(&self, name: &Ident) -> (Vec<&Ident>, TokenStream) {
        let variant = &self.variant.name;
        let bindings: Vec<_> = self
            .variant
            .parts
            .iter()
            .map(|part| &part.binding)
            .collect();
        let members = self.variant.parts.iter().map(|part| &part.member);
        let bound = self.variant.parts.iter().map(Part::bound);
        let pattern = quote!(#name::#variant { #(#members: #bound),* });
        (bindings, pattern)
    }
}

fn write(
    context: &Context<'_>,
    of: &Own,
    variants: &[Mirrored<'_>],
    int: &TokenStream,
) -> TokenStream {
    let form_args = &context.form_args;
    let arms = variants.iter().map(|variant| {
        let (bindings, pattern) = variant.names(&of.name);
        let (tag, mirror) = (&variant.tag, &variant.mirror);
        let writes = variant.variant.parts.iter().map(|part| {
            let binding = &part.binding;
            part.write(of, &quote!(&raw mut (*__slot).#binding))
        });
        let fields = (!bindings.is_empty()).then(|| {
            quote! {
                let __slot = __slot.cast::<#mirror #form_args>();
                // SAFETY: the mirror has the layout of the variant, as `SHAPE` asserts, and lies
                // inside the slot.
                unsafe {
                    #(#writes)*
                }
            }
        });
        quote! {
            #pattern => {
                // SAFETY: the caller's slot begins with the tag, as `SHAPE` asserts.
                unsafe { __slot.cast::<#int>().write(#tag) };
                #fields
            }
        }
    });
    quote! {
        match self {
            #(#arms)*
        }
    }
}

fn shape(
    context: &Context<'_>,
    variants: &[Mirrored<'_>],
    int: &TokenStream,
    fieldless: bool,
) -> TokenStream {
    let support = &context.support;
    let name = &context.of.name;
    let (_, ty_generics, _) = context.of.generics.split_for_impl();
    let assertions = variants.iter().map(|of| {
        let (tag, mirror) = (&of.tag, &of.mirror);
        let parts = of.variant.parts.iter();
        let (members, bindings): (Vec<_>, Vec<_>) =
            parts.map(|part| (&part.member, &part.binding)).unzip();
        let variant = &of.variant.name;
        quote! {
            let mut __value = ::__core::mem::MaybeUninit::<Self>::uninit();
            let __start = __value.as_mut_ptr();
            // The pattern is not zero, so that a tag that is wider or elsewhere is detected.
            // SAFETY: the value's memory is writable.
            unsafe { ::__core::ptr::write_bytes(__start, 0xa5, 1) };
            // SAFETY: the value has at least the size of its tag, asserted above.
            unsafe { __start.cast::<#int>().write(#tag) };
            // SAFETY: the tag determines the variant, and only the addresses of its fields are
            // taken.
            let __meant = unsafe {
                match *__start {
                    #name::#variant { #(#members: ref #bindings),* } => true #(
                        && #support::offset_in(__start, #bindings)
                            == ::__core::mem::offset_of!(#mirror #ty_generics, #bindings)
                    )*,
                    #[allow(unreachable_patterns, reason = "where there is one variant")]
                    _ => false,
                }
            };
            ::__core::assert!(__meant, "the enum is not laid out as its `repr` says");
        }
    });
    let size = if fieldless {
        Place::new(name).put(quote! {
            ::__core::assert!(
                ::__core::mem::size_of::<Self>() == ::__core::mem::size_of::<#int>(),
                "this fieldless enum is not one byte large: add `#[repr(u8)]`, or a larger integer"
            );
        })
    } else {
        let mirrors = variants
            .iter()
            .filter(|of| !of.variant.parts.is_empty())
            .map(|of| &of.mirror);
        quote! {
            ::__core::assert!(
                ::__core::mem::size_of::<Self>() >= ::__core::mem::size_of::<#int>()
                    #(&& ::__core::mem::size_of::<Self>()
                        >= ::__core::mem::size_of::<#mirrors #ty_generics>())*,
                "the enum is not laid out as its `repr` says"
            );
        }
    };
    let shape = if fieldless {
        let tags = variants.iter().map(|of| &of.tag);
        quote! {
            #support::fieldless(::__core::mem::size_of::<Self>(), [#(#tags as ::__core::primitive::i128),*])
        }
    } else {
        let ty_generics = &ty_generics;
        let fields = variants.iter().flat_map(|of| {
            let mirror = &of.mirror;
            of.variant.parts.iter().map(move |part| {
                let binding = &part.binding;
                let whole = quote!(#mirror #ty_generics);
                let place = quote!(&raw const (*__of).#binding);
                let shape = part.shape(context.of, &whole, &place);
                quote!(.and(#shape))
            })
        });
        let tags = variants.iter().map(|of| &of.tag);
        quote! {
            #support::with_fields(
                #support::Shape::NOTHING #(#fields)*,
                ::__core::mem::size_of::<Self>(),
                ::__core::mem::size_of::<#int>(),
                [#(#tags as ::__core::primitive::i128),*],
            )
        }
    };
    quote! {{
        #size
        #(#assertions)*
        #shape
    }}
}

fn write_back(context: &Context<'_>, of: &Mirrored<'_>) -> Option<TokenStream> {
    if of.variant.parts.is_empty() {
        return Some(TokenStream::new());
    }
    let (_, ty_generics, _) = context.of.generics.split_for_impl();
    let mirror = &of.mirror;
    let backs: Option<Vec<_>> = of
        .variant
        .parts
        .iter()
        .map(|part| {
            let binding = &part.binding;
            part.write_back(context.of, &quote!(&raw mut (*__place).#binding))
        })
        .collect();
    let backs = backs?;
    Some(quote! {
        let __place = __place.cast::<#mirror #ty_generics>();
        // SAFETY: the mirror has the layout of the variant, as `SHAPE` asserts, and each of these
        // is a field of it.
        unsafe {
            #(#backs)*
        }
    })
}

fn read(context: &Context<'_>, of: &Mirrored<'_>) -> TokenStream {
    each(context, of, |part| {
        let binding = &part.binding;
        part.read(context.of, &quote!(&raw mut (*__slot).#binding))
    })
}

fn verify(context: &Context<'_>, of: &Mirrored<'_>) -> TokenStream {
    each(context, of, |part| {
        let binding = &part.binding;
        part.verify(context.of, &quote!(&raw const (*__slot).#binding))
    })
}

fn trace(context: &Context<'_>, of: &Mirrored<'_>) -> TokenStream {
    each(context, of, |part| {
        if !part.travels() {
            return TokenStream::new();
        }
        let (member, binding) = (&part.member, &part.binding);
        let name = name_of(&quote!(#member));
        let walk = part.trace(context.of, &quote!(&raw const (*__slot).#binding));
        quote! {
            __trace.enter(#name);
            #walk
            if __trace.leave() {
                return;
            }
        }
    })
}

/// Returns the results of `code` for the fields of the variant whose tag is in the slot.
fn each(
    context: &Context<'_>,
    of: &Mirrored<'_>,
    code: impl Fn(&Part) -> TokenStream,
) -> TokenStream {
    let (_, ty_generics, _) = context.of.generics.split_for_impl();
    let mirror = &of.mirror;
    if of.variant.parts.is_empty() {
        return TokenStream::new();
    }
    let parts = of.variant.parts.iter().map(code);
    quote! {
        let __slot = __slot.cast::<#mirror #ty_generics>();
        // SAFETY: the mirror has the layout of the variant, as `SHAPE` asserts, and lies inside the
        // slot.
        unsafe {
            #(#parts)*
        }
    }
}

/// Returns the description of a variant.
fn info(context: &Context<'_>, of: &Mirrored<'_>) -> TokenStream {
    let support = &context.support;
    let (_, ty_generics, _) = context.of.generics.split_for_impl();
    let (tag, mirror) = (&of.tag, &of.mirror);
    let name = Literal::string(&name_of(&of.variant.name));
    let parts = of.variant.parts.iter().filter(|part| part.travels());
    let fields = parts.map(|part| {
        let (member, binding) = (&part.member, &part.binding);
        let name = name_of(&quote!(#member));
        let whole = quote!(#mirror #ty_generics);
        let of_part = part.describe(context.of, &whole, &quote!(&raw const (*__of).#binding));
        quote! {
            #support::FieldInfo::new(
                #name,
                ::__core::mem::offset_of!(#mirror #ty_generics, #binding),
                #of_part,
            )
        }
    });
    quote! {
        #support::VariantInfo::new(
            #name,
            #tag as ::__core::primitive::i128,
            #support::list([#(#fields),*]),
        )
    }
}
