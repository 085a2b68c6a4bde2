//! The macros of jstream. The crates that they belong to re-export them.
//!
//! Each macro has three stages: *parse* turns tokens into a description, *check* rejects
//! unsupported input with an error at the responsible token, and *expand* generates the code.
#![forbid(unsafe_code)]

mod crates;
mod dynamic;
mod error_debug;
mod errors;
#[cfg(test)]
mod golden;
mod remote;
mod shield;
mod spans;
mod transportable;

use proc_macro::TokenStream;

/// Implements `Transportable` for a type: its values can be written into a message, and are read in
/// the receiver's buffer as its in-place form.
///
/// A type of plain values and references with a single lifetime is its own form; an enum of this
/// kind must be fieldless or have an integer `repr`. For a type that owns parts (`String`, `Vec`,
/// `Box`), the macro generates a form: for `Player` a type `PlayerRef<'b>` with the same fields, as
/// values and references. The form of every type has such a name; for a type that is its own form,
/// it is an alias. See the guide of the crate `jstream`.
///
/// The macro recognises types by the last segment of their path: `String` and `Vec` own their
/// contents, `Duration` and `Uuid` are values, `Foo` has the form `FooRef`. If a name is
/// misleading, for example that of an alias, the program does not compile until the alias is
/// defined with `alias!`, or the option `form = Type` is added to the field, or `own` to the type.
/// Apart from that, names that shadow those of `std` do no harm: generated code does not depend on
/// names in scope. Bounds on a type's parameters must also hold for the forms of its arguments. The
/// form of a type with bounds is not known to be covariant if a field names a parameter as the
/// argument of a type of the program, such as `Other<T>`: use `Received::with` to access it.
///
/// A sender can send any combination of values that the fields' types allow. A type with invariants
/// on or between its fields must not derive this.
///
/// The options from `renamed_from` to `other` are rules for messages of other versions of the type.
/// They change neither messages nor descriptors. An expression of `default` is evaluated when a
/// default is needed; it sees the type's parameters with their bounds.
///
/// If the type of a field with a default has a parameter of the type, received objects of the type
/// are accessed by `Received::with`. Within other types, the parameter's argument must not refer to
/// the buffer: it can be a number, but not a `String`. An `Option` needs no default.
///
/// | option | of | meaning |
/// |---|---|---|
/// | `derive(Debug, ...)` | a type | derives for the form |
/// | `compare` | a type that owns its parts | the type and its form can be compared by `==`, in both directions |
/// | `owned` | a type | the type has a separate form although no field's type suggests it |
/// | `own` | a type | the type is its own form although a field's type seems to own its contents |
/// | `verify = function` | a type or field | the function must accept the value after the whole graph was read |
/// | `opt_in` | a type | pointers arrive as `None` or empty, unless marked with `follow` |
/// | `implements(Trait, ...)` | a type | can be the target of pointers to objects of these traits |
/// | `invariant` | a type | refers to types with cells; is accessed by `Received::with` only |
/// | `no_to_owned` | a type | can't be restored from its form |
/// | `no_debug` | a type that owns its parts | its form has no `Debug`, so that the program can implement it |
/// | `form = Type` | a field | the form of the field, if its type does not determine it; `'b` is the buffer's lifetime |
/// | `skip` | a field | is not sent, and arrives as its type's default |
/// | `with = Adapter` | a field | is sent as the value that the adapter returns |
/// | `shared` | a field | references preserve the identity of their targets |
/// | `exclusive` | a field | a `Vec` that arrives as a mutable slice |
/// | `follow` | a field | is followed in spite of `opt_in` |
/// | `renamed_from = "old"` | a field, variant or type | had this name in an older version; repeatable, or `renamed_from("a", "b")`; of a type: its name as a class of trait objects |
/// | `default` | a field | has its type's `Default` in messages of versions without the field |
/// | `default = expression` | a field | has this value in such messages; a literal text is converted to the field's type |
/// | `narrow` | a field | accepts larger numbers of other versions, if their values fit |
/// | `must_understand` | a field | makes versions without the field refuse the message |
/// | `other` | a variant | has no fields, and stands for variants that this version does not have |
/// | `crate = unsafe(path)` | a type | the path of the crate `jstream`, if it is not `::jstream` |
///
/// # Safety
///
/// The generated code is sound only if `::jstream`, or the path in `crate = unsafe(path)`, leads to
/// the crate `jstream`.
#[proc_macro_derive(Transportable, attributes(transportable))]
pub fn derive_transportable(input: TokenStream) -> TokenStream {
    transportable::derive(input.into()).into()
}

/// Defines type aliases that can be the types of fields of transportable types.
///
/// The derive knows types by their names, and looks for the form of a field of the type `Name`
/// under the name `NameRef`. `alias! { type Name = String; }` defines both. This also renames a
/// type: `alias! { type Text = String; }` instead of `use std::string::String as Text`. An alias
/// can have attributes, a visibility, type and const parameters, and one lifetime. Where an alias
/// is imported, its form must be imported too. A type whose fields own their contents behind
/// aliases alone needs the option `owned`.
///
/// `#[transportable(crate = unsafe(path))]` on an alias sets the path of the crate `jstream`, as
/// for the derive.
#[proc_macro]
pub fn alias(aliases: TokenStream) -> TokenStream {
    transportable::alias(aliases.into()).into()
}

/// Makes objects of a trait transportable: `&'b dyn Shape`, `Box<dyn Shape>`, `Rc<dyn Shape>`.
///
/// Transportable types that implement the trait are registered, in any crate, with
/// `#[transportable(implements(Shape))]`, or with `jstream::implements!(Shape: Circle<f64>)`. The
/// in-place form must implement the trait, too. See the guide of the crate `jstream`.
///
/// `#[transportable(crate = unsafe(path))]` sets the path of the crate `jstream`, if it is not
/// `::jstream`. As for the derive, the path must lead to this crate.
#[proc_macro_attribute]
pub fn transportable(options: TokenStream, item: TokenStream) -> TokenStream {
    dynamic::transportable(options.into(), item.into()).into()
}

/// Makes a trait callable from another node.
///
/// For a trait `Book`, the macro generates a `BookStub` with the same methods, which send calls,
/// and implements serving for `dyn Book`. Methods are `fn` or `async fn`. They take `&self` or
/// `&mut self`. Arguments are plain values and references, which the server receives as references
/// into the receive buffer, or a single `Received<T>`, which keeps that buffer. Threads share the
/// trait's objects, so the macro adds the supertraits `Send`, `Sync` and `'static`. See the
/// documentation of the crate `jstream-rmi`.
///
/// An async method of the trait returns a boxed future, so that the trait is object-safe. With
/// `#[remote]` on an `impl` block of the trait, the method can be written as an `async fn`, with
/// lifetimes as in the trait.
///
/// | option | of | meaning |
/// |---|---|---|
/// | `instances(Book<u64>, ...)` | a trait | the instances of a generic trait that can be served and called |
/// | `mock` | a trait | generates a `BookMock` for tests |
/// | `stateful` | a trait | the state of an object is lost with its connection, so a client that connects again does not go on with the object of the same name |
/// | `crate = path` | a trait or `impl` | the path of the crate `jstream_rmi`, if it is not `::jstream_rmi` |
/// | `renamed_from = "old"` | a trait, method or argument | had this name in an older version; repeatable, or `renamed_from("a", "b")` |
/// | `default`, `default = value` | an argument | the value in calls of versions that lack it: that of `Default`, or an expression |
/// | `one_way` | a method | returns nothing and has no reply |
/// | `idempotent` | a method | may run more than once for one call |
/// | `resume = "argument"` | a method that returns a stream | is called again if the connection is lost; the integer argument gets the number of the next item |
#[proc_macro_attribute]
pub fn remote(options: TokenStream, item: TokenStream) -> TokenStream {
    remote::remote(options.into(), item.into()).into()
}

/// Allows a struct or enum that contains references to remote objects to be an argument or result
/// of a remote method.
///
/// Fields of type `Remote<dyn Trait>`, or an `Option`, `Vec`, `Box<[T]>`, array or `Result` of it,
/// are passed by reference. So are fields of type `Referring<Type>`, for another type of this kind,
/// which must not contain the first one. All other fields are copied: their types must be
/// transportable and own their parts. The type has no generic parameters. See the documentation of
/// `Referring` in the crate `jstream-rmi`.
///
/// `#[referring(crate = path)]` sets the path of the crate `jstream_rmi`, if it is not
/// `::jstream_rmi`.
#[proc_macro_derive(Referring, attributes(referring))]
pub fn derive_referring(input: TokenStream) -> TokenStream {
    remote::referring(input.into()).into()
}

/// Implements `Debug` for an error: `{:?}` prints the sentence of `Display`, `{:#?}` the structure
/// with all fields.
///
/// A program whose `main` returns an error prints it by `{:?}`, as `unwrap` and `expect` do. With a
/// derived `Debug`, its user would see the names of types and fields instead of the sentence.
///
/// A field with `#[error_debug(skip)]` is not printed, and its type needs no `Debug`. This is for
/// the crates of jstream; it is not part of the stable interface.
#[proc_macro_derive(ErrorDebug, attributes(error_debug))]
pub fn derive_error_debug(input: TokenStream) -> TokenStream {
    error_debug::derive(input.into()).into()
}
