//! Code that adds the rules for messages of other versions to a schema.

use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Expr, ExprLit, Lit, LitStr};

use super::context::name_of;
use super::model::{Body, Own, Part, PartDefault};
use crate::spans::Place;

/// Returns an expression with the rules of a type, or `None` if it has none. `form` is the type's
/// form, which is the type itself unless it owns its parts.
pub(super) fn expand(of: &Own, form: &Own) -> Option<TokenStream> {
    let support = of.support();
    let names = older(type_names(of, form));
    let (fields, variants) = match (&of.body, &form.body) {
        (Body::Struct(parts), Body::Struct(forms)) => (fields(of, parts, forms), Vec::new()),
        (Body::Enum(variants), Body::Enum(forms)) => {
            let both = variants.iter().zip(forms).enumerate();
            let rules = both.filter_map(|(number, (variant, form))| {
                let fields = fields(of, &variant.parts, &form.parts);
                let other = variant.other.is_some();
                if variant.older_names.is_empty() && !other && fields.is_empty() {
                    return None;
                }
                let number = Literal::usize_unsuffixed(number);
                let names = older(variant.older_names.iter().map(LitStr::value));
                Some(quote! {
                    (#number, #support::variant_rules(&#names, #other, #support::list([#(#fields),*])))
                })
            });
            (Vec::new(), rules.collect())
        }
        _ => (Vec::new(), Vec::new()),
    };
    if of.options.older_names.is_empty() && fields.is_empty() && variants.is_empty() {
        return None;
    }
    Some(quote! {
        #support::type_rules(
            &#names,
            #support::list([#(#fields),*]),
            #support::list([#(#variants),*]),
        )
    })
}

/// Returns the older names of a type as a class of trait objects. The class has the name of the
/// form. In the older version, the type may have had a separate form, or may have been its own.
fn type_names(of: &Own, form: &Own) -> Vec<String> {
    let mut names = Vec::new();
    for older in &of.options.older_names {
        let older = older.value();
        if of.has_form {
            let older_form = format!("{older}Ref");
            if older_form != name_of(&form.name) {
                names.push(older_form);
            }
        }
        names.push(older);
    }
    names
}

/// Returns a list of names.
fn older(names: impl IntoIterator<Item = String>) -> TokenStream {
    let names = names.into_iter();
    quote!([#(#names),*])
}

/// Returns the rules of the fields of a struct or variant that have any, each with its number among
/// the fields of the schema.
fn fields(of: &Own, parts: &[Part], forms: &[Part]) -> Vec<TokenStream> {
    let support = of.support();
    let both = parts.iter().zip(forms).filter(|(part, _)| part.travels());
    let rules = both.enumerate().filter_map(|(number, (part, form))| {
        let rules = &part.options.rules;
        let narrow = rules.narrow.is_some();
        let must_understand = rules.must_understand.is_some();
        let has_flag = narrow || must_understand;
        if rules.older_names.is_empty() && rules.default.is_none() && !has_flag {
            return None;
        }
        let number = Literal::usize_unsuffixed(number);
        let names = older(rules.older_names.iter().map(LitStr::value));
        let default = match &rules.default {
            Some(default) => {
                let message = message(of, part, form, default);
                quote!(::__core::option::Option::Some(|| #message))
            }
            None => quote!(::__core::option::Option::None),
        };
        Some(quote! {
            (
                #number,
                #support::field_rules(
                    &#names,
                    #default,
                    #narrow,
                    #must_understand,
                ),
            )
        })
    });
    rules.collect()
}

/// Returns an expression that writes the default of a field. It is not in an unsafe block, and
/// becomes a function without captures, so the program's expression sees no generated variable.
fn message(of: &Own, part: &Part, form: &Part, default: &PartDefault) -> TokenStream {
    let support = of.support();
    let ty = of_owner(part.ty.to_token_stream(), of);
    let ty = quote!(#support::check_type_of::<#ty>());
    let message = match &default.value {
        None => Place::at(default.span).put(quote!(#ty.write_default())),
        Some(value) => {
            let ty = part.place.put(ty);
            let value = of_owner(value_of(value, &support), of);
            quote!(#ty.write_value(|| #value))
        }
    };
    if part.options.exclusive.is_some() {
        let form = &form.ty;
        quote!(#support::exclusive_default(#message, #support::check_type_of::<#form>()))
    } else {
        message
    }
}

/// Returns the value of a default. A literal text becomes a `String`, a `Box<str>` or whatever the
/// field's type is.
fn value_of(value: &Expr, support: &TokenStream) -> TokenStream {
    let is_text = matches!(
        value,
        Expr::Lit(ExprLit {
            lit: Lit::Str(_),
            ..
        })
    );
    if is_text {
        Place::new(value).put(quote!(#support::text_default(#value)))
    } else {
        value.to_token_stream()
    }
}

/// Replaces `Self` by the name of the type: the code is in an impl of the form.
fn of_owner(code: TokenStream, of: &Own) -> TokenStream {
    if !of.has_form {
        return code;
    }
    let of_each = code.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), of_owner(group.stream(), of));
            replaced.set_span(group.span());
            TokenTree::Group(replaced).into()
        }
        TokenTree::Ident(name) if name == "Self" => {
            let (_, ty_generics, _) = of.generics.split_for_impl();
            let (turbofish, own) = (ty_generics.as_turbofish(), &of.name);
            let path = quote!(#own #turbofish);
            Place::at(name.span()).put(path)
        }
        other => other.into(),
    });
    of_each.collect()
}

/// Returns the code of the program that the rules repeat.
pub(super) fn program_code(of: &Own) -> TokenStream {
    let with_default = of.parts().into_iter().filter_map(|part| {
        let default = part.options.rules.default.as_ref()?;
        let (ty, value) = (&part.ty, &default.value);
        Some(quote!(#ty #value))
    });
    with_default.collect()
}
