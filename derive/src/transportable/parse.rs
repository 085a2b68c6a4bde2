//! Parsing of tokens into the description of a type.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Fields, Generics, Ident, Lifetime, Member, Meta,
    Path, Result, Token, Type, Visibility,
};

use super::form;
use crate::spans::Place;

/// A type and its options.
pub(super) struct Own {
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// Lifetime parameters; at most one is supported.
    pub(super) lifetimes: Vec<Lifetime>,
    pub(super) repr: Repr,
    pub(super) options: Options,
    pub(super) body: Body,
    /// True if the form is a separate type.
    pub(super) has_form: bool,
}

/// The `transportable` options of a type.
#[derive(Default)]
pub(super) struct Options {
    /// Path of the crate `jstream`.
    pub(super) krate: Option<Path>,
    /// The option `owned`: the type has a separate form although no field's type suggests it.
    pub(super) owned: Option<Span>,
    /// The option `own`: the type is its own form.
    pub(super) own: Option<Span>,
    /// Traits that the form derives.
    pub(super) derives: Vec<Path>,
    /// Functions that verify a received value.
    pub(super) verify: Vec<Path>,
    /// True if pointers are followed only if they are marked.
    pub(super) opt_in: bool,
    /// Traits that the type is registered as an implementation of.
    pub(super) implements: Vec<Path>,
    /// True if the form contains cells of references.
    pub(super) invariant: bool,
    /// True if values can't be restored from the form.
    pub(super) no_to_owned: bool,
}

pub(super) enum Body {
    Struct(Vec<Part>),
    Enum(Vec<Variant>),
    Union(Span),
}

/// A field.
pub(super) struct Part {
    pub(super) member: Member,
    /// Name of a variable that is bound to the field, or of the field that mirrors it.
    pub(super) binding: Ident,
    pub(super) ty: Type,
    pub(super) options: PartOptions,
    /// Position for errors about the field's type.
    pub(super) place: Place,
}

impl Part {
    /// Returns a pattern that binds `binding`. A plain name is not sufficient: if the program has a
    /// constant or unit struct of that name, the pattern would compare with it instead of binding
    /// the field.
    pub(super) fn bound(&self) -> TokenStream {
        let binding = &self.binding;
        quote!(#binding @ _)
    }
}

/// The `transportable` options of a field.
#[derive(Default)]
pub(super) struct PartOptions {
    /// The option `form`: the type of the field in the form.
    pub(super) form: Option<Type>,
    /// The option `skip`: the field is not sent.
    pub(super) skip: Option<Span>,
    /// The option `with`: the adapter that makes the wire form.
    pub(super) with: Option<Path>,
    /// Functions that verify the field.
    pub(super) verify: Vec<Path>,
    /// The option `shared`: references preserve the identity of their targets.
    pub(super) shared: Option<Span>,
    /// The option `follow`: the field is followed although the type's pointers are not.
    pub(super) follow: Option<Span>,
    /// The option `exclusive`: the field arrives as a mutable slice.
    pub(super) exclusive: Option<Span>,
}

pub(super) struct Variant {
    pub(super) name: Ident,
    pub(super) discriminant: Option<Expr>,
    pub(super) parts: Vec<Part>,
}

/// The `repr` attributes.
#[derive(Default)]
pub(super) struct Repr {
    pub(super) c: Option<Span>,
    pub(super) transparent: Option<Span>,
    pub(super) packed: Option<Span>,
    /// Integer type of an enum's tag.
    pub(super) int: Option<Ident>,
    /// Span of a 128-bit integer, which is not supported as a tag.
    pub(super) wide: Option<Span>,
}

pub(super) fn parse(input: &DeriveInput) -> Result<Own> {
    let body = match &input.data {
        Data::Struct(of) => Body::Struct(parts(&of.fields)?),
        Data::Enum(of) => Body::Enum(of.variants.iter().map(variant).collect::<Result<_>>()?),
        Data::Union(of) => Body::Union(of.union_token.span()),
    };
    let mut of = Own {
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
        has_form: false,
    };
    of.has_form = form::is_needed(&of);
    Ok(of)
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
            let options = part_options(&field.attrs)?;
            Ok(Part {
                member,
                binding: format_ident!("__part_{i}"),
                ty: field.ty.clone(),
                place: match &options.with {
                    Some(adapter) => Place::of(adapter),
                    None => Place::of(&field.ty),
                },
                options,
            })
        })
        .collect()
}

/// Parses the options of a field.
fn part_options(attrs: &[Attribute]) -> Result<PartOptions> {
    let mut options = PartOptions::default();
    let mut said = Vec::new();
    for attr in attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transportable"))
    {
        attr.parse_nested_meta(|meta| {
            once(&meta, &mut said)?;
            let span = meta.path.span();
            if meta.path.is_ident("form") {
                options.form = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("skip") {
                options.skip = Some(span);
            } else if meta.path.is_ident("with") {
                options.with = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("verify") {
                options.verify.push(meta.value()?.parse()?);
            } else if meta.path.is_ident("shared") {
                options.shared = Some(span);
            } else if meta.path.is_ident("follow") {
                options.follow = Some(span);
            } else if meta.path.is_ident("exclusive") {
                options.exclusive = Some(span);
            } else {
                return Err(meta.error(
                    "unknown option: on a field, `transportable` takes `form = Type`, `skip`, \
                     `with = Adapter`, `verify = function`, `shared`, `exclusive` and `follow`",
                ));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

/// Parses the options of a type.
fn options(attrs: &[Attribute]) -> Result<Options> {
    let mut options = Options::default();
    let mut said = Vec::new();
    for attr in attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transportable"))
    {
        attr.parse_nested_meta(|meta| {
            once(&meta, &mut said)?;
            if meta.path.is_ident("crate") {
                options.krate = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("owned") {
                options.owned = Some(meta.path.span());
            } else if meta.path.is_ident("own") {
                options.own = Some(meta.path.span());
            } else if meta.path.is_ident("derive") {
                options.derives.extend(paths(&meta)?);
            } else if meta.path.is_ident("verify") {
                options.verify.push(meta.value()?.parse()?);
            } else if meta.path.is_ident("opt_in") {
                options.opt_in = true;
            } else if meta.path.is_ident("implements") {
                options.implements.extend(paths(&meta)?);
            } else if meta.path.is_ident("invariant") {
                options.invariant = true;
            } else if meta.path.is_ident("no_to_owned") {
                options.no_to_owned = true;
            } else {
                return Err(meta.error(
                    "unknown option: on a type, `transportable` takes `crate = path`, `own`, \
                     `owned`, `derive(Trait, ...)`, `verify = function`, `opt_in`, \
                     `implements(Trait, ...)`, `invariant` and `no_to_owned`",
                ));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

/// Rejects a repeated option, unless it can be given several times.
fn once(meta: &ParseNestedMeta<'_>, said: &mut Vec<Ident>) -> Result<()> {
    const MANY: [&str; 3] = ["derive", "implements", "verify"];
    let Some(name) = meta.path.get_ident() else {
        return Ok(());
    };
    if said.contains(name) && !MANY.iter().any(|many| name == many) {
        return Err(meta.error(format!("the option `{name}` is repeated")));
    }
    said.push(name.clone());
    Ok(())
}

/// Parses the paths in the parentheses of an option.
fn paths(meta: &ParseNestedMeta<'_>) -> Result<Vec<Path>> {
    let list;
    syn::parenthesized!(list in meta.input);
    let paths = list.parse_terminated(Path::parse_mod_style, Token![,])?;
    Ok(paths.into_iter().collect())
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
                "u128" | "i128" => repr.wide = Some(meta.span()),
                _ => {}
            }
        }
    }
    Ok(repr)
}

impl Own {
    /// Returns the path of the crate `jstream`.
    pub(super) fn krate(&self) -> TokenStream {
        match &self.options.krate {
            Some(krate) => quote!(#krate),
            None => quote!(::jstream),
        }
    }

    /// Returns the path of the support module for generated code.
    pub(super) fn support(&self) -> TokenStream {
        let krate = self.krate();
        quote!(#krate::__private)
    }

    /// Returns true if the type's form is not covariant in the buffer's lifetime.
    pub(super) fn is_invariant(&self) -> bool {
        self.options.invariant || form::has_cells(self)
    }

    /// Returns the fields of all variants, mutably.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Part> {
        match &mut self.body {
            Body::Struct(parts) => parts.iter_mut().collect(),
            Body::Enum(variants) => variants.iter_mut().flat_map(|of| &mut of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }

    /// Returns the fields of the struct or of each variant, with the path suffix that names it.
    pub(super) fn paths(&self) -> Vec<(TokenStream, &[Part])> {
        match &self.body {
            Body::Struct(parts) => vec![(TokenStream::new(), parts)],
            Body::Enum(variants) => variants
                .iter()
                .map(|of| {
                    let name = &of.name;
                    (quote!(::#name), of.parts.as_slice())
                })
                .collect(),
            Body::Union(_) => Vec::new(),
        }
    }

    /// Returns the fields of all variants.
    pub(super) fn parts(&self) -> Vec<&Part> {
        match &self.body {
            Body::Struct(parts) => parts.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|of| &of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }
}
