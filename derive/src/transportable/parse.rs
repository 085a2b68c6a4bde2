//! From tokens to a description of the type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Data, DeriveInput, Error, Expr, Fields, Generics, Ident, Lifetime, Member, Meta, Path, Result,
    Token, Type,
};

/// A type that is its own in-place form.
pub(super) struct Own {
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// Its lifetime parameters, of which there may be one.
    pub(super) lifetimes: Vec<Lifetime>,
    /// The crate `jstream`.
    pub(super) krate: Path,
    pub(super) repr: Repr,
    pub(super) body: Body,
}

pub(super) enum Body {
    Struct(Vec<Part>),
    Enum(Vec<Variant>),
    Union(Span),
}

/// A field.
pub(super) struct Part {
    pub(super) member: Member,
    /// What a variable that is bound to it, or a field that mirrors it, is called.
    pub(super) binding: Ident,
    pub(super) ty: Type,
    /// Where errors about its type belong.
    pub(super) span: Span,
}

pub(super) struct Variant {
    pub(super) name: Ident,
    pub(super) discriminant: Option<Expr>,
    pub(super) parts: Vec<Part>,
}

/// What the `repr` attributes say.
#[derive(Default)]
pub(super) struct Repr {
    pub(super) c: Option<Span>,
    pub(super) transparent: Option<Span>,
    pub(super) packed: Option<Span>,
    /// The integer of an enum's tag.
    pub(super) int: Option<Ident>,
}

pub(super) fn parse(input: &DeriveInput) -> Result<Own> {
    let body = match &input.data {
        Data::Struct(of) => Body::Struct(parts(&of.fields)),
        Data::Enum(of) => Body::Enum(
            of.variants
                .iter()
                .map(|variant| Variant {
                    name: variant.ident.clone(),
                    discriminant: variant.discriminant.as_ref().map(|(_, e)| e.clone()),
                    parts: parts(&variant.fields),
                })
                .collect(),
        ),
        Data::Union(of) => Body::Union(of.union_token.span()),
    };
    Ok(Own {
        name: input.ident.clone(),
        generics: input.generics.clone(),
        lifetimes: input
            .generics
            .lifetimes()
            .map(|of| of.lifetime.clone())
            .collect(),
        krate: krate(input)?,
        repr: repr(input)?,
        body,
    })
}

fn parts(fields: &Fields) -> Vec<Part> {
    fields
        .members()
        .zip(fields)
        .enumerate()
        .map(|(i, (member, field))| Part {
            member,
            binding: format_ident!("part_{i}"),
            ty: field.ty.clone(),
            span: Span::call_site().located_at(field.ty.span()),
        })
        .collect()
}

fn krate(input: &DeriveInput) -> Result<Path> {
    let mut krate = syn::parse_quote!(::jstream);
    for attr in &input.attrs {
        if !attr.path().is_ident("transportable") {
            continue;
        }
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                krate = meta.value()?.parse()?;
                Ok(())
            } else {
                Err(meta.error("unknown option: `transportable` takes `crate = path`"))
            }
        })?;
    }
    for attr in field_attrs(&input.data) {
        if attr.path().is_ident("transportable") {
            return Err(Error::new(
                attr.span(),
                "`transportable` has no options for fields or variants",
            ));
        }
    }
    Ok(krate)
}

fn field_attrs(data: &Data) -> Vec<&syn::Attribute> {
    match data {
        Data::Struct(of) => of.fields.iter().flat_map(|f| &f.attrs).collect(),
        Data::Enum(of) => of
            .variants
            .iter()
            .flat_map(|v| v.attrs.iter().chain(v.fields.iter().flat_map(|f| &f.attrs)))
            .collect(),
        Data::Union(_) => Vec::new(),
    }
}

fn repr(input: &DeriveInput) -> Result<Repr> {
    const INTEGERS: [&str; 10] = [
        "u8", "u16", "u32", "u64", "usize", "i8", "i16", "i32", "i64", "isize",
    ];
    let mut repr = Repr::default();
    for attr in &input.attrs {
        if !attr.path().is_ident("repr") {
            continue;
        }
        let list = attr.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)?;
        for meta in list {
            let Some(name) = meta.path().get_ident() else {
                continue;
            };
            match name.to_string().as_str() {
                "C" => repr.c = Some(meta.span()),
                "transparent" => repr.transparent = Some(meta.span()),
                "packed" => repr.packed = Some(meta.span()),
                int if INTEGERS.contains(&int) => repr.int = Some(name.clone()),
                _ => {}
            }
        }
    }
    Ok(repr)
}

impl Own {
    /// The path that names what generated code uses.
    pub(super) fn support(&self) -> TokenStream {
        let krate = &self.krate;
        quote!(#krate::__private)
    }
}
