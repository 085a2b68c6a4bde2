//! Rejection of options for messages of other versions that contradict one another or have no
//! effect.

use proc_macro2::Span;
use syn::{Error, LitStr};

use super::context::name_of;
use super::form;
use super::model::{Body, Own, Part, PartRules};
use crate::errors::Errors;

/// Checks the options of a type, its fields and its variants.
pub(super) fn of_type(of: &Own, errors: &mut Errors) {
    // The name in the schema is that of the form.
    let name = if of.has_form {
        form::name(&of.name)
    } else {
        of.name.clone()
    };
    let of_name = Renamed {
        name: name_of(&name),
        noun: "type",
        older_names: &of.options.older_names,
    };
    check_names(&[of_name], errors);
    match &of.body {
        Body::Struct(parts) => of_fields(parts, errors),
        Body::Enum(variants) => {
            let renamed = variants.iter().map(|variant| Renamed {
                name: name_of(&variant.name),
                noun: "variant",
                older_names: &variant.older_names,
            });
            check_names(&renamed.collect::<Vec<_>>(), errors);
            let mut first_other = None;
            for variant in variants {
                of_fields(&variant.parts, errors);
                let Some(other) = variant.other else {
                    continue;
                };
                if !variant.parts.is_empty() {
                    errors.add(Error::new(
                        other,
                        "an unknown variant has no values for these fields: `other` is for a \
                         variant without fields",
                    ));
                }
                match &first_other {
                    Some(first) => errors.add(Error::new(
                        other,
                        format!("unknown variants already become `{first}`: remove one `other`"),
                    )),
                    None => first_other = Some(name_of(&variant.name)),
                }
            }
        }
        Body::Union(_) => {}
    }
}

/// Checks the options of the fields of a struct or variant.
fn of_fields(parts: &[Part], errors: &mut Errors) {
    let travelling = parts.iter().filter(|part| part.travels());
    let renamed = travelling.map(|part| {
        let member = &part.member;
        Renamed {
            name: name_of(&quote::quote!(#member)),
            noun: "field",
            older_names: &part.options.rules.older_names,
        }
    });
    check_names(&renamed.collect::<Vec<_>>(), errors);
    for part in parts {
        let options = &part.options;
        if options.skip.is_some() {
            for (name, span) in said(&options.rules) {
                errors.add(Error::new(
                    span,
                    format!("a skipped field is in no message, so `{name}` has no effect"),
                ));
            }
            continue;
        }
        let Some(default) = &options.rules.default else {
            continue;
        };
        if options.with.is_some() {
            errors.add(Error::new(
                default.span,
                "a field with an adapter is sent as the adapter's value, which has no default: \
                 remove `default`, or let the adapter send an `Option`, which becomes `None`",
            ));
        } else if options.shared.is_some() {
            errors.add(Error::new(
                default.span,
                "a shared field can't have a default, because each use of its target would need a \
                 number: make the field an `Option`, which becomes `None`",
            ));
        }
    }
}

/// Returns the options of a field for messages of other versions, by name.
fn said(rules: &PartRules) -> impl Iterator<Item = (&'static str, Span)> {
    let first_name = rules.older_names.first().map(LitStr::span);
    let default = rules.default.as_ref().map(|default| default.span);
    let all = [
        ("renamed_from", first_name),
        ("default", default),
        ("narrow", rules.narrow),
        ("must_understand", rules.must_understand),
    ];
    all.into_iter()
        .filter_map(|(name, span)| span.map(|span| (name, span)))
}

/// A part of the program, such as a field, and its older names.
pub(crate) struct Renamed<'o> {
    pub(crate) name: String,
    pub(crate) noun: &'static str,
    pub(crate) older_names: &'o [LitStr],
}

/// Checks the older names of parts of the same whole, such as the fields of a struct.
pub(crate) fn check_names(all: &[Renamed<'_>], errors: &mut Errors) {
    let mut known: Vec<(String, &str)> = Vec::new();
    for of in all {
        for older in of.older_names {
            let name = older.value();
            let noun = of.noun;
            let first = known.iter().find(|(known, _)| *known == name);
            let details = if name.is_empty() {
                "the older name is empty".to_owned()
            } else if name.contains(char::is_control) {
                "a name can't have control characters".to_owned()
            } else if name == of.name {
                format!(
                    "`{name}` is the name that the {noun} has now: write one that it had before"
                )
            } else if all.iter().any(|other| other.name == name) {
                format!(
                    "another {noun} is called `{name}` now, and receives what older messages have \
                     under this name"
                )
            } else if let Some((_, first)) = first {
                if *first == of.name {
                    format!("the older name `{name}` is repeated")
                } else {
                    format!("`{name}` is already an older name of `{first}`")
                }
            } else {
                known.push((name, &of.name));
                continue;
            };
            errors.add(Error::new(older.span(), details));
        }
    }
}
