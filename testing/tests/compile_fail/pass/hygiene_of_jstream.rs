//! Generated code needs no prelude, no names of its surroundings, and no fixed name of the crate.
#![no_implicit_prelude]
#![deny(warnings, missing_docs, unreachable_pub, unused_qualifications)]

extern crate jstream as streams;

mod jstream {}
mod std {}
mod core {}

/// Shadows what careless code would use.
#[allow(dead_code)]
mod shadows {
    pub(crate) struct Vec;
    pub(crate) struct Result;
    pub(crate) struct Option;
    pub(crate) struct Some;
    pub(crate) struct Ok;
    pub(crate) struct String;
    pub(crate) struct PhantomData;
    pub(crate) trait Default {}
    pub(crate) trait Clone {}
    pub(crate) trait Sized {}
    pub(crate) trait Transportable {}
    pub(crate) trait InPlace {}
    pub(crate) trait Form {}
}
#[allow(unused_imports)]
use shadows::*;

macro_rules! types {
    ($(#[$attribute:meta])* $name:ident { $($field:ident: $type:ty),* $(,)? }) => {
        /// Made by a macro.
        $(#[$attribute])*
        pub struct $name<'b> {
            /// Documented.
            pub text: &'b str,
            $(
                /// Documented.
                pub $field: $type,
            )*
        }
    };
}

types! {
    #[derive(streams::Transportable)]
    #[transportable(crate = unsafe(::streams), no_to_owned)]
    Made { first: u8, second: ::core::option::Option<[u16; 2]>, third: &'b [u8] }
}

/// A type of which parts are not there.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams))]
pub struct Configured<'b> {
    /// Not there.
    #[cfg(any())]
    pub gone: *const u8,
    /// Documented.
    #[cfg(all())]
    pub there: &'b str,
    /// Documented.
    #[cfg_attr(all(), transportable(skip))]
    pub skipped: u8,
}

/// A type whose variants and fields have names that are keywords, or are not there.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams))]
#[repr(u8)]
#[allow(non_camel_case_types)]
pub enum r#mod<'b> {
    /// Not there.
    #[cfg(any())]
    Gone(*const u8),
    /// Documented.
    r#fn {
        /// Documented.
        r#type: &'b str,
        /// Not there.
        #[cfg(any())]
        gone: fn(),
    },
    /// Documented.
    r#impl(&'b r#mod<'b>, u8),
}

/// An adapter.
pub struct AsBytes;

impl streams::Adapter<Name> for AsBytes {
    type Wire = ::std::string::String;
    type Error = &'static str;

    fn to_wire(_: &Name) -> ::std::string::String {
        ::std::string::String::new()
    }

    fn from_wire(_: &&str) -> ::core::result::Result<Name, &'static str> {
        ::core::result::Result::Err("no name")
    }
}

impl streams::Adapter<Angle> for AsBytes {
    type Wire = f32;
    type Error = &'static str;

    fn to_wire(angle: &Angle) -> f32 {
        angle.0
    }

    fn from_wire(angle: &f32) -> ::core::result::Result<Angle, &'static str> {
        ::core::result::Result::Ok(Angle(*angle))
    }
}

/// A type that does not travel by itself.
pub struct Name(pub ::std::string::String);

/// A type that does not travel by itself.
#[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
pub struct Angle(pub f32);

/// A type that is compared with its form.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), compare)]
pub struct Compared {
    /// Documented.
    pub named: ::std::collections::HashMap<
        ::std::string::String,
        ::core::option::Option<::std::boxed::Box<Compared>>,
    >,
    /// Documented.
    pub result: ::core::result::Result<(u8, ::std::vec::Vec<u8>), Sign>,
    /// Documented.
    #[transportable(with = AsBytes, form = &'b str)]
    pub name: Name,
}

/// A type that is compared with its form.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), compare)]
pub enum Sign {
    /// Documented.
    Minus(::std::string::String),
    /// Documented.
    Plus {
        /// Documented.
        r#type: ::std::collections::BTreeSet<u8>,
    },
}

fn approve<T>(_: &T) -> ::core::result::Result<(), &'static str> {
    ::core::result::Result::Ok(())
}

/// A type with all options of fields.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), verify = approve, derive(::core::fmt::Debug))]
pub struct Options {
    /// Documented.
    #[transportable(skip)]
    pub skipped: ::std::vec::Vec<u8>,
    /// Documented.
    #[transportable(skip, form = ())]
    pub lock: ::std::sync::Mutex<u8>,
    /// Documented.
    #[transportable(with = AsBytes)]
    pub angle: Angle,
    /// Documented.
    #[transportable(with = AsBytes, form = &'b str)]
    pub name: Name,
    /// Documented.
    #[transportable(verify = crate::approve, verify = approve)]
    pub verified: ::std::string::String,
    /// Documented.
    #[transportable(exclusive)]
    pub exclusive: ::std::vec::Vec<f64>,
    /// Documented.
    pub shared: ::std::rc::Rc<str>,
}

/// The default of a field.
pub const DEFAULT: u16 = 3;

/// A type with rules for messages of other versions.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), renamed_from = "Older")]
pub struct Rules<T: ::core::default::Default> {
    /// Documented.
    #[transportable(default, renamed_from("old", "older"), must_understand)]
    pub list: ::std::vec::Vec<u8>,
    /// Documented.
    #[transportable(default = "text")]
    pub text: ::std::string::String,
    /// Documented.
    #[transportable(default = DEFAULT, narrow)]
    pub number: u16,
    /// Documented.
    #[transportable(default)]
    pub value: T,
    /// Documented.
    #[transportable(default)]
    pub choice: Choice,
}

/// An enum with rules for messages of other versions.
#[derive(streams::Transportable, ::core::default::Default)]
#[transportable(crate = unsafe(::streams))]
pub enum Choice {
    /// Documented.
    #[transportable(other, renamed_from = "Nothing")]
    #[default]
    Unknown,
    /// Documented.
    Known(#[transportable(default = <_ as ::core::default::Default>::default())] ::std::string::String),
}

/// A type whose pointers are left out.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), opt_in, own)]
pub struct OptIn<'b> {
    /// Documented.
    pub left: ::core::option::Option<&'b OptIn<'b>>,
    /// Documented.
    #[transportable(follow, shared)]
    pub right: ::core::option::Option<&'b OptIn<'b>>,
}

/// A type with cells.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams))]
pub struct Cells<'b> {
    /// Documented.
    pub next: ::std::cell::Cell<::core::option::Option<&'b Cells<'b>>>,
}

/// A type that refers to cells.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), invariant)]
pub struct Graph<'b> {
    /// Documented.
    pub of: &'b [Cells<'b>],
}

/// A generic type.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams))]
pub struct Bounded<'b, T: ::core::marker::Copy, U = u8, const N: usize = 3>
where
    U: ::core::cmp::PartialEq,
{
    /// Documented.
    pub of: &'b T,
    /// Documented.
    pub all: [U; N],
    /// Documented.
    pub angle: ::core::option::Option<::core::result::Result<u8, &'b str>>,
}

/// A generic type that has a form.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), owned)]
pub struct Owned<T, const N: usize>
where
    T: ::core::marker::Copy,
{
    /// Documented.
    pub of: ::std::vec::Vec<(T, [u8; N])>,
}

/// A trait.
#[streams::transportable(crate = unsafe(::streams))]
pub trait Shape {
    /// Documented.
    fn area(&self) -> f64;

    /// Documented.
    fn unit() -> Self
    where
        Self: ::core::marker::Sized;
}

/// An implementation.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams), implements(Shape), implements(self::Shape))]
pub struct Circle(f64);

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0
    }

    fn unit() -> Self {
        Self(1.0)
    }
}

/// A type that owns objects of a trait.
#[derive(streams::Transportable)]
#[transportable(crate = unsafe(::streams))]
pub struct Drawing {
    /// Documented.
    pub shapes: ::std::vec::Vec<::std::boxed::Box<dyn Shape>>,
}

fn main() {
    let drawing = Drawing {
        shapes: ::std::vec![::std::boxed::Box::new(Circle(2.0))],
    };
    let filled = streams::Writer::new()
        .write(&drawing, streams::EmptyBuffer::heap(256))
        .unwrap();
    let received = streams::Reader::new(<streams::Limits as ::core::default::Default>::default())
        .read::<Drawing>(filled)
        .unwrap();
    ::std::assert_eq!(received.get().shapes[0].area(), 2.0);
    let (schema, root) = streams::schema::Schema::of::<Rules<u8>>();
    let rules = schema.rules(root).unwrap();
    ::std::assert_eq!(rules.fields.len(), 5);
    ::std::assert!(schema.to_snapshot(root).is_ok());
    let made = Made {
        text: "abc",
        first: 1,
        second: ::core::option::Option::None,
        third: &[4, 5],
    };
    let filled = streams::Writer::new()
        .write(&made, received.into_empty())
        .unwrap();
    let received = streams::Reader::new(<streams::Limits as ::core::default::Default>::default())
        .read::<Made<'_>>(filled)
        .unwrap();
    ::std::assert_eq!(received.get().third, [4, 5]);
    let bounded = Bounded {
        of: &7u16,
        all: [true, false, true],
        angle: ::core::option::Option::Some(::core::result::Result::Err("none")),
    };
    let filled = streams::Writer::new()
        .write(&bounded, received.into_empty())
        .unwrap();
    let received = streams::Reader::new(<streams::Limits as ::core::default::Default>::default())
        .read::<Bounded<'_, u16, bool>>(filled)
        .unwrap();
    received.with(|bounded| ::std::assert_eq!((*bounded.of, bounded.all[1]), (7, false)));
}
