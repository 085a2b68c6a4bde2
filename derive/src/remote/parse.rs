//! From tokens to a description of the interface.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::{
    Attribute, Error, FnArg, GenericArgument, Ident, ItemTrait, Pat, Path, PathArguments, Result,
    ReturnType, Signature, TraitItem, Type,
};

/// A trait whose methods can be called from another node.
pub(super) struct Interface {
    pub(super) item: ItemTrait,
    /// The crate `jstream_rmi`.
    pub(super) krate: Path,
    pub(super) methods: Vec<Method>,
}

pub(super) struct Method {
    /// Its documentation and conditions, for the stub.
    pub(super) attrs: Vec<Attribute>,
    pub(super) signature: Signature,
    pub(super) arguments: Vec<Argument>,
    /// `None` for `()`.
    pub(super) output: Option<Type>,
}

pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) ty: Type,
    /// `T` of an argument of type `Received<T>`.
    pub(super) received: Option<Type>,
}

pub(super) fn parse(options: TokenStream, item: TokenStream) -> Result<Interface> {
    let mut krate = syn::parse_quote!(::jstream_rmi);
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            krate = meta.value()?.parse()?;
            Ok(())
        } else {
            Err(meta.error("unknown option: `remote` takes `crate = path`"))
        }
    });
    parser.parse2(options)?;
    let item: ItemTrait = syn::parse2(item)?;
    let methods = item
        .items
        .iter()
        .map(|item| match item {
            TraitItem::Fn(of) => method(&of.attrs, &of.sig),
            other => Err(Error::new_spanned(
                other,
                "a remote trait has methods only: nothing else can be asked of another node",
            )),
        })
        .collect::<Result<_>>()?;
    Ok(Interface {
        item,
        krate,
        methods,
    })
}

fn method(attrs: &[Attribute], signature: &Signature) -> Result<Method> {
    let arguments = signature
        .inputs
        .iter()
        .filter_map(|input| match input {
            FnArg::Receiver(_) => None,
            FnArg::Typed(of) => Some(of),
        })
        .map(|of| match &*of.pat {
            Pat::Ident(pat) => Ok(Argument {
                name: pat.ident.clone(),
                ty: (*of.ty).clone(),
                received: received(&of.ty),
            }),
            other => Err(Error::new_spanned(
                other,
                "an argument of a remote method needs a plain name",
            )),
        })
        .collect::<Result<_>>()?;
    let output = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some((**ty).clone()),
    };
    Ok(Method {
        attrs: attrs
            .iter()
            .filter(|attr| attr.path().is_ident("doc") || attr.path().is_ident("cfg"))
            .cloned()
            .collect(),
        signature: signature.clone(),
        arguments,
        output,
    })
}

/// `T` of `Received<T>`.
fn received(ty: &Type) -> Option<Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first()? {
        GenericArgument::Type(of) if last.ident == "Received" => Some(of.clone()),
        _ => None,
    }
}
