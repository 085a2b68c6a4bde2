//! Attributes of a trait and its methods that are copied to generated code.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Meta, Token, parse_quote};

/// Attributes that a stub's method has in common with the trait's.
const SHARED: &[&str] = &["doc", "cfg", "deprecated", "must_use", "allow"];

/// Returns the attributes of a stub's method.
pub(super) fn shared(of: &[Attribute]) -> Vec<Attribute> {
    kept(of, SHARED)
}

/// Returns the `cfg` attributes.
pub(super) fn conditions(of: &[Attribute]) -> Vec<Attribute> {
    kept(of, &["cfg"])
}

/// Returns the attributes with these names, including those inside `cfg_attr`.
fn kept(of: &[Attribute], names: &[&str]) -> Vec<Attribute> {
    of.iter()
        .filter_map(|attr| {
            let meta = kept_meta(&attr.meta, names)?;
            Some(Attribute {
                meta,
                ..attr.clone()
            })
        })
        .collect()
}

fn kept_meta(of: &Meta, names: &[&str]) -> Option<Meta> {
    if names.iter().any(|name| of.path().is_ident(name)) {
        return Some(of.clone());
    }
    let Meta::List(list) = of else {
        return None;
    };
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let parser = Punctuated::<Meta, Token![,]>::parse_terminated;
    let mut parts = parser.parse2(list.tokens.clone()).ok()?.into_iter();
    let condition = parts.next()?;
    let attrs: Vec<_> = parts.filter_map(|part| kept_meta(&part, names)).collect();
    if attrs.is_empty() {
        return None;
    }
    Some(parse_quote!(cfg_attr(#condition, #(#attrs),*)))
}
