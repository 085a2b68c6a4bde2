//! Parsing of tokens into the description of an interface.

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, FnArg, ItemTrait, Pat, PatType, Path, ReturnType, Token, TraitItem, TraitItemFn};

use super::attributes;
use super::instances::instances;
use super::interface::{Argument, Interface, Method, wrapped};
use crate::errors::Errors;

/// Returns the parts of the interface that could be parsed, or `None` if the item is not a trait.
pub(super) fn parse(
    options: TokenStream,
    item: TokenStream,
    errors: &mut Errors,
) -> Option<Interface> {
    let mut krate = syn::parse_quote!(::jstream_rmi);
    let mut mock = None;
    let mut stateful = false;
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
        } else {
            Err(meta.error(
                "unknown option: `remote` takes `instances(Trait<Type>, ...)`, `stateful`, `mock` \
                 and `crate = path`",
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
    })
}

fn method(of: &mut TraitItemFn, errors: &mut Errors) -> Method {
    let (mut one_way, mut idempotent) = (None, false);
    of.attrs.retain(|attr| {
        if !attr.path().is_ident("remote") {
            return true;
        }
        let parsed = attr.parse_nested_meta(|meta| {
            if meta.path.is_ident("one_way") {
                one_way = meta.path.get_ident().cloned();
                Ok(())
            } else if meta.path.is_ident("idempotent") {
                idempotent = true;
                Ok(())
            } else {
                Err(meta.error(
                    "unknown option: on a method, `remote` takes `one_way` and `idempotent`",
                ))
            }
        });
        if let Err(error) = parsed {
            errors.add(error);
        }
        false
    });
    let arguments = of
        .sig
        .inputs
        .iter()
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
    }
}

fn argument(i: usize, of: &PatType, errors: &mut Errors) -> Argument {
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
    }
}
