//! Parsing of tokens into the description of an interface.

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::meta::ParseNestedMeta;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, Error, FnArg, ItemTrait, Pat, PatType, Path, ReturnType, Token, TraitItem,
    TraitItemFn,
};

use super::attributes;
use super::instances::instances;
use super::interface::{Argument, ArgumentDefault, ArgumentRules, Interface, Method, wrapped};
use crate::errors::Errors;
use crate::transportable::names_of_option;

/// Returns the parts of the interface that could be parsed, or `None` if the item is not a trait.
pub(super) fn parse(
    options: TokenStream,
    item: TokenStream,
    errors: &mut Errors,
) -> Option<Interface> {
    let mut krate = syn::parse_quote!(::jstream_rmi);
    let mut mock = None;
    let mut stateful = false;
    let mut older = Vec::new();
    let mut listed = Punctuated::<Path, Token![,]>::new();
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            krate = meta.value()?.parse()?;
            Ok(())
        } else if meta.path.is_ident("instances") {
            let content;
            syn::parenthesized!(content in meta.input);
            listed = Punctuated::parse_terminated(&content)?;
            Ok(())
        } else if meta.path.is_ident("mock") {
            mock = Some(meta.path);
            Ok(())
        } else if meta.path.is_ident("stateful") {
            stateful = true;
            Ok(())
        } else if meta.path.is_ident("renamed_from") {
            older.extend(names_of_option(&meta)?);
            Ok(())
        } else {
            Err(meta.error(
                "unknown option: `remote` takes `instances(Trait<Type>, ...)`, `stateful`, \
                 `renamed_from = \"name\"`, `mock` and `crate = path`",
            ))
        }
    });
    if let Err(error) = parser.parse2(options) {
        errors.add(error);
    }
    let mut item: ItemTrait = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => {
            errors.add(error);
            return None;
        }
    };
    let mut methods = Vec::new();
    for part in &mut item.items {
        match part {
            TraitItem::Fn(of) => methods.push(method(of, errors)),
            other => errors.add(Error::new_spanned(
                other,
                "a remote trait can have only methods",
            )),
        }
    }
    // A trait with lifetimes is rejected, so its instances are ignored.
    let possible = item.generics.lifetimes().next().is_none();
    let listed: Vec<_> = listed.into_iter().filter(|_| possible).collect();
    Some(Interface {
        conditions: attributes::conditions(&item.attrs),
        instances: instances(&item, &methods, &listed, errors),
        item,
        krate,
        methods,
        mock,
        stateful,
        older_names: older,
    })
}

fn method(of: &mut TraitItemFn, errors: &mut Errors) -> Method {
    let (mut one_way, mut idempotent, mut older) = (None, false, Vec::new());
    let mut resume = None;
    take_options(&mut of.attrs, errors, |meta| {
        if meta.path.is_ident("one_way") {
            one_way = meta.path.get_ident().cloned();
        } else if meta.path.is_ident("idempotent") {
            idempotent = true;
        } else if meta.path.is_ident("resume") {
            resume = Some(meta.value()?.parse()?);
        } else if meta.path.is_ident("renamed_from") {
            older.extend(names_of_option(&meta)?);
        } else {
            return Err(meta.error(
                "unknown option: on a method, `remote` takes `one_way`, `idempotent`, \
                 `resume = \"argument\"` and `renamed_from = \"name\"`",
            ));
        }
        Ok(())
    });
    let arguments = of
        .sig
        .inputs
        .iter_mut()
        .filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(of) => Some(of),
        })
        .enumerate()
        .map(|(i, of)| argument(i, of, errors))
        .collect();
    let output = match &of.sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    Method {
        attrs: attributes::shared(&of.attrs),
        conditions: attributes::conditions(&of.attrs),
        signature: of.sig.clone(),
        arguments,
        output,
        one_way,
        idempotent,
        resume,
        older_names: older,
    }
}

/// Removes the attributes `remote` of a part of the trait, and parses their options.
fn take_options(
    attrs: &mut Vec<Attribute>,
    errors: &mut Errors,
    mut option: impl FnMut(ParseNestedMeta<'_>) -> syn::Result<()>,
) {
    attrs.retain(|attr| {
        if !attr.path().is_ident("remote") {
            return true;
        }
        if let Err(error) = attr.parse_nested_meta(&mut option) {
            errors.add(error);
        }
        false
    });
}

fn argument(i: usize, of: &mut PatType, errors: &mut Errors) -> Argument {
    let mut rules = ArgumentRules::default();
    take_options(&mut of.attrs, errors, |meta| {
        let span = meta.path.span();
        if meta.path.is_ident("renamed_from") {
            rules.older_names.extend(names_of_option(&meta)?);
        } else if meta.path.is_ident("default") {
            let has_value = meta.input.peek(Token![=]);
            let value = has_value.then(|| meta.value()?.parse()).transpose()?;
            rules.default = Some(ArgumentDefault { span, value });
        } else {
            return Err(meta.error(
                "unknown option: on an argument, `remote` takes `default`, `default = value` and \
                 `renamed_from = \"name\"`",
            ));
        }
        Ok(())
    });
    if let Some(attr) = attributes::conditions(&of.attrs).first() {
        errors.add(Error::new_spanned(
            attr,
            "an argument can't have `cfg`: declare two methods with `cfg` instead",
        ));
    }
    let name = match &*of.pat {
        Pat::Ident(pat) => pat.ident.clone(),
        other => {
            errors.add(Error::new_spanned(
                other,
                "an argument of a remote method must have a plain name",
            ));
            format_ident!("__argument_{i}")
        }
    };
    Argument {
        name,
        ty: (*of.ty).clone(),
        received: wrapped(&of.ty, "Received").cloned(),
        rules,
    }
}
