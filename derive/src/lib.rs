//! The macros of jstream, re-exported by the crates that they are for.
//!
//! Each works in three stages: *parse* turns tokens into a description, *check* refuses what can't
//! be supported, each error on the token that causes it, and *expand* writes the code.
#![forbid(unsafe_code)]

mod errors;
mod remote;
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
/// Whoever sends can send any values that the fields' types allow, in any combination. A type that
/// keeps an invariant between its fields, or in them, must not derive this.
///
/// | option | of | meaning |
/// |---|---|---|
/// | `derive(Debug, ...)` | a type | what its form derives |
/// | `owned` | a type | it has a form although no field's type tells so |
/// | `form = Type` | a field | its form, where its type does not tell; `'b` is the buffer's lifetime |
/// | `crate = path` | a type | names the crate `jstream` where it is not `::jstream` |
#[proc_macro_derive(Transportable, attributes(transportable))]
pub fn derive_transportable(input: TokenStream) -> TokenStream {
    transportable::derive(input.into()).into()
}

/// Makes a trait callable from another node.
///
/// For a trait `Book` with methods on `&self` it makes a `BookStub` with the same methods, each of
/// which sends a call, and teaches `dyn Book` to be served. Arguments are plain values and
/// references, which the server gets as references into the receive buffer, or one `Received<T>`,
/// which keeps that buffer. The trait's objects are shared between threads, so it gets `Send`,
/// `Sync` and `'static` as supertraits. See the guide of the crate `jstream-rmi`.
///
/// `#[remote(crate = path)]` names the crate `jstream_rmi` where it is not `::jstream_rmi`.
#[proc_macro_attribute]
pub fn remote(options: TokenStream, item: TokenStream) -> TokenStream {
    remote::remote(options.into(), item.into()).into()
}
