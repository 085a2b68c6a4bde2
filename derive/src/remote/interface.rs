//! The description of a remote interface, as the code generators use it.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{
    AngleBracketedGenericArguments, Attribute, Expr, GenericArgument, Ident, ItemTrait, LitStr,
    Path, PathArguments, ReceiverKind, Type, TypeReference, parse_quote,
};

/// A trait whose methods can be called from another node.
pub(super) struct Interface {
    pub(super) item: ItemTrait,
    /// Path of the crate `jstream_rmi`.
    pub(super) krate: Path,
    /// The `cfg` attributes of the trait.
    pub(super) conditions: Vec<Attribute>,
    /// Methods as in the trait.
    pub(super) methods: Vec<Method>,
    pub(super) instances: Vec<Instance>,
    /// The option `mock`, if it was given.
    pub(super) mock: Option<Path>,
    /// True if the state of an object is lost with its connection.
    pub(super) stateful: bool,
    /// Names of the trait in older versions.
    pub(super) older_names: Vec<LitStr>,
}

impl Interface {
    /// Returns true if the trait has parameters and no instances are listed.
    pub(super) fn instances_are_missing(&self) -> bool {
        let mut instances = self.instances.iter();
        instances.any(|of| of.arguments.is_none())
    }

    /// Returns true if a method takes `&mut self`.
    pub(super) fn is_exclusive(&self) -> bool {
        self.methods.iter().any(Method::is_exclusive)
    }
}

#[derive(Clone)]
pub(super) struct Method {
    /// Documentation, conditions and lints, for the stub.
    pub(super) attrs: Vec<Attribute>,
    /// The `cfg` attributes of the method.
    pub(super) conditions: Vec<Attribute>,
    pub(super) signature: syn::Signature,
    pub(super) arguments: Vec<Argument>,
    /// Type of the result; `None` for `()`.
    pub(super) output: Option<Type>,
    /// The option `one_way`, if it was given.
    pub(super) one_way: Option<Ident>,
    /// True if the method may run more than once for one call.
    pub(super) idempotent: bool,
    /// The name of the argument that gets the number of the next item, if the stream that the
    /// method returns is resumed.
    pub(super) resume: Option<LitStr>,
    /// Names of the method in older versions.
    pub(super) older_names: Vec<LitStr>,
}

impl Method {
    pub(super) fn is_async(&self) -> bool {
        self.signature.asyncness.is_some()
    }

    /// Returns the `T` of a result of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(self.output.as_ref()?)
    }

    /// Returns the type of the result, if it has references.
    pub(super) fn passes(&self) -> Option<&Type> {
        self.output.as_ref().filter(|ty| passed(ty))
    }

    /// Returns the place of the argument that gets the number of the next item, if the stream that
    /// the method returns is resumed.
    pub(super) fn resumes_at(&self) -> Option<usize> {
        let name = self.resume.as_ref()?.value();
        let mut arguments = self.arguments.iter();
        arguments.position(|argument| argument.name.unraw() == name)
    }

    /// Returns true if the call or its reply carries streams or references.
    pub(super) fn carries(&self) -> bool {
        let mut arguments = self.arguments.iter();
        self.streams().is_some()
            || self.passes().is_some()
            || arguments.any(|argument| argument.streams().is_some() || argument.passes().is_some())
    }

    /// Returns true if the method takes `&mut self`.
    pub(super) fn is_exclusive(&self) -> bool {
        let receiver = self.signature.receiver();
        receiver.is_some_and(|of| matches!(of.kind, ReceiverKind::Reference(_, _, Some(_))))
    }
}

#[derive(Clone)]
pub(super) struct Argument {
    pub(super) name: Ident,
    pub(super) ty: Type,
    /// The `T` of an argument of type `Received<T>`.
    pub(super) received: Option<Type>,
    pub(super) rules: ArgumentRules,
}

/// Rules for calls of other versions.
#[derive(Clone, Default)]
pub(super) struct ArgumentRules {
    /// Names of the argument in older versions.
    pub(super) older_names: Vec<LitStr>,
    /// The argument in calls that lack it.
    pub(super) default: Option<ArgumentDefault>,
}

/// The option `default`.
#[derive(Clone)]
pub(super) struct ArgumentDefault {
    pub(super) span: Span,
    /// `None` for the default of the type.
    pub(super) value: Option<Expr>,
}

impl Argument {
    /// Returns the `T` of an argument of type `Stream<T>`.
    pub(super) fn streams(&self) -> Option<&Type> {
        streamed(&self.ty)
    }

    /// Returns the type that owns the references, if the argument has any. If the method borrows
    /// them, this is the type that it borrows from.
    pub(super) fn passes(&self) -> Option<Type> {
        match borrowed(&self.ty) {
            Some(Borrowed::One(of)) => Some(of.clone()),
            Some(Borrowed::Slices(depth, of)) => {
                let lists =
                    (0..depth).fold(of.clone(), |of, _| parse_quote!(::__std::vec::Vec<#of>));
                Some(lists)
            }
            None => passed(&self.ty).then(|| self.ty.clone()),
        }
    }

    /// Returns how the method borrows the references, or `None` if it takes them by value.
    pub(super) fn borrows(&self) -> Option<Borrowed<'_>> {
        borrowed(&self.ty)
    }
}

/// An argument with references that the method borrows.
#[derive(Clone, Copy)]
pub(super) enum Borrowed<'t> {
    /// `&P`.
    One(&'t Type),
    /// `&[P]`, `&[&[P]]` or deeper: the number of slices around a `P`.
    Slices(usize, &'t Type),
}

impl<'t> Borrowed<'t> {
    /// Returns the type with references that is borrowed, or whose slices are.
    pub(super) fn element(self) -> &'t Type {
        match self {
            Self::One(of) | Self::Slices(_, of) => of,
        }
    }
}

/// A trait without parameters, or an instance of a generic trait.
pub(super) struct Instance {
    /// Arguments such as `<u64>`, if the trait has parameters.
    pub(super) arguments: Option<AngleBracketedGenericArguments>,
    /// Methods, with arguments in place of the parameters.
    pub(super) methods: Vec<Method>,
}

impl Instance {
    /// Returns the trait with its arguments.
    pub(super) fn interface(&self, of: &Interface) -> TokenStream {
        let (name, arguments) = (&of.item.ident, &self.arguments);
        quote!(#name #arguments)
    }
}

/// Returns the `T` of a type `name<T>`.
pub(super) fn wrapped<'t>(ty: &'t Type, name: &str) -> Option<&'t Type> {
    let Type::Path(path) = plain(ty) else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(args) = &last.arguments else {
        return None;
    };
    match args.args.first()? {
        GenericArgument::Type(of) if last.ident == name => Some(of),
        _ => None,
    }
}

/// Returns the `T` of `Stream<T>`.
pub(super) fn streamed(ty: &Type) -> Option<&Type> {
    wrapped(ty, "Stream")
}

/// Returns true if a type is `Remote<dyn Trait>` or `Referring<Type>`, or an `Option`, `Vec`, boxed
/// slice, array or `Result` of it.
pub(super) fn passed(ty: &Type) -> bool {
    if let Type::Array(of) = plain(ty) {
        return passed(&of.elem);
    }
    if let Some(Type::Slice(of)) = wrapped(ty, "Box").map(plain) {
        return passed(&of.elem);
    }
    wrapped(ty, "Remote").is_some()
        || wrapped(ty, "Referring").is_some()
        || ["Option", "Vec", "Result"]
            .iter()
            .any(|name| wrapped(ty, name).is_some_and(passed))
}

/// Returns how a type borrows references to remote objects, if it does.
pub(super) fn borrowed(ty: &Type) -> Option<Borrowed<'_>> {
    let mut target = plain(&shared(ty)?.elem);
    if passed(target) {
        return Some(Borrowed::One(target));
    }
    for depth in 1.. {
        let Type::Slice(slice) = target else {
            break;
        };
        if passed(&slice.elem) {
            return Some(Borrowed::Slices(depth, &slice.elem));
        }
        target = plain(&shared(&slice.elem)?.elem);
    }
    None
}

/// Returns the type as a shared reference.
fn shared(ty: &Type) -> Option<&TypeReference> {
    match plain(ty) {
        Type::Reference(of) if of.mutability.is_none() => Some(of),
        _ => None,
    }
}

/// Strips parentheses and invisible groups from a type.
pub(super) fn plain(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(of) => &of.elem,
            Type::Paren(of) => &of.elem,
            _ => return ty,
        };
    }
}
