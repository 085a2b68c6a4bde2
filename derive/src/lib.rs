//! The macros of jstream, re-exported by the crates that they are for.
//!
//! Each works in three stages: *parse* turns tokens into a description, *check* refuses what can't
//! be supported, each error on the token that causes it, and *expand* writes the code.
#![forbid(unsafe_code)]

mod dynamic;
mod errors;
#[cfg(test)]
mod golden;
mod remote;
mod spans;
mod transportable;

use proc_macro::TokenStream;

/// Makes a type travel: it can be written into a message, and stands in the receiver's buffer as
/// its in-place form.
///
/// A type of plain values and references with one lifetime is its own form; an enum among them is
/// fieldless or has an integer `repr`. A type that owns parts (`String`, `Vec`, `Box`) gets a form:
/// for `Player` a type `PlayerRef<'b>` with the same fields, as values and references. Every type
/// has that name for its form; for one that is its own it is an alias. See the guide of the crate
/// `jstream`.
///
/// Types are known by their names, whatever stands before them: `String` and `Vec` own what they hold,
/// `Duration` and `Uuid` are values, `Foo` has the form `FooRef`. Where a name misleads, which an
/// alias's does too, the program does not compile until the field says `form = Type`, or the type
/// `own`. Names that shadow those of `std` are no trouble otherwise: generated code uses none of its
/// surroundings. Bounds on a type's parameters must hold of the forms of its arguments too, and the
/// form of a type with bounds is not known to be covariant: `Received::with` visits it.
///
/// Whoever sends can send any values that the fields' types allow, in any combination. A type that
/// keeps an invariant between its fields, or in them, must not derive this.
///
/// | option | of | meaning |
/// |---|---|---|
/// | `derive(Debug, ...)` | a type | what its form derives |
/// | `owned` | a type | it has a form although no field's type tells so |
/// | `own` | a type | it is its own form although a field's type looks as if it owned something |
/// | `verify = function` | a type or field | has to approve of it when the whole graph has been read |
/// | `opt_in` | a type | its pointers arrive as `None`, or empty, unless marked with `follow` |
/// | `implements(Trait, ...)` | a type | may stand behind pointers to these traits' objects |
/// | `invariant` | a type | refers to types with cells: is visited by `Received::with` alone |
/// | `no_to_owned` | a type | can't be made again from its form |
/// | `form = Type` | a field | its form, where its type does not tell; `'b` is the buffer's lifetime |
/// | `skip` | a field | does not travel, and arrives as its type's default |
/// | `with = Adapter` | a field | travels as the value that the adapter makes of it |
/// | `shared` | a field | its references keep the identity of what they lead to |
/// | `exclusive` | a field | a `Vec` that arrives as a slice which can be changed |
/// | `follow` | a field | is followed in spite of `opt_in` |
/// | `crate = path` | a type | names the crate `jstream` where it is not `::jstream` |
#[proc_macro_derive(Transportable, attributes(transportable))]
pub fn derive_transportable(input: TokenStream) -> TokenStream {
    transportable::derive(input.into()).into()
}

/// Lets objects of a trait travel: `&'b dyn Shape`, `Box<dyn Shape>`, `Rc<dyn Shape>`.
///
/// Types that implement the trait and can travel are registered, in any crate, with
/// `#[transportable(implements(Shape))]`, or with `jstream::implements!(Shape: Circle<f64>)`. The form
/// that stands in the buffer must implement the trait too. See the guide of the crate `jstream`.
///
/// `#[transportable(crate = path)]` names the crate `jstream` where it is not `::jstream`.
#[proc_macro_attribute]
pub fn transportable(options: TokenStream, item: TokenStream) -> TokenStream {
    dynamic::transportable(options.into(), item.into()).into()
}

/// Makes a trait callable from another node.
///
/// For a trait `Book` it makes a `BookStub` with the same methods, each of which sends a call, and teaches
/// `dyn Book` to be served. Methods are `fn` or `async fn`, on `&self` or `&mut self`. Arguments are plain
/// values and references, which the server gets as references into the receive buffer, or one
/// `Received<T>`, which keeps that buffer. The trait's objects are shared between threads, so it gets `Send`,
/// `Sync` and `'static` as supertraits. See the documentation of the crate `jstream-rmi`.
///
/// An async method of the trait returns a boxed future, so that the trait has objects. On an `impl` block of
/// the trait, `#[remote]` lets it be written as an `async fn`, with lifetimes spelled as in the trait.
///
/// | option | of | meaning |
/// |---|---|---|
/// | `instances(Book<u64>, ...)` | a trait | the instances of a generic trait that are served and called |
/// | `mock` | a trait | makes a `BookMock` for tests |
/// | `crate = path` | a trait or `impl` | names the crate `jstream_rmi` where it is not `::jstream_rmi` |
/// | `one_way` | a method | returns nothing, and nobody waits for it |
/// | `idempotent` | a method | may run more than once for one call |
#[proc_macro_attribute]
pub fn remote(options: TokenStream, item: TokenStream) -> TokenStream {
    remote::remote(options.into(), item.into()).into()
}

/// Lets a struct that has references to remote objects in it be passed to a remote method, or be its result.
///
/// Fields whose type is `Remote<dyn Trait>`, or an `Option`, `Vec` or `Result` of it, are passed by reference; so are
/// those that are `Referring<Struct>`, of another such struct. All others are copied: they can travel, and own their parts.
/// See the documentation of `Referring` in the crate `jstream-rmi`.
///
/// `#[referring(crate = path)]` names the crate `jstream_rmi` where it is not `::jstream_rmi`.
#[proc_macro_derive(Referring, attributes(referring))]
pub fn derive_referring(input: TokenStream) -> TokenStream {
    remote::referring(input.into()).into()
}
