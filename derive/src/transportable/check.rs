//! What can't be supported, said on the token that causes it.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{Error, Lifetime, Result, Type, TypePath, TypeReference};

use super::form;
use super::parse::{Body, Own};
use crate::errors::Errors;

/// All errors of the type at once, or none.
pub(super) fn check(of: &Own) -> Result<()> {
    let mut errors = Errors::default();
    if let Some(second) = of.lifetimes.get(1) {
        errors.add(Error::new(
            second.span(),
            "a transportable type has one lifetime, that of the buffer it stands in: use the \
             same one for all references",
        ));
    }
    if let Some(packed) = of.repr.packed {
        errors.add(Error::new(
            packed,
            "a packed type can't travel: its fields are not aligned, so no reference to them \
             could be handed out",
        ));
    }
    match &of.body {
        Body::Union(span) => errors.add(Error::new(
            *span,
            "a union can't travel: nothing says which of its fields is valid; use an enum with \
             `#[repr(u8)]`",
        )),
        Body::Struct(_) => {}
        Body::Enum(_) => check_enum(of, &mut errors),
    }
    for part in of.parts() {
        FieldTypes {
            errors: &mut errors,
            own: !form::is_needed(of),
        }
        .visit_type(&part.ty);
    }
    errors.finish()
}

fn check_enum(of: &Own, errors: &mut Errors) {
    let Body::Enum(variants) = &of.body else {
        return;
    };
    if variants.is_empty() {
        errors.add(Error::new(
            of.name.span(),
            "an enum without variants has no value that could travel",
        ));
    }
    let has_data = variants.iter().any(|variant| !variant.parts.is_empty());
    if let Some(span) = of.repr.c.or(of.repr.transparent) {
        errors.add(Error::new(
            span,
            "an enum travels with `#[repr(u8)]`, or another integer, alone",
        ));
    } else if has_data && of.repr.int.is_none() && !form::is_needed(of) {
        errors.add(Error::new(
            of.name.span(),
            "the language does not say how an enum with data is laid out: add `#[repr(u8)]`",
        ));
    }
    if !form::is_needed(of) {
        for part in of.parts() {
            NoSelf { errors }.visit_type(&part.ty);
        }
    }
}

/// What a field's type, as it is spelled, must not contain. Only for better words: the types
/// themselves are checked by the compiler, whatever their spelling.
struct FieldTypes<'e> {
    errors: &'e mut Errors,
    /// Whether the type is its own form.
    own: bool,
}

impl<'ast> Visit<'ast> for FieldTypes<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Ptr(_) | Type::BareFn(_) => self.errors.add(Error::new_spanned(
                ty,
                "an address means nothing to another process: use a reference",
            )),
            Type::TraitObject(_) => self.errors.add(Error::new_spanned(
                ty,
                "a trait object can't travel: nothing says which type stands behind it; use an \
                 enum with `#[repr(u8)]`",
            )),
            _ => syn::visit::visit_type(self, ty),
        }
    }

    fn visit_type_reference(&mut self, of: &'ast TypeReference) {
        if let Some(exclusive) = &of.mutability {
            self.errors.add(Error::new(
                exclusive.span,
                "an exclusive reference can't travel: use a shared one",
            ));
        }
        syn::visit::visit_type_reference(self, of);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if self.own && lifetime.ident == "static" {
            self.errors.add(Error::new(
                lifetime.span(),
                "what is received lives as long as its buffer: give the type a lifetime and use \
                 it here",
            ));
        }
    }

    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let Some(last) = path.path.segments.last().map(|last| &last.ident) else {
            return;
        };
        let name = last.to_string();
        if let Some(instead) = instead_of(&name) {
            self.errors.add(Error::new(
                last.span(),
                format!("`{name}` has no in-place form: use `{instead}`"),
            ));
        } else if is_cell(&name) {
            self.errors.add(Error::new(
                last.span(),
                format!("`{name}` may change while it is written: use the plain value"),
            ));
        } else if name != "PhantomData" {
            // What is only named in a `PhantomData` is not there.
            syn::visit::visit_type_path(self, path);
        }
    }
}

/// Whether this is one of the types that change behind shared references.
fn is_cell(name: &str) -> bool {
    const CELLS: [&str; 7] = [
        "Cell",
        "RefCell",
        "OnceCell",
        "UnsafeCell",
        "Mutex",
        "RwLock",
        "OnceLock",
    ];
    CELLS.contains(&name) || name.starts_with("Atomic")
}

/// What to write instead of an owner that can't travel.
fn instead_of(owner: &str) -> Option<&'static str> {
    Some(match owner {
        "Rc" | "Arc" => "Box<T>",
        "VecDeque" => "Vec<T>",
        "Cow" => "&'b T",
        _ => return None,
    })
}

/// `Self` would name another type where variants are mirrored.
struct NoSelf<'e> {
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for NoSelf<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first().filter(|first| first.ident == "Self") {
            self.errors.add(Error::new_spanned(
                first.ident.to_token_stream(),
                "name the enum here instead of `Self`",
            ));
        }
        syn::visit::visit_path(self, path);
    }
}
