//! Rejection of traits that can't be remote, with errors at the responsible tokens.

use quote::quote;
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::{
    Error, FnArg, GenericParam, Ident, ItemTrait, Lifetime, LitStr, Path, ReceiverKind, Safety,
    Type, TypeImplTrait, TypePath,
};

use super::interface::{Argument, Interface, Method, borrowed, passed, plain, streamed};
use super::{table, types};
use crate::errors::Errors;
use crate::transportable::{Renamed, check_names};

/// Maximum length of tuples that implement `Transportable`.
const MOST_ARGUMENTS: usize = 12;

/// Adds all errors of the trait.
pub(super) fn check(of: &Interface, errors: &mut Errors) {
    let params = &of.item.generics.params;
    let eternal = |param: &&GenericParam| matches!(param, GenericParam::Lifetime(_));
    if let Some(param) = params.iter().find(eternal) {
        errors.add(Error::new_spanned(
            param,
            "a remote trait can't have lifetime parameters: its objects live as long as they are \
             served",
        ));
    } else if let (Some(param), true) = (params.first(), of.instances_are_missing()) {
        errors.add(Error::new_spanned(
            param,
            format!(
                "a generic remote trait must list its instances: `#[remote(instances({}<Type>))]`",
                of.item.ident
            ),
        ));
    }
    if let (Some(mock), Some(_)) = (&of.mock, params.first()) {
        errors.add(Error::new_spanned(
            mock,
            "`mock` is supported only for traits without parameters",
        ));
    }
    check_older_names(of, errors);
    for method in &of.methods {
        check_method(method, errors);
        let item = &of.item;
        Short { item, errors }.visit_signature(&method.signature);
        check_arguments(method, errors);
        check_resume(method, errors);
        if let Some(output) = &method.output {
            check_output(output, errors);
        }
    }
}

/// Returns a part of a trait with its older names.
fn renamed<'o>(name: &Ident, noun: &'static str, older_names: &'o [LitStr]) -> Renamed<'o> {
    Renamed {
        name: name.unraw().to_string(),
        noun,
        older_names,
    }
}

/// Checks the older names of the trait, of its methods, and of the arguments of each.
fn check_older_names(of: &Interface, errors: &mut Errors) {
    check_names(&[renamed(&of.item.ident, "trait", &of.older_names)], errors);
    // Of methods with conditions, only some may exist.
    let methods = of.methods.iter();
    let methods = methods.filter(|method| method.conditions.is_empty());
    let methods =
        methods.map(|method| renamed(&method.signature.ident, "method", &method.older_names));
    check_names(&methods.collect::<Vec<_>>(), errors);
    for method in &of.methods {
        let arguments = method
            .arguments
            .iter()
            .map(|argument| renamed(&argument.name, "argument", &argument.rules.older_names));
        check_names(&arguments.collect::<Vec<_>>(), errors);
    }
}

/// Finds shorthand paths such as `T::Key`, which become ambiguous when a type replaces the
/// parameter.
struct Short<'i, 'e> {
    item: &'i ItemTrait,
    errors: &'e mut Errors,
}

impl<'ast> Visit<'ast> for Short<'_, '_> {
    fn visit_type_path(&mut self, of: &'ast TypePath) {
        let segments = &of.path.segments;
        let mut params = self.item.generics.type_params();
        if let (None, Some(first), Some(last)) = (&of.qself, segments.first(), segments.last()) {
            if segments.len() > 1 && params.any(|param| param.ident == first.ident) {
                self.errors.add(Error::new_spanned(
                    of,
                    format!(
                        "name the trait, too: `<{} as Trait>::{}`",
                        first.ident, last.ident
                    ),
                ));
            }
        }
        syn::visit::visit_type_path(self, of);
    }
}

/// Error for a stream nested in another type.
pub(super) const NESTED: &str = "a stream must be an argument or the result itself; its items can \
                                 be `Result`s, but not streams";

/// Error for a reference nested in another type.
pub(super) const HIDDEN: &str = "a remote reference must be passed alone or in an `Option`, \
                                 `Vec`, `Box<[T]>`, array or `Result`; an argument can also be \
                                 such a type borrowed as `&T`, `&[T]`, `&[&[T]]` and so on; a \
                                 struct or enum with references must derive `Referring`, and be \
                                 passed as `Referring<Type>`";

fn check_method(method: &Method, errors: &mut Errors) {
    let signature = &method.signature;
    if let (Some(token), Some(output)) = (&method.one_way, &method.output) {
        errors.add(Error::new_spanned(
            output,
            format!("a `{token}` method has no reply, so it can't return a value"),
        ));
    }
    if let Safety::Unsafe(token) = &signature.safety {
        errors.add(Error::new(
            token.span,
            "a remote method can't be `unsafe`: it can't rely on a caller on another node",
        ));
    }
    let mut params = signature.generics.params.iter();
    if let Some(param) = params.find(|param| !matches!(param, GenericParam::Lifetime(_))) {
        errors.add(Error::new_spanned(
            param,
            "a remote method can't have generic parameters other than lifetimes: the other node \
             does not know the types",
        ));
    }
    if let Some(clause) = &signature.generics.where_clause {
        errors.add(Error::new_spanned(
            clause,
            "a remote method can't have a `where` clause: every object must have all methods",
        ));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if matches!(receiver.kind, ReceiverKind::Reference(..)) => {
        }
        Some(other) => errors.add(Error::new_spanned(
            other,
            "a remote method must take `&self` or `&mut self`: the object stays with its server",
        )),
        None => errors.add(Error::new(
            signature.paren_token.span.join(),
            "a remote method must take `&self` or `&mut self`: it is called on an object",
        )),
    }
    // The message needs one entry for a stream that is the result.
    let most = MOST_ARGUMENTS.saturating_sub(method.streams().iter().count());
    if let Some(extra) = method.arguments.get(most) {
        errors.add(Error::new(
            extra.name.span(),
            format!("this remote method can have at most {most} arguments: use a struct"),
        ));
    }
}

/// Checks the option `resume`. The type of the argument is checked by the compiler.
fn check_resume(method: &Method, errors: &mut Errors) {
    let Some(name) = &method.resume else {
        return;
    };
    if method.streams().is_none() {
        errors.add(Error::new_spanned(
            name,
            "only a method that returns a stream can be resumed: return `Stream<T>`, or remove \
             `resume`",
        ));
    }
    if method.resumes_at().is_none() {
        errors.add(Error::new_spanned(
            name,
            format!(
                "`{}` has no argument `{}`: `resume` names the integer that gets the number of the \
                 stream's next item",
                method.signature.ident.unraw(),
                name.value()
            ),
        ));
    }
    let mut arguments = method.arguments.iter();
    let carried = arguments.find(|of| of.streams().is_some() || of.passes().is_some());
    if let Some(argument) = carried {
        errors.add(Error::new_spanned(
            &argument.ty,
            "a method that is resumed is called again with the same arguments, so it can't take \
             streams or remote references",
        ));
    }
}

fn check_arguments(method: &Method, errors: &mut Errors) {
    let alone = method.arguments.len() == 1;
    for argument in &method.arguments {
        let Argument { ty, received, .. } = argument;
        check_rules(argument, errors);
        if let Some(of) = argument.streams() {
            check_stream(method, ty, of, errors);
            continue;
        }
        if argument.passes().is_some() {
            check_references(method, ty, errors);
            continue;
        }
        if received.is_some() && alone && method.streams().is_some() {
            errors.add(Error::new_spanned(
                ty,
                "`Received` is the whole message, which also has an entry for the stream that is \
                 the result: take a reference",
            ));
        }
        if received.is_some() && !alone {
            errors.add(Error::new_spanned(
                ty,
                format!(
                    "`Received` must be the only argument: it is the whole message; take all \
                     arguments as one: `Received<{}>`",
                    together(method)
                ),
            ));
        }
        if matches!(plain(ty), Type::Reference(of) if of.mutability.is_some()) {
            errors.add(Error::new_spanned(
                ty,
                "a method can't change its arguments: take a shared reference, or take \
                 `Received<T>` as the only argument and change the value in the buffer by \
                 `Received::with_mut`",
            ));
        }
        let search = Search::new(ty);
        if search.remotes {
            errors.add(Error::new_spanned(ty, HIDDEN));
        }
        if search.streams {
            errors.add(Error::new_spanned(ty, NESTED));
        }
        if search.opaque {
            errors.add(Error::new_spanned(
                ty,
                "a remote method can't use `impl Trait`: the other node does not know the type",
            ));
        }
        if search.itself {
            errors.add(Error::new_spanned(
                ty,
                "`Self` is a different type on each node: use a type that both nodes know",
            ));
        }
        if search.eternal && received.is_none() {
            errors.add(Error::new_spanned(
                ty,
                "an argument lives only as long as the call: remove `'static`, or take \
                 `Received<T>` to keep the buffer",
            ));
        }
    }
}

/// Checks the rules of an argument for calls of other versions.
fn check_rules(argument: &Argument, errors: &mut Errors) {
    let rules = &argument.rules;
    let name = rules.older_names.first().map(LitStr::span);
    let default = rules.default.as_ref().map(|default| default.span);
    if argument.received.is_some() {
        if let Some(span) = default.or(name) {
            errors.add(Error::new(
                span,
                "a `Received` argument is the whole message, which has its own rules: state them \
                 at the fields of its type",
            ));
        }
    } else if let Some(span) = default {
        if argument.streams().is_some() || argument.passes().is_some() {
            errors.add(Error::new(
                span,
                "an argument with streams or references can't have a default",
            ));
        }
    }
}

/// Returns the tuple of the arguments' types, as it is written in `Received`.
fn together(method: &Method) -> String {
    let each = method.arguments.iter().map(|argument| {
        let ty = argument.received.as_ref().unwrap_or(&argument.ty);
        types::for_all_time(ty)
    });
    table::text(quote!((#(#each),*)))
}

/// Checks an argument with references.
fn check_references(method: &Method, ty: &Type, errors: &mut Errors) {
    if let Some(token) = &method.one_way {
        errors.add(Error::new_spanned(
            ty,
            format!("a `{token}` method has no reply, so it can't take remote references"),
        ));
    }
    if borrowed(ty).is_some() && is_eternal(ty) {
        errors.add(Error::new_spanned(
            ty,
            "borrowed references live only as long as the call: remove `'static`, or take them by \
             value",
        ));
    }
    check_parts(ty, &Search::new(ty), errors);
}

/// Returns true if a reference, or one of those in the slice behind it, is `'static`.
fn is_eternal(ty: &Type) -> bool {
    match plain(ty) {
        Type::Reference(of) => {
            let mut lifetime = of.lifetime.iter();
            lifetime.any(|lifetime| lifetime.ident == "static") || is_eternal(&of.elem)
        }
        Type::Slice(of) => is_eternal(&of.elem),
        _ => false,
    }
}

/// Checks the items of a stream that is an argument.
fn check_stream(method: &Method, ty: &Type, of: &Type, errors: &mut Errors) {
    if let Some(token) = &method.one_way {
        errors.add(Error::new_spanned(
            ty,
            format!("a `{token}` method has no reply, so it can't take streams"),
        ));
    }
    check_output(of, errors);
}

fn check_output(ty: &Type, errors: &mut Errors) {
    let search = Search::new(streamed(ty).unwrap_or(ty));
    if search.remotes && !passed(ty) {
        errors.add(Error::new_spanned(ty, HIDDEN));
    }
    check_parts(ty, &search, errors);
}

/// Reports the parts of a type that can't be sent, apart from references.
fn check_parts(ty: &Type, search: &Search, errors: &mut Errors) {
    if search.streams {
        errors.add(Error::new_spanned(ty, NESTED));
    }
    if search.opaque {
        errors.add(Error::new_spanned(
            ty,
            "the result of a remote method must have a type that both nodes know",
        ));
    }
    if search.itself {
        errors.add(Error::new_spanned(
            ty,
            "`Self` is a different type on each node: use a type that both nodes know",
        ));
    }
}

/// Features of a type that are relevant for sending it.
#[derive(Default)]
pub(super) struct Search {
    /// `Self`.
    pub(super) itself: bool,
    /// `impl Trait`.
    pub(super) opaque: bool,
    /// `'static`.
    eternal: bool,
    /// `Stream<T>`.
    pub(super) streams: bool,
    /// `Remote<T>`, or `Referring<T>`.
    pub(super) remotes: bool,
}

impl Search {
    pub(super) fn new(ty: &Type) -> Self {
        let mut search = Self::default();
        search.visit_type(ty);
        search
    }
}

impl<'ast> Visit<'ast> for Search {
    fn visit_path(&mut self, of: &'ast Path) {
        let first = of.segments.first();
        self.itself |= first.is_some_and(|first| first.ident == "Self");
        let last = of.segments.last();
        self.streams |=
            last.is_some_and(|last| last.ident == "Stream" && !last.arguments.is_none());
        let remote = ["Remote", "Referring"];
        self.remotes |= last.is_some_and(|last| {
            remote.iter().any(|name| last.ident == name) && !last.arguments.is_none()
        });
        syn::visit::visit_path(self, of);
    }

    fn visit_type_impl_trait(&mut self, _: &'ast TypeImplTrait) {
        self.opaque = true;
    }

    fn visit_lifetime(&mut self, of: &'ast Lifetime) {
        self.eternal |= of.ident == "static";
    }
}
