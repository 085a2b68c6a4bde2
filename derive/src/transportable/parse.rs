//! From tokens to a description of the type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Fields, Generics, Ident, Lifetime, Member, Meta,
    Path, Result, Token, Type, Visibility,
};

/// A type, and what its attributes say.
pub(super) struct Own {
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// Its lifetime parameters, of which there may be one.
    pub(super) lifetimes: Vec<Lifetime>,
    pub(super) repr: Repr,
    pub(super) options: Options,
    pub(super) body: Body,
}

/// What `transportable` attributes on the type say.
#[derive(Default)]
pub(super) struct Options {
    /// The crate `jstream`.
    krate: Option<Path>,
    /// That it has a form of its own, where no field's type tells.
    pub(super) owned: bool,
    /// What its form derives.
    pub(super) derives: Vec<Path>,
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
    /// What stands for it in the type's form, where its type does not tell.
    pub(super) form: Option<Type>,
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
        Data::Struct(of) => Body::Struct(parts(&of.fields)?),
        Data::Enum(of) => Body::Enum(of.variants.iter().map(variant).collect::<Result<_>>()?),
        Data::Union(of) => Body::Union(of.union_token.span()),
    };
    Ok(Own {
        vis: input.vis.clone(),
        name: input.ident.clone(),
        generics: input.generics.clone(),
        lifetimes: input
            .generics
            .lifetimes()
            .map(|of| of.lifetime.clone())
            .collect(),
        repr: repr(input)?,
        options: options(&input.attrs)?,
        body,
    })
}

fn variant(of: &syn::Variant) -> Result<Variant> {
    if let Some(attr) = of
        .attrs
        .iter()
        .find(|attr| attr.path().is_ident("transportable"))
    {
        return Err(Error::new(
            attr.span(),
            "`transportable` has no options for variants",
        ));
    }
    Ok(Variant {
        name: of.ident.clone(),
        discriminant: of.discriminant.as_ref().map(|(_, value)| value.clone()),
        parts: parts(&of.fields)?,
    })
}

fn parts(fields: &Fields) -> Result<Vec<Part>> {
    let of_each = fields.members().zip(fields).enumerate();
    of_each
        .map(|(i, (member, field))| {
            Ok(Part {
                member,
                binding: format_ident!("__part_{i}"),
                ty: field.ty.clone(),
                form: form(&field.attrs)?,
                span: Span::call_site().located_at(field.ty.span()),
            })
        })
        .collect()
}

/// The option of a field.
fn form(attrs: &[Attribute]) -> Result<Option<Type>> {
    let mut form = None;
    for attr in attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transportable"))
    {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("form") {
                form = Some(meta.value()?.parse()?);
                Ok(())
            } else {
                Err(meta.error("unknown option: of a field `transportable` takes `form = Type`"))
            }
        })?;
    }
    Ok(form)
}

/// The options of the type.
fn options(attrs: &[Attribute]) -> Result<Options> {
    let mut options = Options::default();
    for attr in attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transportable"))
    {
        attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("crate") {
                options.krate = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("owned") {
                options.owned = true;
            } else if meta.path.is_ident("derive") {
                let list;
                syn::parenthesized!(list in meta.input);
                let paths = list.parse_terminated(Path::parse_mod_style, Token![,])?;
                options.derives.extend(paths);
            } else {
                return Err(meta.error(
                    "unknown option: of a type `transportable` takes `crate = path`, `owned` and \
                     `derive(Trait, ...)`",
                ));
            }
            Ok(())
        })?;
    }
    Ok(options)
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
        match &self.options.krate {
            Some(krate) => quote!(#krate::__private),
            None => quote!(::jstream::__private),
        }
    }

    /// The fields of all variants.
    pub(super) fn parts(&self) -> Vec<&Part> {
        match &self.body {
            Body::Struct(parts) => parts.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|of| &of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }
}
