//! Parsing of tokens into the description of an interface.

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, ItemTrait, Pat, PatType, Path, PathArguments,
    ReturnType, Token, TraitItem, TraitItemFn, Type,
};

use super::attributes;
use super::instances::{Instance, instances};
use crate::errors::Errors;

/// A trait whose methods can be called from another node.
pub(super) struct Interface {
    pub(super) item: ItemTrait,
    /// Path of the crate `jstream_rmi`.
    pub(super) krate: Path,
    /// The `cfg` attributes of the trait.
    pub(super) conditions: Vec<Attribute>,
    /// Methods as in the trait.
    pub(super) methods: Vec<Method>,
    pub(super) instances: Vec<Instance>,
    /// The option `mock`, if it was given.
    pub(super) mock: Option<Path>,
}

impl Interface {
    /// Returns true if the trait has parameters and no instances are listed.
    pub(super) fn instances_are_missing(&self) -> bool {
        let mut instances = self.instances.iter();
        instances.any(|of| of.arguments.is_none())
    }

    /// Returns true if a method takes `&mut self`.
    pub(super) fn is_exclusive(&self) -> bool {
        self.methods.iter().any(Method::is_exclusive)
    }
}

#[derive(Clone)]
pub(super) struct Method {
    /// Documentation, conditions and lints, for the stub.
    pub(super) attrs: Vec<Attribute>,
    /// The `cfg` attributes of the method.
    pub(super) conditions: Vec<Attribute>,
    pub(super) signature: syn::Signature,
    pub(super) arguments: Vec<Argument>,
    /// Type of the result; `None` for `()`.
    pub(super) output: Option<Type>,
    /// The option `one_way`, if it was given.
    pub(super) one_way: Option<Ident>,
    /// True if the method may run more than once for one call.
    pub(super) idempotent: bool,
}

impl Method {
    pub(super) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }

    /// Returns the `T` of a result of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(self.output.as_ref()?)
    }

    /// Returns the type of the result, if it has references.
    pub(super) fn passes(&self) -> Option<&Type> {
        self.output.as_ref().filter(|ty| passed(ty))
    }

    /// Returns true if the call or its reply carries streams or references.
    pub(super) fn carries(&self) -> bool {
        let mut arguments = self.arguments.iter();
        self.streams().is_some()
            || self.passes().is_some()
            || arguments.any(|argument| argument.streams().is_some() || argument.passes().is_some())
    }

    /// Returns true if the method takes `&mut self`.
    pub(super) fn is_exclusive(&self) -> bool {
        matches!(self.signature.inputs.first(), Some(FnArg::Receiver(of)) if of.mutability.is_some())
    }
}

#[derive(Clone)]
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) ty: Type,
    /// The `T` of an argument of type `Received<T>`.
    pub(super) received: Option<Type>,
}

impl Argument {
    /// Returns the `T` of an argument of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(&self.ty)
    }

    /// Returns the type, if it has references.
    pub(super) fn passes(&self) -> Option<&Type> {
        passed(&self.ty).then_some(&self.ty)
    }
}

/// Returns the parts of the interface that could be parsed, or `None` if the item is not a trait.
pub(super) fn parse(
    options: TokenStream,
    item: TokenStream,
    errors: &mut Errors,
) -> Option<Interface> {
    let mut krate = syn::parse_quote!(::jstream_rmi);
    let mut mock = None;
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
        } else {
            Err(meta.error(
                "unknown option: `remote` takes `instances(Trait<Type>, ...)`, `mock` and \
                 `crate = path`",
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

/// Returns the `T` of a type `name<T>`.
fn wrapped<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = plain(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first()? {
        GenericArgument::Type(of) if last.ident == name => Some(of),
        _ => None,
    }
}

/// Returns the `T` of `Stream<T>`.
pub(super) fn streamed(ty: &Type) -> Option<&Type> {
    wrapped(ty, "Stream")
}

/// Returns true if a type is `Remote<dyn Trait>` or `Referring<Struct>`, or an `Option`, `Vec` or
/// `Result` of it.
pub(super) fn passed(ty: &Type) -> bool {
    wrapped(ty, "Remote").is_some()
        || wrapped(ty, "Referring").is_some()
        || ["Option", "Vec", "Result"]
            .iter()
            .any(|name| wrapped(ty, name).is_some_and(passed))
}

/// Strips parentheses and invisible groups from a type.
pub(super) fn plain(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(of) => &of.elem,
            Type::Paren(of) => &of.elem,
            _ => return ty,
        };
    }
}
