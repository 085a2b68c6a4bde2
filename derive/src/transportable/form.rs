//! The in-place form of a type that owns its parts.
//!
//! The types of the form's fields are spelled out, mapped from those of the type: associated types
//! would make the form invariant in the buffer's lifetime. Nothing relies on the mapping being
//! correct: the functions that write fields take pointers of both types, which must agree.
//!
//! Decisions 005 and 026 have the reasons.

use proc_macro2::Span;
use quote::{format_ident, quote};
use syn::visit::Visit;
use syn::{
    AngleBracketedGenericArguments, DeriveInput, Field, Fields, GenericArgument, GenericParam,
    Generics, Ident, Lifetime, PathArguments, Type, TypeParamBound, TypePath, WherePredicate,
    parse_quote,
};

use super::model::{Body, Own, Part, PartOptions};
use super::self_name::without_self;
use super::{bounds, known};

/// Returns true if the type has a separate form.
pub(super) fn is_needed(of: &Own) -> bool {
    let parts = of.parts();
    of.options.own.is_none()
        && (of.options.owned.is_some()
            || parts.iter().any(|part| part.options.form.is_some())
            || parts.iter().any(|part| Owners::are_in(&part.ty)))
}

/// Finds types that own memory.
pub(super) struct Owners {
    found: bool,
}

impl Owners {
    pub(super) fn are_in(ty: &Type) -> bool {
        let mut owners = Self { found: false };
        owners.visit_type(ty);
        owners.found
    }
}

impl<'ast> Visit<'ast> for Owners {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let last = path.path.segments.last();
        self.found |= last.is_some_and(|last| known::is_owner(&last.ident.to_string()));
        syn::visit::visit_type_path(self, path);
    }
}

/// Returns true if a type is spelled as a cell of an optional reference.
pub(super) fn is_shared_cell(path: &TypePath) -> bool {
    let argument = |path: &TypePath, name: &str| match path.path.segments.last() {
        Some(last) if last.ident == name => match &last.arguments {
            PathArguments::AngleBracketed(args) => types(args).next().cloned(),
            _ => None,
        },
        _ => None,
    };
    let payload = match argument(path, "Cell") {
        Some(Type::Path(option)) => argument(&option, "Option"),
        _ => None,
    };
    matches!(payload, Some(Type::Reference(_)))
}

impl Own {
    /// Returns true if the type's form is not covariant in the buffer's lifetime.
    pub(super) fn is_invariant(&self) -> bool {
        self.options.invariant || has_cells(self)
    }
}

/// Returns true if the type's form has cells, so that it is not covariant.
pub(super) fn has_cells(of: &Own) -> bool {
    struct Cells(bool);
    impl<'ast> Visit<'ast> for Cells {
        fn visit_type_path(&mut self, path: &'ast TypePath) {
            let last = path.path.segments.last();
            self.0 |= last.is_some_and(|last| last.ident == "Cell");
            syn::visit::visit_type_path(self, path);
        }
    }
    let mut cells = Cells(false);
    for part in of.parts() {
        cells.visit_type(&part.ty);
    }
    cells.0
}

/// Returns the name of a type's form.
pub(super) fn name(of: &Ident) -> Ident {
    format_ident!("{}Ref", of, span = of.span())
}

/// Returns the buffer's lifetime, which is that of the type if it has one.
pub(super) fn lifetime(of: &Own) -> Lifetime {
    let own = of.lifetimes.first().cloned();
    own.unwrap_or_else(|| Lifetime::new("'b", Span::call_site()))
}

/// Returns the buffer's lifetime and the type's parameters, without defaults and bounds other than
/// `?Sized`.
pub(super) fn generics(of: &Own) -> Generics {
    let lifetime = lifetime(of);
    let mut generics = Generics::default();
    generics.params.push(parse_quote!(#lifetime));
    for param in &of.generics.params {
        match param {
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(of) => {
                let name = &of.ident;
                generics.params.push(if of.bounds.iter().any(is_relaxed) {
                    parse_quote!(#name: ?::__core::marker::Sized)
                } else {
                    parse_quote!(#name)
                });
            }
            GenericParam::Const(of) => {
                let (name, ty) = (&of.ident, &of.ty);
                generics.params.push(parse_quote!(const #name: #ty));
            }
        }
    }
    generics
}

/// Returns true for the bound `?Sized`.
pub(super) fn is_relaxed(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(of) if of.maybe.is_some())
}

/// Returns the definition of the form.
pub(super) fn definition(input: &DeriveInput, of: &Own) -> DeriveInput {
    let mut form = input.clone();
    form.ident = name(&of.name);
    form.generics = generics(of);
    let doc = format!(
        "The in-place form of [`{}`], as it is in a receive buffer.",
        of.name
    );
    form.attrs.retain(|attr| attr.path().is_ident("repr"));
    form.attrs.push(parse_quote!(#[doc = #doc]));
    // The layout of a form follows its declaration, so that programs built by different compilers
    // are compatible.
    let is_enum = matches!(of.body, Body::Enum(_));
    if is_enum && of.repr.int.is_none() {
        form.attrs.push(parse_quote!(#[repr(u8)]));
    } else if !is_enum && of.repr.c.is_none() && of.repr.transparent.is_none() {
        form.attrs.push(parse_quote!(#[repr(C)]));
    }
    let of_owner = of;
    let mapping = Mapping {
        of,
        lifetime: lifetime(of),
    };
    let mut forms = of.parts().into_iter();
    let mut each = |field: &mut Field| {
        field.attrs.retain(|attr| attr.path().is_ident("doc"));
        if let Some(part) = forms.next() {
            field.ty = mapping.of_part(part);
        }
    };
    let mut all = |fields: &mut Fields| fields.iter_mut().for_each(&mut each);
    match &mut form.data {
        syn::Data::Struct(of) => all(&mut of.fields),
        syn::Data::Enum(of) => {
            for variant in &mut of.variants {
                variant.attrs.retain(|attr| attr.path().is_ident("doc"));
                if let Some((_, value)) = &mut variant.discriminant {
                    *value = without_self(value, &of_owner.name);
                }
                all(&mut variant.fields);
            }
        }
        syn::Data::Union(_) => {}
    }
    form
}

/// Copies those options to the form that apply to it, too.
pub(super) fn carry(of: &Own, form: &mut Own) {
    form.options.krate.clone_from(&of.options.krate);
    form.options.verify.clone_from(&of.options.verify);
    form.options.invariant = of.options.invariant;
    form.options.implements.clear();
    form.has_form = false;
    if of.has_generic_default() {
        let stated = bounds::stated(of).into_iter().map(|mut predicate| {
            let bounds = predicate.bounds.into_iter();
            predicate.bounds = bounds.filter(|bound| !is_relaxed(bound)).collect();
            predicate
        });
        let stated = stated.filter(|predicate| !predicate.bounds.is_empty());
        form.owner_bounds = stated.map(WherePredicate::Type).collect();
    }
    for (owner, part) in of.parts().into_iter().zip(form.parts_mut()) {
        let options = &owner.options;
        part.place = owner.place;
        part.options = PartOptions {
            skip: options.skip,
            shared: options.shared,
            verify: options.verify.clone(),
            // If the adapter's form remains in the buffer, the field is read like any other.
            with: options.with.clone().filter(|_| options.form.is_none()),
            rules: options.rules.clone(),
            ..PartOptions::default()
        };
    }
}

/// Returns true if a form is spelled with a lifetime of the buffer.
pub(super) fn is_in_a_buffer(form: &Own) -> bool {
    let mut lifetimes = Lifetimes::default();
    for part in form.parts() {
        lifetimes.visit_type(&part.ty);
    }
    lifetimes.found
}

/// Finds lifetimes other than `'static`.
#[derive(Default)]
pub(super) struct Lifetimes {
    pub(super) found: bool,
}

impl<'ast> Visit<'ast> for Lifetimes {
    fn visit_lifetime(&mut self, of: &'ast Lifetime) {
        self.found |= of.ident != "static";
    }
}

/// Returns the form of the type that an alias stands for. `of` is a struct with the parameters of
/// the alias.
pub(super) fn of_alias(of: &Own, ty: &Type) -> Type {
    let mapping = Mapping {
        of,
        lifetime: lifetime(of),
    };
    mapping.map(ty)
}

/// Maps the spelling of a type to that of its form.
struct Mapping<'o> {
    of: &'o Own,
    lifetime: Lifetime,
}

impl Mapping<'_> {
    fn of_part(&self, part: &Part) -> Type {
        let options = &part.options;
        if let Some(form) = &options.form {
            return form.clone();
        }
        if options.with.is_some() {
            return part.ty.clone();
        }
        match self.map(&part.ty) {
            Type::Reference(mut of) if options.exclusive.is_some() => {
                of.mutability = Some(parse_quote!(mut));
                Type::Reference(of)
            }
            mapped => mapped,
        }
    }

    fn map(&self, ty: &Type) -> Type {
        let lifetime = &self.lifetime;
        match ty {
            Type::Reference(of) => {
                let (exclusive, target) = (&of.mutability, self.map(&of.elem));
                parse_quote!(&#lifetime #exclusive #target)
            }
            Type::Slice(of) => {
                let element = self.map(&of.elem);
                parse_quote!([#element])
            }
            Type::Array(of) => {
                let (element, len) = (self.map(&of.elem), &of.len);
                parse_quote!([#element; #len])
            }
            Type::Tuple(of) => {
                let parts = of.elems.iter().map(|part| self.map(part));
                parse_quote!((#(#parts,)*))
            }
            Type::Paren(of) => self.map(&of.elem),
            Type::Group(of) => self.map(&of.elem),
            Type::Path(of) => self.path(of),
            Type::TraitObject(of) => {
                let bounds = of
                    .bounds
                    .iter()
                    .filter(|bound| !matches!(bound, syn::TypeParamBound::Lifetime(_)));
                parse_quote!((dyn #(#bounds +)* #lifetime))
            }
            other => other.clone(),
        }
    }

    fn path(&self, of: &TypePath) -> Type {
        let Some(last) = of.path.segments.last() else {
            return Type::Path(of.clone());
        };
        let name = last.ident.to_string();
        let lifetime = &self.lifetime;
        if let PathArguments::AngleBracketed(args) = &last.arguments {
            let first = types(args).next();
            let archive = first.and_then(|of| known::archive(self.of, &name, lifetime, of));
            if let Some(form) = archive {
                return form;
            }
        }
        let arguments: Vec<Type> = match &last.arguments {
            PathArguments::AngleBracketed(args) => types(args).map(|ty| self.map(ty)).collect(),
            _ => Vec::new(),
        };
        if name == "Self" {
            let name = self::name(&self.of.name);
            let generics = generics(self.of);
            let (_, args, _) = generics.split_for_impl();
            return parse_quote!(#name #args);
        }
        if let Some(form) = known::form(self.of, &name, lifetime, &arguments) {
            form
        } else if known::is_of_parts(&name) {
            self.of_parts(of)
        } else if self.is_its_own(of, &name) {
            Type::Path(of.clone())
        } else {
            self.renamed(of)
        }
    }

    /// Maps the arguments of a type, and keeps the type itself.
    fn of_parts(&self, of: &TypePath) -> Type {
        let mut of = of.clone();
        let last = of.path.segments.last_mut();
        if let Some(PathArguments::AngleBracketed(args)) = last.map(|last| &mut last.arguments) {
            for argument in &mut args.args {
                if let GenericArgument::Type(ty) = argument {
                    *ty = self.map(ty);
                }
            }
        }
        Type::Path(of)
    }

    /// Returns true if the type is its own form, judging by its name.
    fn is_its_own(&self, of: &TypePath, name: &str) -> bool {
        let mut params = self.of.generics.type_params();
        known::is_leaf(&of.path, name)
            || of.qself.is_some()
            || params.any(|param| of.path.is_ident(&param.ident))
    }

    /// Returns the form of a type of the program: `a::Foo<X>` becomes `a::FooRef<'b, X's form>`.
    fn renamed(&self, of: &TypePath) -> Type {
        let lifetime = &self.lifetime;
        let mut of = of.clone();
        if let Some(last) = of.path.segments.last_mut() {
            last.ident = name(&last.ident);
            let others: Vec<GenericArgument> = match &last.arguments {
                PathArguments::AngleBracketed(args) => args
                    .args
                    .iter()
                    .filter_map(|argument| match argument {
                        GenericArgument::Lifetime(_) => None,
                        GenericArgument::Type(ty) => Some(GenericArgument::Type(self.map(ty))),
                        other => Some(other.clone()),
                    })
                    .collect(),
                _ => Vec::new(),
            };
            let args: AngleBracketedGenericArguments = parse_quote!(<#lifetime, #(#others),*>);
            last.arguments = PathArguments::AngleBracketed(args);
        }
        Type::Path(of)
    }
}

fn types(args: &AngleBracketedGenericArguments) -> impl Iterator<Item = &Type> {
    args.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Returns the alias that names the form of a type that is its own form.
pub(super) fn alias(of: &Own) -> proc_macro2::TokenStream {
    let (vis, own) = (&of.vis, &of.name);
    let name = name(own);
    let generics = generics(of);
    let (_, args, _) = of.generics.split_for_impl();
    let doc = format!("The in-place form of [`{own}`], which is the type itself.");
    quote! {
        #[doc = #doc]
        #[allow(
            dead_code, non_camel_case_types, type_alias_bounds,
            reason = "used by the forms of other types"
        )]
        #vis type #name #generics = #own #args;
    }
}
