//! Bounds of a generic type, extended to the forms of its arguments.
//!
//! If a type with bounds is its own form, its values in a buffer hold forms of its arguments. These
//! forms must satisfy the bounds, too.

use proc_macro2::{Span, TokenStream};
use syn::visit_mut::VisitMut;
use syn::{
    Generics, Ident, Lifetime, PredicateType, Type, TypeParamBound, WherePredicate, parse_quote,
};

use super::model::Own;

/// Adds the type's bounds on the forms of its arguments to the generics of an impl.
pub(super) fn add_of_forms(generics: &mut Generics, of: &Own) {
    let has_default = of.has_generic_default();
    if of.has_form && !has_default {
        return;
    }
    let mut all = stated(of);
    all.extend(of.owner_bounds.iter().filter_map(on_type).cloned());
    if has_default {
        all.extend(sent(of));
    }
    for mut predicate in all {
        predicate.bounds = predicate.bounds.into_iter().filter(is_plain).collect();
        if predicate.bounds.is_empty() || predicate.lifetimes.is_some() {
            continue;
        }
        Forms::new(of).visit_predicate_type_mut(&mut predicate);
        predicate.lifetimes = Some(parse_quote!(for<'__x>));
        let all = &mut generics.make_where_clause().predicates;
        all.push(WherePredicate::Type(predicate));
    }
}

/// Adds the bounds that the defaults of a form's fields need to the generics of an impl.
pub(super) fn add_of_defaults(generics: &mut Generics, of: &Own) {
    if !of.has_generic_default() {
        return;
    }
    let all = &mut generics.make_where_clause().predicates;
    all.extend(of.owner_bounds.iter().cloned());
    all.extend(sent(of).map(WherePredicate::Type));
}

/// Returns the bounds that a type states on its parameters and other types.
pub(super) fn stated(of: &Own) -> Vec<PredicateType> {
    let mut all: Vec<PredicateType> = Vec::new();
    for param in of.values() {
        let name = &param.ident;
        all.push(PredicateType {
            attrs: Vec::new(),
            lifetimes: None,
            bounded_ty: parse_quote!(#name),
            colon_token: Default::default(),
            bounds: param.bounds.clone(),
        });
    }
    if let Some(clause) = &of.generics.where_clause {
        all.extend(clause.predicates.iter().filter_map(on_type).cloned());
    }
    all
}

/// Returns the bounds by which the arguments of a type can be sent.
fn sent(of: &Own) -> impl Iterator<Item = PredicateType> {
    let support = of.support();
    of.values().map(move |param| {
        let name = &param.ident;
        PredicateType {
            attrs: Vec::new(),
            lifetimes: None,
            bounded_ty: parse_quote!(#name),
            colon_token: Default::default(),
            bounds: parse_quote!(#support::Transportable),
        }
    })
}

fn on_type(predicate: &WherePredicate) -> Option<&PredicateType> {
    match predicate {
        WherePredicate::Type(of) => Some(of),
        _ => None,
    }
}

/// Returns true for a trait bound without `for<...>` and without modifier.
fn is_plain(bound: &TypeParamBound) -> bool {
    matches!(bound, TypeParamBound::Trait(of)
        if of.lifetimes.is_none() && of.maybe.is_none())
}

/// Replaces each type parameter by the form of its argument.
struct Forms {
    params: Vec<Ident>,
    lifetime: Option<Lifetime>,
    support: TokenStream,
}

impl Forms {
    fn new(of: &Own) -> Self {
        let params = of.values();
        Self {
            params: params.map(|param| param.ident.clone()).collect(),
            lifetime: of.lifetimes.first().cloned(),
            support: of.support(),
        }
    }
}

impl VisitMut for Forms {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        syn::visit_mut::visit_type_mut(self, ty);
        let is_param = |of: &syn::TypePath| {
            of.qself.is_none() && self.params.iter().any(|param| of.path.is_ident(param))
        };
        if matches!(ty, Type::Path(of) if is_param(of)) {
            let support = &self.support;
            *ty = parse_quote!(<#ty as #support::Transportable>::InPlace<'__x>);
        }
    }

    fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
        if self.lifetime.as_ref() == Some(&*lifetime) {
            *lifetime = Lifetime::new("'__x", Span::call_site());
        }
    }
}
