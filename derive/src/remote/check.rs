//! What can't be called from another node, said on the token that causes it.

use syn::spanned::Spanned;
use syn::{Error, FnArg, Result, Type};

use super::parse::{Interface, Method};
use crate::errors::Errors;

/// Tuples implement `Transportable` up to this length.
const MOST_ARGUMENTS: usize = 12;

/// All errors of the trait at once, or none.
pub(super) fn check(of: &Interface) -> Result<()> {
    let mut errors = Errors::default();
    if let Some(param) = of.item.generics.params.first() {
        errors.add(Error::new_spanned(
            param,
            "a remote trait has no generics: the other node could not know the types",
        ));
    }
    for method in &of.methods {
        check_method(method, &mut errors);
    }
    errors.finish()
}

fn check_method(method: &Method, errors: &mut Errors) {
    let signature = &method.signature;
    if let Some(token) = &signature.asyncness {
        errors.add(Error::new(
            token.span,
            "a remote method is a plain `fn`: it runs to its end when it is called",
        ));
    }
    if let Some(token) = &signature.unsafety {
        errors.add(Error::new(
            token.span,
            "a remote method can't be `unsafe`: nobody vouches for a caller on another node",
        ));
    }
    if let Some(param) = signature.generics.params.first() {
        errors.add(Error::new_spanned(
            param,
            "a remote method has no generics: the other node could not know the types",
        ));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver))
            if receiver.reference.is_some()
                && receiver.mutability.is_none()
                && receiver.colon_token.is_none() => {}
        Some(other) => errors.add(Error::new_spanned(
            other,
            "a remote method takes `&self`: many callers share the object",
        )),
        None => errors.add(Error::new(
            signature.paren_token.span.join(),
            "a remote method takes `&self`: it is called on an object",
        )),
    }
    if let Some(extra) = method.arguments.get(MOST_ARGUMENTS) {
        errors.add(Error::new(
            extra.name.span(),
            "a remote method has 12 arguments at most: put some into a struct",
        ));
    }
    check_types(method, errors);
}

fn check_types(method: &Method, errors: &mut Errors) {
    let alone = method.arguments.len() == 1;
    for argument in &method.arguments {
        if argument.received.is_some() && !alone {
            errors.add(Error::new_spanned(
                &argument.ty,
                "`Received` must be the only argument: it is the whole message",
            ));
        }
        if let Some(instead) = borrowed(&argument.ty) {
            errors.add(Error::new_spanned(
                &argument.ty,
                format!(
                    "the server gets a reference into the receive buffer: take `{instead}`, or \
                     `Received<T>` to keep the buffer"
                ),
            ));
        }
        if let Type::ImplTrait(_) = argument.ty {
            errors.add(Error::new_spanned(
                &argument.ty,
                "a remote method has no generics: the other node could not know the type",
            ));
        }
    }
    if let Some(output @ Type::ImplTrait(_)) = &method.output {
        errors.add(Error::new(
            output.span(),
            "the result of a remote method has a type that both nodes know",
        ));
    }
}

/// What to take instead of an owner by value.
fn borrowed(ty: &Type) -> Option<&'static str> {
    let Type::Path(path) = ty else {
        return None;
    };
    match path.path.segments.last()?.ident.to_string().as_str() {
        "String" => Some("&str"),
        "Vec" => Some("&[T]"),
        "Box" | "Rc" | "Arc" => Some("&T"),
        _ => None,
    }
}
