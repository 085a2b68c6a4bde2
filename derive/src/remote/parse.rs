//! From tokens to a description of the interface.

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
    /// The crate `jstream_rmi`.
    pub(super) krate: Path,
    /// On what it depends whether the trait exists.
    pub(super) conditions: Vec<Attribute>,
    /// As the trait has them.
    pub(super) methods: Vec<Method>,
    pub(super) instances: Vec<Instance>,
    /// Whether a mock is asked for, and where.
    pub(super) mock: Option<Path>,
}

impl Interface {
    /// Whether the trait has parameters, and nothing says what for.
    pub(super) fn instances_are_missing(&self) -> bool {
        let mut instances = self.instances.iter();
        instances.any(|of| of.arguments.is_none())
    }

    /// Whether some method needs the object alone.
    pub(super) fn is_exclusive(&self) -> bool {
        self.methods.iter().any(Method::is_exclusive)
    }
}

#[derive(Clone)]
pub(super) struct Method {
    /// Its documentation, conditions and lints, for the stub.
    pub(super) attrs: Vec<Attribute>,
    /// On what it depends whether the method exists.
    pub(super) conditions: Vec<Attribute>,
    pub(super) signature: syn::Signature,
    pub(super) arguments: Vec<Argument>,
    /// `None` for `()`.
    pub(super) output: Option<Type>,
    /// Nobody waits for it.
    pub(super) one_way: Option<Ident>,
    /// It may run more than once for one call.
    pub(super) idempotent: bool,
}

impl Method {
    pub(super) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }

    /// `T` of a result of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(self.output.as_ref()?)
    }

    /// The result's type, where it has references.
    pub(super) fn passes(&self) -> Option<&Type> {
        self.output.as_ref().filter(|ty| passed(ty))
    }

    /// Whether its call takes streams or references along, or is answered with such.
    pub(super) fn carries(&self) -> bool {
        let mut arguments = self.arguments.iter();
        self.streams().is_some()
            || self.passes().is_some()
            || arguments.any(|argument| argument.streams().is_some() || argument.passes().is_some())
    }

    /// Whether it needs the object alone.
    pub(super) fn is_exclusive(&self) -> bool {
        matches!(self.signature.inputs.first(), Some(FnArg::Receiver(of)) if of.mutability.is_some())
    }
}

#[derive(Clone)]
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) ty: Type,
    /// `T` of an argument of type `Received<T>`.
    pub(super) received: Option<Type>,
}

impl Argument {
    /// `T` of an argument of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(&self.ty)
    }

    /// The type, where it has references.
    pub(super) fn passes(&self) -> Option<&Type> {
        passed(&self.ty).then_some(&self.ty)
    }
}

/// What could be understood, or `None` for what is no trait.
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
                "a remote trait has methods only: nothing else can be asked of another node",
            )),
        }
    }
    // Of a trait with lifetimes there are none.
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
                Err(meta
                    .error("unknown option: of a method `remote` takes `one_way` and `idempotent`"))
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
            "an argument can't depend on a condition: put it on the method, of which there may be \
             two",
        ));
    }
    let name = match &*of.pat {
        Pat::Ident(pat) => pat.ident.clone(),
        other => {
            errors.add(Error::new_spanned(
                other,
                "an argument of a remote method needs a plain name",
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

/// `T` of `Received<T>`, where that is the name.
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

/// `T` of `Stream<T>`.
pub(super) fn streamed(ty: &Type) -> Option<&Type> {
    wrapped(ty, "Stream")
}

/// Whether a type is `Remote<dyn Trait>` or `Referring<Struct>`, or an `Option`, `Vec` or `Result` of it.
pub(super) fn passed(ty: &Type) -> bool {
    wrapped(ty, "Remote").is_some()
        || wrapped(ty, "Referring").is_some()
        || ["Option", "Vec", "Result"]
            .iter()
            .any(|name| wrapped(ty, name).is_some_and(passed))
}

/// A type without the brackets, seen or not, around it.
pub(super) fn plain(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(of) => &of.elem,
            Type::Paren(of) => &of.elem,
            _ => return ty,
        };
    }
}
