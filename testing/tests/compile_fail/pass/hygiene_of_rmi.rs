//! Generated code needs no prelude, no names of its surroundings, and no fixed name of the crates.
#![no_implicit_prelude]
#![deny(warnings, missing_docs)]

extern crate jstream as streams;
extern crate jstream_rmi as calls;

mod jstream {}
mod jstream_rmi {}
mod std {}
mod core {}

/// Shadows what careless code would use.
#[allow(dead_code)]
mod shadows {
    pub(crate) struct Vec;
    pub(crate) struct Result;
    pub(crate) struct Option;
    pub(crate) struct Received;
    pub(crate) struct Stream;
    pub(crate) trait Transportable {}
}
#[allow(unused_imports)]
use shadows::*;

/// A point.
#[derive(streams::Transportable, ::core::fmt::Debug)]
#[transportable(crate = unsafe(::streams))]
pub struct Point<'b> {
    r#type: u64,
    slot: &'b str,
    draft: bool,
    pass: [u8; 3],
    trace: &'b [Kind],
    of: ::core::option::Option<u8>,
}

/// An owner.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), derive(::core::fmt::Debug))]
pub struct Owner<T> {
    /// Documented.
    pub r#fn: ::std::string::String,
    /// Documented.
    pub points: ::std::vec::Vec<Choice<T>>,
}

/// A choice.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), derive(::core::fmt::Debug))]
pub enum Choice<T> {
    /// Documented.
    One(::std::boxed::Box<T>),
    /// Documented.
    Two {
        /// Documented.
        tag: ::core::option::Option<::std::boxed::Box<Self>>,
        /// Documented.
        of: u8,
    },
}

/// A kind.
#[derive(streams::Transportable, ::core::fmt::Debug)]
#[transportable(crate = unsafe(::streams))]
pub enum Kind {
    /// One.
    First,
    /// Another.
    Second,
}

/// Returns a default.
fn shadowed() -> u64 {
    4
}

/// Points by name.
#[calls::remote(crate = ::calls)]
pub trait Points {
    /// Finds one.
    #[remote(renamed_from = "found")]
    fn r#find(
        &self,
        #[remote(renamed_from("r#slot", "type"), default = "none")] slot: &str,
        #[remote(default = shadowed())] method: u64,
        call: &Point<'_>,
        #[remote(default)] object: &[u8],
    ) -> u64;
}

/// Points that wait, and have names that generated code might use.
#[calls::remote(crate = ::calls, mock)]
pub trait Waiting {
    /// Documented.
    async fn r#match(&mut self, slot: &str, object: &Point<'_>) -> ::core::option::Option<u64>;
    /// Documented.
    async fn result<'a>(&self, slot: &'a str) -> &'a str {
        slot
    }
    /// Documented.
    #[remote(one_way)]
    fn call(&self, r#type: u8);
    /// Documented.
    #[cfg(any())]
    async fn never(&self, of: &NoSuchType);
    /// Documented.
    #[deprecated]
    #[remote(idempotent)]
    async fn old(&self);
}

/// Waits for nothing.
#[derive(::core::fmt::Debug)]
pub struct Patient;

#[calls::remote(crate = ::calls)]
impl Waiting for Patient {
    async fn r#match(&mut self, slot: &str, object: &Point<'_>) -> ::core::option::Option<u64> {
        let _ = slot;
        ::core::option::Option::Some(object.r#type)
    }

    fn call(&self, r#type: u8) {
        let _ = r#type;
    }

    #[cfg(any())]
    async fn never(&self, of: &NoSuchType) {}

    async fn old(&self) {}
}

/// Streams both ways.
#[calls::remote(crate = ::calls, mock)]
pub trait Flowing {
    /// Documented.
    fn r#in(
        &mut self,
        number: u64,
        call: calls::Stream<u64>,
    ) -> calls::Stream<::std::string::String>;
    /// Documented.
    async fn out(&self, streams: calls::Stream<u8>) -> u64;
    /// Documented.
    async fn stream(&self, taken: &str) -> calls::Stream<u8>;
}

/// Listed instances.
#[calls::remote(crate = ::calls, instances(Kept<u64>, Kept<::std::string::String>))]
pub trait Kept<T: ::core::marker::Send + ::core::marker::Sync> {
    /// Documented.
    fn r#fn(&self, slot: u8) -> ::core::option::Option<T>;
    /// Documented.
    async fn all(&self) -> ::std::vec::Vec<T>;
}

mod private {
    #[::calls::remote(crate = ::calls, mock)]
    trait Hidden {
        async fn seen(&self) -> bool;
    }
}

fn main() {
    let server: calls::Server = ::std::default::Default::default();
    let _ = server.bind::<dyn Waiting>("waiting", calls::Exclusive::new(Patient));
}
