//! What can't be called from another node, said on the token that causes it.

use syn::visit::Visit;
use syn::{Error, FnArg, GenericParam, ItemTrait, Lifetime, Path, Type, TypeImplTrait, TypePath};

use super::parse::{Argument, Interface, Method, passed, plain, streamed};
use crate::errors::Errors;

/// Tuples implement `Transportable` up to this length.
const MOST_ARGUMENTS: usize = 12;

/// Adds all errors of the trait.
pub(super) fn check(of: &Interface, errors: &mut Errors) {
    let params = &of.item.generics.params;
    let eternal = |param: &&GenericParam| matches!(param, GenericParam::Lifetime(_));
    if let Some(param) = params.iter().find(eternal) {
        errors.add(Error::new_spanned(
            param,
            "a remote trait has no lifetimes: its objects live as long as they are served",
        ));
    } else if let (Some(param), true) = (params.first(), of.instances_are_missing()) {
        errors.add(Error::new_spanned(
            param,
            format!(
                "the other node could not know the types: list them as \
                 `#[remote(instances({}<Type>))]`",
                of.item.ident
            ),
        ));
    }
    if let (Some(mock), Some(_)) = (&of.mock, params.first()) {
        errors.add(Error::new_spanned(
            mock,
            "only a trait without parameters has a mock",
        ));
    }
    for method in &of.methods {
        check_method(method, errors);
        let item = &of.item;
        Short { item, errors }.visit_signature(&method.signature);
        check_arguments(method, errors);
        if let Some(output) = &method.output {
            check_output(output, errors);
        }
    }
}

/// Types that can't be found once a type stands in the place of a parameter.
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
                        "name the trait too: `<{} as Trait>::{}`",
                        first.ident, last.ident
                    ),
                ));
            }
        }
        syn::visit::visit_type_path(self, of);
    }
}

/// What is said of a stream that is a part of something.
pub(super) const NESTED: &str = "a stream is an argument or the result itself; its items may be `Result`s, and \
                      no streams";

/// What is said of a reference that is a part of something else.
pub(super) const HIDDEN: &str = "a reference stands by itself, by value, or in an `Option`, `Vec` or `Result` of \
                      it; a struct with references derives `Referring`, and is passed as `Referring<Struct>`";

fn check_method(method: &Method, errors: &mut Errors) {
    let signature = &method.signature;
    if let (Some(token), Some(output)) = (&method.one_way, &method.output) {
        errors.add(Error::new_spanned(
            output,
            format!("nobody waits for a `{token}` method: it returns nothing"),
        ));
    }
    if let Some(token) = &signature.unsafety {
        errors.add(Error::new(
            token.span,
            "a remote method can't be `unsafe`: nobody vouches for a caller on another node",
        ));
    }
    let mut params = signature.generics.params.iter();
    if let Some(param) = params.find(|param| !matches!(param, GenericParam::Lifetime(_))) {
        errors.add(Error::new_spanned(
            param,
            "a remote method has no generics but lifetimes: the other node could not know the \
             types",
        ));
    }
    if let Some(clause) = &signature.generics.where_clause {
        errors.add(Error::new_spanned(
            clause,
            "a remote method has no `where` clause: every object has all methods",
        ));
    }
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver))
            if receiver.reference.is_some() && receiver.colon_token.is_none() => {}
        Some(other) => errors.add(Error::new_spanned(
            other,
            "a remote method takes `&self` or `&mut self`: the object stays with its server",
        )),
        None => errors.add(Error::new(
            signature.paren_token.span.join(),
            "a remote method takes `&self` or `&mut self`: it is called on an object",
        )),
    }
    // What stands for a stream that is the result has a place among them.
    let most = MOST_ARGUMENTS.saturating_sub(method.streams().iter().count());
    if let Some(extra) = method.arguments.get(most) {
        errors.add(Error::new(
            extra.name.span(),
            format!("this remote method has {most} arguments at most: put some into a struct"),
        ));
    }
}

fn check_arguments(method: &Method, errors: &mut Errors) {
    let alone = method.arguments.len() == 1;
    for argument in &method.arguments {
        let Argument { ty, received, .. } = argument;
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
                "`Received` is the whole message, in which a stream that is the result has a place \
                 too: take a reference",
            ));
        }
        if received.is_some() && !alone {
            errors.add(Error::new_spanned(
                ty,
                "`Received` must be the only argument: it is the whole message",
            ));
        }
        if let Some(instead) = borrowed(ty) {
            errors.add(Error::new_spanned(
                ty,
                format!(
                    "the server gets a reference into the receive buffer: take `{instead}`, or \
                     `Received<T>` to keep the buffer"
                ),
            ));
        }
        let search = Search::of(ty);
        if search.remotes {
            errors.add(Error::new_spanned(ty, HIDDEN));
        }
        if search.streams {
            errors.add(Error::new_spanned(ty, NESTED));
        }
        if search.opaque {
            errors.add(Error::new_spanned(
                ty,
                "a remote method has no generics: the other node could not know the type",
            ));
        }
        if search.itself {
            errors.add(Error::new_spanned(
                ty,
                "`Self` is another type on each node: name a type that both know",
            ));
        }
        if search.eternal && received.is_none() {
            errors.add(Error::new_spanned(
                ty,
                "an argument lives as long as the call: leave `'static` out, or take `Received<T>` \
                 to keep the buffer",
            ));
        }
    }
}

/// What is wrong with references that are an argument.
fn check_references(method: &Method, ty: &Type, errors: &mut Errors) {
    if let Some(token) = &method.one_way {
        errors.add(Error::new_spanned(
            ty,
            format!(
                "nobody waits for a `{token}` method, and so nobody knows when it has a reference"
            ),
        ));
    }
    check_output(ty, errors);
}

/// What is wrong with the items of a stream that is an argument.
fn check_stream(method: &Method, ty: &Type, of: &Type, errors: &mut Errors) {
    if let Some(token) = &method.one_way {
        errors.add(Error::new_spanned(
            ty,
            format!("nobody waits for a `{token}` method, and so nobody sends it a stream"),
        ));
    }
    check_output(of, errors);
}

fn check_output(ty: &Type, errors: &mut Errors) {
    let search = Search::of(streamed(ty).unwrap_or(ty));
    if search.remotes && !passed(ty) {
        errors.add(Error::new_spanned(ty, HIDDEN));
    }
    if search.streams {
        errors.add(Error::new_spanned(ty, NESTED));
    }
    if search.opaque {
        errors.add(Error::new_spanned(
            ty,
            "the result of a remote method has a type that both nodes know",
        ));
    }
    if search.itself {
        errors.add(Error::new_spanned(
            ty,
            "`Self` is another type on each node: name a type that both know",
        ));
    }
}

/// What to take instead of an owner by value.
fn borrowed(ty: &Type) -> Option<&'static str> {
    let Type::Path(path) = plain(ty) else {
        return None;
    };
    match path.path.segments.last()?.ident.to_string().as_str() {
        "String" => Some("&str"),
        "Vec" => Some("&[T]"),
        "Box" | "Rc" | "Arc" => Some("&T"),
        _ => None,
    }
}

/// What a type has in it that decides whether it can travel.
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
    pub(super) fn of(ty: &Type) -> Self {
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
