//! Options that contradict one another, or that nothing follows from.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Type};

use super::check::{has_references, plain};
use super::parse::{Own, Part};
use crate::errors::Errors;

/// The options of a type.
pub(super) fn of_type(of: &Own, errors: &mut Errors) {
    let options = &of.options;
    if let (Some(own), Some(_)) = (options.own, options.owned) {
        errors.add(Error::new(
            own,
            "`own` and `owned` are opposites: a type either is its own form or has another",
        ));
    }
    for derived in options.derives.iter().filter(|_| !of.has_form) {
        errors.add(Error::new_spanned(
            derived,
            "this type is its own form, so there is no other to derive this for: derive it for the \
             type",
        ));
    }
    for of_trait in &options.implements {
        let of_instances = of.generics.type_params().next().is_some()
            || of.generics.const_params().next().is_some();
        if of_instances {
            errors.add(Error::new_spanned(
                of_trait,
                "a type with parameters is registered instance by instance: use `jstream::implements!`",
            ));
        }
    }
}

/// The options of a field.
pub(super) fn of_field(of: &Own, part: &Part, errors: &mut Errors) {
    let options = &part.options;
    let mut refuse = |option: Option<Span>, why: &str| {
        if let Some(option) = option {
            errors.add(Error::new(option, why));
        }
    };
    if options.skip.is_some() {
        let others = options.with.is_some()
            || options.shared.is_some()
            || options.exclusive.is_some()
            || options.follow.is_some();
        refuse(
            options.skip.filter(|_| others),
            "a field that is skipped does not travel: it can have no other option but `form` and \
             `verify`",
        );
        return;
    }
    if options.with.is_some() {
        refuse(
            options.shared.or(options.exclusive).or(options.follow),
            "a field with an adapter travels as what the adapter makes of it: it can have no other \
             option but `form` and `verify`",
        );
        return;
    }
    let form = options.form.as_ref().map(Spanned::span);
    refuse(
        form.filter(|_| of.options.own.is_some()),
        "a type that is its own form has no other for a field: leave out `own` or `form`",
    );
    refuse(
        options.follow.filter(|_| !of.options.opt_in),
        "all pointers are followed: say `#[transportable(opt_in)]` on the type if only marked ones \
         shall be",
    );
    refuse(
        options
            .shared
            .or(options.exclusive)
            .filter(|_| of.options.opt_in && options.follow.is_none()),
        "the pointers of an `opt_in` type are left out unless they are marked: say `follow` too",
    );
    refuse(
        options.shared.filter(|_| !has_references(&part.ty)),
        "there is no reference to be shared here, as far as the type's spelling tells; `Rc`, `Arc` \
         and `Shared` always are",
    );
    of_exclusive(of, part, errors);
}

fn of_exclusive(of: &Own, part: &Part, errors: &mut Errors) {
    let options = &part.options;
    let Some(exclusive) = options.exclusive else {
        return;
    };
    if options.shared.is_some() {
        errors.add(Error::new(
            exclusive,
            "what is shared can't be exclusive: leave out one of the two",
        ));
    } else if options.form.is_some() {
        errors.add(Error::new(
            exclusive,
            "the field's form is given: leave out `exclusive`, or `form`",
        ));
    } else if of.options.own.is_some() {
        errors.add(Error::new(
            exclusive,
            "a type that is its own form has the same fields in a buffer: write `&'b mut [T]`",
        ));
    } else {
        match slice_of(&part.ty) {
            Some(element) => plain(element, errors),
            None => errors.add(Error::new(
                exclusive,
                "only a `Vec` or a boxed slice can be made to arrive as an exclusive slice; where \
                 the type is its own form write `&'b mut [T]`",
            )),
        }
    }
}

/// The elements of a type that, as it is spelled, owns a slice.
fn slice_of(ty: &Type) -> Option<&Type> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    let Some(GenericArgument::Type(argument)) = args.args.first() else {
        return None;
    };
    match argument {
        Type::Slice(slice) if last.ident == "Box" => Some(&slice.elem),
        element if last.ident == "Vec" => Some(element),
        _ => None,
    }
}
