//! Rejection of options that contradict one another or have no effect.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Error, GenericArgument, PathArguments, Type};

use super::check_types::{has_references, plain};
use super::model::{Own, Part};
use crate::errors::Errors;

/// Checks the options of a type.
pub(super) fn of_type(of: &Own, errors: &mut Errors) {
    let options = &of.options;
    if let (Some(own), Some(_)) = (options.own, options.owned) {
        errors.add(Error::new(
            own,
            "`own` and `owned` are opposites: a type is either its own form or has another",
        ));
    }
    for derived in options.derives.iter().filter(|_| !of.has_form) {
        errors.add(Error::new_spanned(
            derived,
            "this type is its own form, so there is no other form: derive this for the type itself",
        ));
    }
    if let Some(compare) = options.compare {
        if !of.has_form {
            errors.add(Error::new(
                compare,
                "this type is its own form, so there is no other form to compare with: derive \
                 `PartialEq` for the type itself",
            ));
        } else if of.is_invariant() {
            errors.add(Error::new(
                compare,
                "a form with cells can't be compared, because it may lead back to itself: \
                 implement `PartialEq` by hand, with a bound on how far cells are followed",
            ));
        }
    }
    for of_trait in &options.implements {
        let of_instances = of.generics.type_params().next().is_some()
            || of.generics.const_params().next().is_some();
        if of_instances {
            errors.add(Error::new_spanned(
                of_trait,
                "each instance of a generic type must be registered separately: use \
                 `jstream::implements!`",
            ));
        }
    }
}

/// Checks the options of a field.
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
            "a skipped field does not travel: its only other options can be `form` and `verify`",
        );
        return;
    }
    if options.with.is_some() {
        refuse(
            options.shared.or(options.exclusive).or(options.follow),
            "a field with an adapter travels as the adapter's value: its only other options can be \
             `form` and `verify`",
        );
        return;
    }
    let form = options.form.as_ref().map(Spanned::span);
    refuse(
        form.filter(|_| of.options.own.is_some()),
        "a type that is its own form can't have another form for a field: remove `own` or `form`",
    );
    refuse(
        options.follow.filter(|_| !of.options.opt_in),
        "all pointers are followed by default: to follow only marked ones, add \
         `#[transportable(opt_in)]` to the type",
    );
    refuse(
        options
            .shared
            .or(options.exclusive)
            .filter(|_| of.options.opt_in && options.follow.is_none()),
        "the pointers of an `opt_in` type are not followed unless they are marked: add `follow`",
    );
    refuse(
        options.shared.filter(|_| !has_references(&part.ty)),
        "this type is not spelled with a reference that could be shared; `Rc`, `Arc` and `Shared` \
         always are shared",
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
            "a shared field can't be exclusive: remove one of the two options",
        ));
    } else if options.form.is_some() {
        errors.add(Error::new(
            exclusive,
            "`exclusive` and `form` both set the field's form: remove one of them",
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
                "only a `Vec` or a boxed slice can arrive as an exclusive slice; if the type is \
                 its own form, write `&'b mut [T]`",
            )),
        }
    }
}

/// Returns the element type if a type is spelled as the owner of a slice.
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
