//! Parsing of tokens into the description of a type.

use quote::format_ident;
use syn::meta::ParseNestedMeta;
use syn::parse::Parse;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, LitStr, Meta, Path, Result, Token};

use super::form;
use super::model::{Body, Options, Own, Part, PartDefault, PartOptions, PartRules, Repr, Variant};
use super::self_name::without_self;
use crate::crates::trusted_path;
use crate::spans::Place;

pub(super) fn parse(input: &DeriveInput) -> Result<Own> {
    let body = match &input.data {
        Data::Struct(of) => Body::Struct(parts(&of.fields)?),
        Data::Enum(of) => Body::Enum(
            of.variants
                .iter()
                .map(|of| variant(of, &input.ident))
                .collect::<Result<_>>()?,
        ),
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
        owner_bounds: Vec::new(),
    };
    of.has_form = form::is_needed(&of);
    Ok(of)
}

fn variant(of: &syn::Variant, name: &Ident) -> Result<Variant> {
    let mut older_names = Vec::new();
    let mut other = None;
    each_option(&of.attrs, |meta| {
        if meta.path.is_ident("renamed_from") {
            older_names.extend(names_of_option(&meta)?);
        } else if meta.path.is_ident("other") {
            other = Some(meta.path.span());
        } else {
            return Err(meta.error(
                "unknown option: on a variant, `transportable` takes `renamed_from = \"name\"` and \
                 `other`",
            ));
        }
        Ok(())
    })?;
    Ok(Variant {
        name: of.ident.clone(),
        discriminant: of
            .discriminant
            .as_ref()
            .map(|(_, value)| without_self(value, name)),
        parts: parts(&of.fields)?,
        older_names,
        other,
    })
}

/// Calls `parse` for each option in the attributes, and rejects options that are repeated.
fn each_option(
    attrs: &[Attribute],
    mut parse: impl FnMut(ParseNestedMeta<'_>) -> Result<()>,
) -> Result<()> {
    let mut said = Vec::new();
    for attr in attrs
        .iter()
        .filter(|attr| attr.path().is_ident("transportable"))
    {
        attr.parse_nested_meta(|meta| {
            refuse_repeated(&meta, &mut said)?;
            parse(meta)
        })?;
    }
    Ok(())
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
                    Some(adapter) => Place::new(adapter),
                    None => Place::new(&field.ty),
                },
                options,
            })
        })
        .collect()
}

/// Parses the options of a field.
fn part_options(attrs: &[Attribute]) -> Result<PartOptions> {
    let mut options = PartOptions::default();
    each_option(attrs, |meta| {
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
        } else if !part_rule(&meta, &mut options.rules)? {
            return Err(meta.error(
                "unknown option: on a field, `transportable` takes `form = Type`, `skip`, \
                 `with = Adapter`, `verify = function`, `shared`, `exclusive`, `follow`, \
                 `renamed_from = \"name\"`, `default`, `default = value`, `narrow` \
                 and `must_understand`",
            ));
        }
        Ok(())
    })?;
    Ok(options)
}

/// Parses an option of a field for messages of other versions. Returns false for other options.
fn part_rule(meta: &ParseNestedMeta<'_>, rules: &mut PartRules) -> Result<bool> {
    let span = meta.path.span();
    if meta.path.is_ident("renamed_from") {
        rules.older_names.extend(names_of_option(meta)?);
    } else if meta.path.is_ident("default") {
        let has_value = meta.input.peek(Token![=]);
        let value = has_value.then(|| meta.value()?.parse()).transpose()?;
        rules.default = Some(PartDefault { span, value });
    } else if meta.path.is_ident("narrow") {
        rules.narrow = Some(span);
    } else if meta.path.is_ident("must_understand") {
        rules.must_understand = Some(span);
    } else {
        return Ok(false);
    }
    Ok(true)
}

/// Parses the options of a type.
fn options(attrs: &[Attribute]) -> Result<Options> {
    let mut options = Options::default();
    each_option(attrs, |meta| {
        if meta.path.is_ident("crate") {
            options.krate = Some(trusted_path(&meta)?);
        } else if meta.path.is_ident("owned") {
            options.owned = Some(meta.path.span());
        } else if meta.path.is_ident("own") {
            options.own = Some(meta.path.span());
        } else if meta.path.is_ident("derive") {
            options.derives.extend(paths(&meta)?);
        } else if meta.path.is_ident("compare") {
            options.compare = Some(meta.path.span());
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
        } else if meta.path.is_ident("no_debug") {
            options.no_debug = true;
        } else if meta.path.is_ident("renamed_from") {
            options.older_names.extend(names_of_option(&meta)?);
        } else {
            return Err(meta.error(
                "unknown option: on a type, `transportable` takes `crate = unsafe(path)`, `own`, \
                 `owned`, `derive(Trait, ...)`, `compare`, `verify = function`, `opt_in`, \
                 `implements(Trait, ...)`, `invariant`, `no_to_owned`, `no_debug` and \
                 `renamed_from = \"name\"`",
            ));
        }
        Ok(())
    })?;
    Ok(options)
}

/// Rejects a repeated option, unless it can be given several times.
fn refuse_repeated(meta: &ParseNestedMeta<'_>, said: &mut Vec<Ident>) -> Result<()> {
    const MANY: [&str; 4] = ["derive", "implements", "renamed_from", "verify"];
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

/// Parses the value of the option `renamed_from`, or the list in its parentheses.
pub(crate) fn names_of_option(meta: &ParseNestedMeta<'_>) -> Result<Vec<LitStr>> {
    if meta.input.peek(Token![=]) {
        return Ok(vec![meta.value()?.parse()?]);
    }
    let list;
    let parentheses = syn::parenthesized!(list in meta.input);
    let names = list.parse_terminated(<LitStr as Parse>::parse, Token![,])?;
    if names.is_empty() {
        let details = "name at least one older name, as in `renamed_from = \"name\"`";
        return Err(Error::new(parentheses.span.join(), details));
    }
    Ok(names.into_iter().collect())
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
