//! From tokens to a description of the type.

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
    /// Whether its form is another type.
    pub(super) has_form: bool,
}

/// What `transportable` attributes on the type say.
#[derive(Default)]
pub(super) struct Options {
    /// The crate `jstream`.
    pub(super) krate: Option<Path>,
    /// That it has a form of its own, where no field's type tells.
    pub(super) owned: Option<Span>,
    /// That it is its own form.
    pub(super) own: Option<Span>,
    /// What its form derives.
    pub(super) derives: Vec<Path>,
    /// The functions that approve of a received value.
    pub(super) verify: Vec<Path>,
    /// That pointers are followed only where they are marked.
    pub(super) opt_in: bool,
    /// The traits that it is registered as an implementation of.
    pub(super) implements: Vec<Path>,
    /// That its form holds cells of references somewhere.
    pub(super) invariant: bool,
    /// That its form can't be made a value of the type again.
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
    /// What a variable that is bound to it, or a field that mirrors it, is called.
    pub(super) binding: Ident,
    pub(super) ty: Type,
    pub(super) options: PartOptions,
    /// Where errors about how it travels belong.
    pub(super) place: Place,
}

impl Part {
    /// A pattern that binds `binding`. A plain name would not: where the program has a constant or a
    /// struct of that name it would be compared with it, and the field itself would go unseen.
    pub(super) fn bound(&self) -> TokenStream {
        let binding = &self.binding;
        quote!(#binding @ _)
    }
}

/// What the `transportable` attributes of a field say.
#[derive(Default)]
pub(super) struct PartOptions {
    /// What stands for it in the type's form, where its type does not tell.
    pub(super) form: Option<Type>,
    /// That it does not travel.
    pub(super) skip: Option<Span>,
    /// What makes its wire form.
    pub(super) with: Option<Path>,
    /// The functions that approve of it.
    pub(super) verify: Vec<Path>,
    /// That references in it keep the identity of what they lead to.
    pub(super) shared: Option<Span>,
    /// That it is followed although the type's pointers are not.
    pub(super) follow: Option<Span>,
    /// That it arrives as a slice that may be changed where it lies.
    pub(super) exclusive: Option<Span>,
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
    /// An integer that is no tag.
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

/// The options of a field.
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
                    "unknown option: of a field `transportable` takes `form = Type`, `skip`, \
                     `with = Adapter`, `verify = function`, `shared`, `exclusive` and `follow`",
                ));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

/// The options of the type.
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
                    "unknown option: of a type `transportable` takes `crate = path`, `own`, \
                     `owned`, `derive(Trait, ...)`, `verify = function`, `opt_in`, \
                     `implements(Trait, ...)`, `invariant` and `no_to_owned`",
                ));
            }
            Ok(())
        })?;
    }
    Ok(options)
}

/// Refuses an option that was said before, unless it adds to what was said.
fn once(meta: &ParseNestedMeta<'_>, said: &mut Vec<Ident>) -> Result<()> {
    const MANY: [&str; 3] = ["derive", "implements", "verify"];
    let Some(name) = meta.path.get_ident() else {
        return Ok(());
    };
    if said.contains(name) && !MANY.iter().any(|many| name == many) {
        return Err(meta.error(format!("`{name}` is said twice")));
    }
    said.push(name.clone());
    Ok(())
}

/// The paths in the parentheses of an option.
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
    /// The path of the crate `jstream`.
    pub(super) fn krate(&self) -> TokenStream {
        match &self.options.krate {
            Some(krate) => quote!(#krate),
            None => quote!(::jstream),
        }
    }

    /// The path that names what generated code uses.
    pub(super) fn support(&self) -> TokenStream {
        let krate = self.krate();
        quote!(#krate::__private)
    }

    /// Whether the type's form is not covariant in the buffer's lifetime.
    pub(super) fn is_invariant(&self) -> bool {
        self.options.invariant || form::has_cells(self)
    }

    /// The fields of all variants, to be changed.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Part> {
        match &mut self.body {
            Body::Struct(parts) => parts.iter_mut().collect(),
            Body::Enum(variants) => variants.iter_mut().flat_map(|of| &mut of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }

    /// The fields by what follows the type's name to name a struct, or a variant.
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

    /// The fields of all variants.
    pub(super) fn parts(&self) -> Vec<&Part> {
        match &self.body {
            Body::Struct(parts) => parts.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|of| &of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }
}
