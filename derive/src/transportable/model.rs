//! The description of a type and its fields, as the code generators use it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{
    Expr, Generics, Ident, Lifetime, LitStr, Member, Path, Type, Visibility, WherePredicate,
};

use crate::spans::Place;

/// A type and its options.
pub(super) struct Own {
    pub(super) vis: Visibility,
    pub(super) name: Ident,
    pub(super) generics: Generics,
    /// Lifetime parameters; at most one is supported.
    pub(super) lifetimes: Vec<Lifetime>,
    pub(super) repr: Repr,
    pub(super) options: Options,
    pub(super) body: Body,
    /// True if the form is a separate type.
    pub(super) has_form: bool,
    /// Of a form: the bounds of the type that it is the form of, if defaults need them.
    pub(super) owner_bounds: Vec<WherePredicate>,
}

/// The `transportable` options of a type.
#[derive(Default)]
pub(super) struct Options {
    /// Path of the crate `jstream`.
    pub(super) krate: Option<Path>,
    /// The option `owned`: the type has a separate form although no field's type suggests it.
    pub(super) owned: Option<Span>,
    /// The option `own`: the type is its own form.
    pub(super) own: Option<Span>,
    /// Traits that the form derives.
    pub(super) derives: Vec<Path>,
    /// The option `compare`: the type and its form can be compared.
    pub(super) compare: Option<Span>,
    /// Functions that verify a received value.
    pub(super) verify: Vec<Path>,
    /// True if pointers are followed only if they are marked.
    pub(super) opt_in: bool,
    /// Traits that the type is registered as an implementation of.
    pub(super) implements: Vec<Path>,
    /// True if the form contains cells of references.
    pub(super) invariant: bool,
    /// True if values can't be restored from the form.
    pub(super) no_to_owned: bool,
    /// True if the form has no `Debug` unless it derives it.
    pub(super) no_debug: bool,
    /// Names that the type had as a class of trait objects.
    pub(super) older_names: Vec<LitStr>,
}

pub(super) enum Body {
    Struct(Vec<Part>),
    Enum(Vec<Variant>),
    Union(Span),
}

/// A field.
pub(super) struct Part {
    pub(super) member: Member,
    /// Name of a variable that is bound to the field, or of the field that mirrors it.
    pub(super) binding: Ident,
    pub(super) ty: Type,
    pub(super) options: PartOptions,
    /// Position for errors about the field's type.
    pub(super) place: Place,
}

impl Part {
    /// Returns a pattern that binds `binding`. A plain name is not sufficient: if the program has a
    /// constant or unit struct of that name, the pattern would compare with it instead of binding
    /// the field.
    pub(super) fn bound(&self) -> TokenStream {
        let binding = &self.binding;
        quote!(#binding @ _)
    }
}

/// The `transportable` options of a field.
#[derive(Default)]
pub(super) struct PartOptions {
    /// The option `form`: the type of the field in the form.
    pub(super) form: Option<Type>,
    /// The option `skip`: the field is not sent.
    pub(super) skip: Option<Span>,
    /// The option `with`: the adapter that makes the wire form.
    pub(super) with: Option<Path>,
    /// Functions that verify the field.
    pub(super) verify: Vec<Path>,
    /// The option `shared`: references preserve the identity of their targets.
    pub(super) shared: Option<Span>,
    /// The option `follow`: the field is followed although the type's pointers are not.
    pub(super) follow: Option<Span>,
    /// The option `exclusive`: the field arrives as a mutable slice.
    pub(super) exclusive: Option<Span>,
    /// The options for messages of other versions.
    pub(super) rules: PartRules,
}

/// The options of a field for messages of other versions.
#[derive(Default, Clone)]
pub(super) struct PartRules {
    /// Names that the field had.
    pub(super) older_names: Vec<LitStr>,
    pub(super) default: Option<PartDefault>,
    /// The option `narrow`: larger numbers are accepted if they fit.
    pub(super) narrow: Option<Span>,
    /// The option `must_understand`: receivers without the field refuse the message.
    pub(super) must_understand: Option<Span>,
}

/// The option `default`: the field's value in messages that lack it.
#[derive(Clone)]
pub(super) struct PartDefault {
    pub(super) span: Span,
    /// The value; `None` for that of the field's type.
    pub(super) value: Option<Expr>,
}

pub(super) struct Variant {
    pub(super) name: Ident,
    pub(super) discriminant: Option<Expr>,
    pub(super) parts: Vec<Part>,
    /// Names that the variant had.
    pub(super) older_names: Vec<LitStr>,
    /// The option `other`: unknown variants become this one.
    pub(super) other: Option<Span>,
}

/// The `repr` attributes.
#[derive(Default)]
pub(super) struct Repr {
    pub(super) c: Option<Span>,
    pub(super) transparent: Option<Span>,
    pub(super) packed: Option<Span>,
    /// Integer type of an enum's tag.
    pub(super) int: Option<Ident>,
    /// Span of a 128-bit integer, which is not supported as a tag.
    pub(super) wide: Option<Span>,
}

impl Own {
    /// Returns the path of the crate `jstream`.
    pub(super) fn krate(&self) -> TokenStream {
        match &self.options.krate {
            Some(krate) => quote!(#krate),
            None => quote!(::jstream),
        }
    }

    /// Returns the path of the support module for generated code.
    pub(super) fn support(&self) -> TokenStream {
        let krate = self.krate();
        quote!(#krate::__private)
    }

    /// Returns true if the type is an enum without fields.
    pub(super) fn is_fieldless(&self) -> bool {
        match &self.body {
            Body::Enum(variants) => variants.iter().all(|of| of.parts.is_empty()),
            Body::Struct(_) | Body::Union(_) => false,
        }
    }

    /// Returns the fields of all variants, mutably.
    pub(super) fn parts_mut(&mut self) -> Vec<&mut Part> {
        match &mut self.body {
            Body::Struct(parts) => parts.iter_mut().collect(),
            Body::Enum(variants) => variants.iter_mut().flat_map(|of| &mut of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }

    /// Returns the fields of the struct or of each variant, with the path suffix that names it.
    pub(super) fn paths(&self) -> Vec<(TokenStream, &[Part])> {
        match &self.body {
            Body::Struct(parts) => vec![(TokenStream::new(), parts)],
            Body::Enum(variants) => variants
                .iter()
                .map(|of| {
                    let name = &of.name;
                    (quote!(::#name), of.parts.as_slice())
                })
                .collect(),
            Body::Union(_) => Vec::new(),
        }
    }

    /// Returns the fields of all variants.
    pub(super) fn parts(&self) -> Vec<&Part> {
        match &self.body {
            Body::Struct(parts) => parts.iter().collect(),
            Body::Enum(variants) => variants.iter().flat_map(|of| &of.parts).collect(),
            Body::Union(_) => Vec::new(),
        }
    }
}
