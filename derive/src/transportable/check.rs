//! Rejection of unsupported types, with errors at the responsible tokens.

use quote::ToTokens;
use syn::visit::Visit;
use syn::{
    Error, Expr, ExprLit, ExprUnary, GenericArgument, Lifetime, Lit, PathArguments, Result, Type,
    TypePath, TypeReference, UnOp,
};

use super::check_types::plain;
use super::model::{Body, Own, Variant};
use super::{check_options, check_rules, form};
use crate::errors::Errors;

/// Reports all errors of the type together.
pub(super) fn check(of: &Own) -> Result<()> {
    let mut errors = Errors::default();
    if let Some(second) = of.lifetimes.get(1) {
        errors.add(Error::new(
            second.span(),
            "a transportable type can have only one lifetime, that of its buffer: use it for all \
             references",
        ));
    }
    if let Some(packed) = of.repr.packed {
        errors.add(Error::new(
            packed,
            "a packed type can't travel: references to its fields would not be aligned",
        ));
    }
    match &of.body {
        Body::Union(span) => errors.add(Error::new(
            *span,
            "a union can't travel: it is unknown which of its fields is valid; use an enum with \
             `#[repr(u8)]`",
        )),
        Body::Struct(_) => {}
        Body::Enum(_) => check_enum(of, &mut errors),
    }
    check_options::of_type(of, &mut errors);
    check_rules::of_type(of, &mut errors);
    for part in of.parts() {
        check_options::of_field(of, part, &mut errors);
        if is_unsized(&part.ty) {
            errors.add(Error::new_spanned(
                &part.ty,
                "a field that travels must be sized: put this behind a reference, or in a `Box`",
            ));
        } else if part.options.skip.is_some() {
            if of.has_form && part.options.form.is_none() {
                SkippedTypes {
                    errors: &mut errors,
                }
                .visit_type(&part.ty);
            }
        } else if part.options.with.is_none() {
            FieldTypes {
                errors: &mut errors,
                own: !of.has_form,
            }
            .visit_type(&part.ty);
        }
    }
    errors.finish()
}

/// Returns true if a type has an argument `dyn Trait`, as `Remote<dyn Trait>` has.
fn leads_to_trait(of: &TypePath) -> bool {
    let last = of.path.segments.last().map(|last| &last.arguments);
    let Some(PathArguments::AngleBracketed(arguments)) = last else {
        return false;
    };
    let mut arguments = arguments.args.iter();
    arguments.any(|of| matches!(of, GenericArgument::Type(Type::TraitObject(_))))
}

/// Returns true if a type is spelled as an unsized type.
fn is_unsized(ty: &Type) -> bool {
    match ty {
        Type::Slice(_) | Type::TraitObject(_) => true,
        Type::Path(of) => of.path.is_ident("str"),
        _ => false,
    }
}

/// Checks the generated form of a type.
pub(super) fn check_form(of: &Own, form: &Own) -> Result<()> {
    if form::is_in_a_buffer(form) {
        return Ok(());
    }
    Err(Error::new(
        of.name.span(),
        "this type needs no form, because nothing in it would refer to the buffer: remove `owned` \
         and `form`; a field that only has an adapter keeps its type",
    ))
}

fn check_enum(of: &Own, errors: &mut Errors) {
    let Body::Enum(variants) = &of.body else {
        return;
    };
    if variants.is_empty() {
        errors.add(Error::new(
            of.name.span(),
            "an enum without variants can't travel: it has no values",
        ));
    }
    let has_data = variants.iter().any(|variant| !variant.parts.is_empty());
    if let Some(span) = of.repr.c.or(of.repr.transparent) {
        errors.add(Error::new(
            span,
            "an enum that travels must have `#[repr(u8)]`, or another integer, and no other `repr`",
        ));
    } else if let Some(wide) = of.repr.wide {
        errors.add(Error::new(
            wide,
            "the tag of an enum can have at most 64 bits: use `#[repr(u64)]`, or a smaller integer",
        ));
    } else if has_data && of.repr.int.is_none() && !of.has_form {
        errors.add(Error::new(
            of.name.span(),
            "the layout of an enum with data is not defined: add `#[repr(u8)]`, or \
             `#[transportable(owned)]` if the type of a field owns its parts",
        ));
    }
    if of.repr.int.is_none() && of.repr.wide.is_none() {
        check_discriminants(variants, errors);
    }
    if !of.has_form {
        for part in of.parts() {
            NoSelf { errors }.visit_type(&part.ty);
        }
    }
}

/// Rejects literal discriminants that do not fit into the one-byte tag of an enum without integer
/// `repr`. This only improves error messages: generated code asserts the values of all variants.
fn check_discriminants(variants: &[Variant], errors: &mut Errors) {
    // The value of the next variant without a discriminant, if it is known.
    let mut next = Some(0);
    for variant in variants {
        let value = match &variant.discriminant {
            Some(explicit) => literal(explicit),
            None => next,
        };
        next = value.and_then(|value| value.checked_add(1));
        let Some(value) = value.filter(|value| !(0..=255).contains(value)) else {
            continue;
        };
        let repr = match value {
            -0x80..0 => "i8",
            -0x8000..-0x80 => "i16",
            -0x8000_0000..-0x8000 => "i32",
            ..-0x8000_0000 => "i64",
            0..0x1_0000 => "u16",
            0x1_0000..0x1_0000_0000 => "u32",
            0x1_0000_0000.. => "u64",
        };
        let at = match &variant.discriminant {
            Some(explicit) => explicit.to_token_stream(),
            None => variant.name.to_token_stream(),
        };
        errors.add(Error::new_spanned(
            at,
            format!(
                "the discriminant {value} does not fit into the tag of an enum without `repr`, \
                 which is one unsigned byte: add `#[repr({repr})]` to the enum"
            ),
        ));
        // One error is enough, because `repr` is of the whole enum.
        return;
    }
}

/// Returns the value of an integer literal, which may be negative.
fn literal(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Int(of), ..
        }) => of.base10_parse().ok(),
        Expr::Unary(ExprUnary {
            op: UnOp::Neg(_),
            expr,
            ..
        }) => literal(expr)?.checked_neg(),
        Expr::Paren(of) => literal(&of.expr),
        Expr::Group(of) => literal(&of.expr),
        _ => None,
    }
}

/// Rejects types that a field must not contain, by their spelling. This only improves error
/// messages: the compiler checks the types themselves regardless of their spelling.
struct FieldTypes<'e> {
    errors: &'e mut Errors,
    /// True if the type is its own form.
    own: bool,
}

impl<'ast> Visit<'ast> for FieldTypes<'_> {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Ptr(_) => self.errors.add(Error::new_spanned(
                ty,
                "an address is meaningless in another process: use a reference, or leave the field \
                 out with `#[transportable(skip)]`",
            )),
            Type::FnPtr(_) => self.errors.add(Error::new_spanned(
                ty,
                "the address of a function is meaningless in another process: use a trait object \
                 (`#[jstream::transportable]` on the trait) or an enum that stands for the \
                 function, or leave the field out with `#[transportable(skip)]`",
            )),
            _ => syn::visit::visit_type(self, ty),
        }
    }

    fn visit_type_reference(&mut self, of: &'ast TypeReference) {
        if let Some(exclusive) = &of.mutability {
            match &*of.elem {
                Type::Slice(slice) => plain(&slice.elem, self.errors),
                _ => self.errors.add(Error::new(
                    exclusive.span,
                    "an exclusive reference can't travel, except to a slice of plain data: use a \
                     shared one",
                )),
            }
        }
        syn::visit::visit_type_reference(self, of);
    }

    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if self.own && lifetime.ident == "static" {
            self.errors.add(Error::new(
                lifetime.span(),
                "received data lives as long as its buffer: give the type a lifetime and use it \
                 here",
            ));
        }
    }

    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let Some(last) = path.path.segments.last().map(|last| &last.ident) else {
            return;
        };
        if last == "Remote" && leads_to_trait(path) {
            self.errors.add(Error::new_spanned(
                path,
                "a reference to a remote object can't be part of a message: derive `Referring` of \
                 the crate `jstream_rmi` instead, and pass the struct as `Referring<Struct>`",
            ));
            return;
        }
        let name = last.to_string();
        if let Some(instead) = instead_of(&name) {
            self.errors.add(Error::new(
                last.span(),
                format!(
                    "`{name}` has no in-place form: use `{instead}`, or write the value `with` an \
                     adapter"
                ),
            ));
        } else if is_cell(&name) && !form::is_shared_cell(path) {
            self.errors.add(Error::new(
                last.span(),
                format!(
                    "`{name}` may change while it is written: use the plain value, write the value \
                     in it `with` an adapter, or leave the field out with \
                     `#[transportable(skip)]`; only a `Cell<Option<&'b T>>` can travel"
                ),
            ));
        } else if name != "PhantomData" {
            // A type parameter of `PhantomData` has no value.
            syn::visit::visit_type_path(self, path);
        }
    }
}

/// Rejects skipped fields of types that have no form, if the form's field has no type of its own.
struct SkippedTypes<'e> {
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for SkippedTypes<'_> {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let Some(last) = path.path.segments.last().map(|last| &last.ident) else {
            return;
        };
        let name = last.to_string();
        let is_known = instead_of(&name).is_some() || is_cell(&name);
        if is_known && !form::is_shared_cell(path) {
            self.errors.add(Error::new(
                last.span(),
                format!(
                    "`{name}` has no in-place form, so this field needs another type in the form: \
                     add it to `skip`, as in `#[transportable(skip, form = ())]`"
                ),
            ));
        } else if name != "PhantomData" {
            syn::visit::visit_type_path(self, path);
        }
    }
}

/// Returns true for types with interior mutability.
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

/// Returns a replacement for an owner that is not transportable.
fn instead_of(owner: &str) -> Option<&'static str> {
    Some(match owner {
        "VecDeque" | "LinkedList" | "BinaryHeap" => "Vec<T>",
        "Weak" => "Cell<Option<&'b T>>",
        "CString" => "String",
        _ => return None,
    })
}

/// Rejects `Self` in variants: in the structs that mirror them it would name another type.
struct NoSelf<'e> {
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for NoSelf<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(first) = path.segments.first().filter(|first| first.ident == "Self") {
            self.errors.add(Error::new_spanned(
                first.ident.to_token_stream(),
                "use the name of the enum here instead of `Self`",
            ));
        }
        syn::visit::visit_path(self, path);
    }
}
