//! The attribute `#[transportable]` on a trait.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{
    Error, GenericParam, ItemTrait, Result, Signature, TraitItem, Type, TypeParamBound,
    WherePredicate, parse_quote,
};

use crate::crates::{resolve, trusted_path};
use crate::errors::Errors;
use crate::shield::shield;

pub(crate) fn transportable(options: TokenStream, item: TokenStream) -> TokenStream {
    expand(options, item).unwrap_or_else(|error| error.to_compile_error())
}

fn expand(options: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let of: ItemTrait = syn::parse2(item).map_err(|error| {
        Error::new(
            error.span(),
            "this attribute applies to traits: for a type, derive `Transportable`",
        )
    })?;
    let krate = krate(options)?;
    check(&of)?;
    Ok(code(&krate, of))
}

/// Returns the path of the crate `jstream`.
fn krate(options: TokenStream) -> Result<TokenStream> {
    let mut krate = quote!(::jstream);
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            let path = trusted_path(&meta)?;
            krate = quote!(#path);
            Ok(())
        } else {
            Err(meta
                .error("unknown option: on a trait, `transportable` takes `crate = unsafe(path)`"))
        }
    });
    syn::parse::Parser::parse2(parser, options)?;
    Ok(krate)
}

/// Rejects items that a transportable trait can't have. The compiler reports everything else that
/// makes a trait not object-safe.
fn check(of: &ItemTrait) -> Result<()> {
    let mut errors = Errors::default();
    if let Some(param) = of.generics.params.first() {
        errors.add(Error::new_spanned(
            param,
            "a transportable trait can't have parameters: messages do not identify the instance",
        ));
    }
    for item in &of.items {
        match item {
            TraitItem::Type(ty) => errors.add(Error::new(
                ty.ident.span(),
                "a transportable trait can't have associated types: messages do not identify them",
            )),
            TraitItem::Const(of) => errors.add(Error::new(
                of.ident.span(),
                "a transportable trait can't have associated constants: use a method on `&self`",
            )),
            TraitItem::Fn(of) if !is_sized(&of.sig) => check_method(&of.sig, &mut errors),
            _ => {}
        }
    }
    errors.finish()
}

/// Returns true if a method has `where Self: Sized`, so that trait objects do not have it.
fn is_sized(of: &Signature) -> bool {
    let predicates = of.generics.where_clause.iter();
    let mut predicates = predicates.flat_map(|of| &of.predicates);
    predicates.any(|predicate| match predicate {
        WherePredicate::Type(of) => {
            let is_self = matches!(&of.bounded_ty, Type::Path(of) if of.path.is_ident("Self"));
            let mut bounds = of.bounds.iter();
            is_self
                && bounds.any(|bound| {
                    matches!(bound, TypeParamBound::Trait(of)
                        if of.path.segments.last().is_some_and(|last| last.ident == "Sized"))
                })
        }
        _ => false,
    })
}

/// Rejects methods that need more of the type than an entry in the vtable.
fn check_method(of: &Signature, errors: &mut Errors) {
    if of.receiver().is_none() {
        errors.add(Error::new(
            of.ident.span(),
            "a transportable trait can't have functions without `&self`: add `&self`, or `where \
             Self: Sized`",
        ));
    }
    if let Some(param) = of
        .generics
        .params
        .iter()
        .find(|param| !matches!(param, GenericParam::Lifetime(_)))
    {
        errors.add(Error::new_spanned(
            param,
            "a transportable trait can't have generic methods: remove the parameter, or add `where \
             Self: Sized`",
        ));
    }
    if let Some(asynchronous) = &of.asyncness {
        errors.add(Error::new(
            asynchronous.span,
            "a transportable trait can't have async methods: return a boxed future, or add `where \
             Self: Sized`",
        ));
    }
}

fn code(krate: &TokenStream, mut of: ItemTrait) -> TokenStream {
    let support = quote!(#krate::__private);
    let (vis, name) = (of.vis.clone(), of.ident.clone());
    let text = crate::transportable::name_of(&name);
    let item = format_ident!("__{}Implementation", name);
    let registration = registration(&support, &name, &item);
    of.supertraits.push(parse_quote!(#support::Dynamic));
    if of.colon_token.is_none() {
        of.colon_token = Some(Default::default());
    }
    let code = quote! {
        #support::inventory::collect!(#item);

        // SAFETY: the registry contains everything that was submitted.
        unsafe impl #support::Implementation for #item {
            const TRAIT: &'static ::__core::primitive::str = #text;

            fn class(&self) -> &#support::Class {
                self.0.class()
            }

            fn registry() -> &'static #support::Registry<Self> {
                static REGISTRY: #support::OnceLock<#support::Registry<#item>> =
                    #support::OnceLock::new();
                REGISTRY.get_or_init(|| {
                    #support::Registry::new(::__core::iter::IntoIterator::into_iter(
                        #support::inventory::iter::<#item>,
                    ))
                })
            }
        }

        impl #support::Registered for dyn #name {
            type Implementation = #item;
        }

        #registration

        // SAFETY: the target is claimed by the class that the edge names, and the cast is that
        // of the class, for any lifetime.
        unsafe impl<'x> #support::Pointee for dyn #name + 'x {
            fn claim(
                __edge: #support::Edge,
                __pass: &mut #support::Pass<'_>,
            ) -> ::__core::result::Result<*const Self, #support::Fault> {
                let __registry = <#item as #support::Implementation>::registry();
                let __one = __registry.of_edge(&__edge)?;
                let __target = __one.0.class().claim(__edge, __pass)?;
                ::__core::result::Result::Ok((__one.0.cast())(
                    __target,
                    ::__core::marker::PhantomData,
                ))
            }

            unsafe fn read_now(
                __target: *const Self,
                __pass: &mut #support::Pass<'_>,
            ) -> ::__core::result::Result<(), #support::Fault> {
                // SAFETY: the caller's promise is passed on.
                unsafe { #support::Class::read_now(__target.cast(), __pass) }
            }

            unsafe fn trace_target(
                __slot: *const &Self,
                __target: *const Self,
                __trace: &mut #support::Trace,
            ) {
                // SAFETY: the caller's promise is passed on.
                unsafe { __trace.dynamic(__slot, __target.cast()) };
            }

            fn describe(__schema: &mut #support::Schema) -> #support::TypeIndex {
                #support::describe_dynamic::<dyn #name>(__schema, #text)
            }
        }

        // SAFETY: the address is that of the value, and the class is the one by which it is
        // claimed.
        unsafe impl<'x> #support::Target for dyn #name + 'x {
            type InPlace<'b> = dyn #name + 'b where Self: 'b;

            fn write_target<'b>(
                &'b self,
                __draft: &mut #support::Draft<'b>,
            ) -> [::__core::primitive::u64; 2] {
                #support::write_dynamic::<#item>(self, __draft)
            }

            fn meta(&self) -> ::__core::primitive::u64 {
                #support::class_of::<#item>(self)
            }
        }

        // SAFETY: a trait object is covariant in the lifetime that bounds it.
        unsafe impl<'x> #support::CovariantTarget for dyn #name + 'x {}
    };
    let shield = shield(&support, &code, &of);
    let code = quote! {
        #of

        #[doc(hidden)]
        #[allow(non_camel_case_types, reason = "named after the trait")]
        #vis struct #item(
            #support::Castable<
                for<'x> fn(
                    *const ::__core::primitive::u8,
                    ::__core::marker::PhantomData<&'x ()>,
                ) -> *const (dyn #name + 'x),
            >,
        );

        #[allow(
            clippy::all, clippy::pedantic, clippy::restriction, missing_docs, unreachable_pub,
            unused_qualifications,
            reason = "generated code"
        )]
        const _: () = {
            #shield
            #code
        };
    };
    resolve(code, &support)
}

/// Returns the function by which `implements!` makes an entry of the registry. It derives class and
/// cast from one type parameter, so that they always belong together.
fn registration(support: &TokenStream, name: &Ident, item: &Ident) -> TokenStream {
    quote! {
        impl dyn #name {
            /// Returns the entry of one implementation for the registry. Class and cast are made
            /// from the same type parameter, so they always belong together.
            #[doc(hidden)]
            pub const fn __has_the_attribute_transportable<__T>() -> #item
            where
                __T: #support::Transportable + 'static,
                for<'x> <__T as #support::Transportable>::InPlace<'x>: #name,
            {
                // The bound holds for every lifetime: one on `'x` alone would make `'x` a parameter
                // of the function item instead of the function pointer.
                fn __cast<'x, __T>(
                    __form @ _: *const ::__core::primitive::u8,
                    _: ::__core::marker::PhantomData<&'x ()>,
                ) -> *const (dyn #name + 'x)
                where
                    __T: #support::Transportable + 'static,
                    for<'y> <__T as #support::Transportable>::InPlace<'y>: #name,
                {
                    __form.cast::<<__T as #support::Transportable>::InPlace<'x>>()
                }
                // SAFETY: `__cast` takes the address of a value of the form of `__T`, and the
                // class is that of `__T`.
                #item(unsafe {
                    #support::Castable::new(#support::Class::of::<__T>(), __cast::<__T>)
                })
            }
        }
    }
}
