//! Descriptors and schemas.
//!
//! A message has the layout of the sender's memory, so both sides must lay a type out alike. Each
//! message says which structure it was written as: its *descriptor*, a 64-bit checksum of names,
//! sizes, offsets and kinds of all that the root's form reaches. The reader compares it with its
//! own.
//!
//! ```
//! use jstream::{Transportable, descriptor};
//!
//! mod old {
//!     #[derive(jstream::Transportable)]
//!     pub struct Leg { pub price: f64, pub count: u32 }
//! }
//! mod same {
//!     #[derive(jstream::Transportable)]
//!     pub struct Leg { pub price: f64, pub count: u32 }
//! }
//! mod new {
//!     #[derive(jstream::Transportable)]
//!     pub struct Leg { pub price: f64, pub count: u64 }
//! }
//! assert_eq!(descriptor::<old::Leg>(), descriptor::<same::Leg>());
//! assert_ne!(descriptor::<old::Leg>(), descriptor::<new::Leg>());
//!
//! // A type and its form have one.
//! #[derive(Transportable)]
//! struct Name { of: String }
//! assert_eq!(descriptor::<Name>(), descriptor::<NameRef<'_>>());
//! ```
//!
//! [`schema`](crate::schema) says what exactly it covers: neither paths nor crates, but every name,
//! type, offset, variant and discriminant. So a change of a type is seen, and there is no reading
//! of old messages as new types: keep both definitions, and convert.
//!
//! # What keeps its descriptor
//!
//! | from one compiler, or its flags, to another | |
//! |---|---|
//! | primitive types, arrays, references, slices, text | keep it |
//! | structs with `#[repr(C)]`; enums with `#[repr(u8)]` or another integer, and those without data | keep it, if their parts do |
//! | the forms of maps and sets | keep it, if keys and values do |
//! | generated forms | keep it, if their parts do: the form of a struct is `#[repr(C)]`, that of an enum has an integer's `repr`, whatever the type itself has |
//! | tuples, structs without `#[repr(C)]`; `Option` and `Result` of anything but a reference, `NonZero` or `bool` | are laid out as the compiler likes |
//!
//! Give types that travel as they are between builds a `#[repr(C)]`; types that own their parts
//! need none. Where nothing is declared, programs from one compiler and one source agree, which is
//! the usual case of a cluster; if two don't, messages are refused, not misread.
//!
//! # When two sides differ
//!
//! A descriptor can't say in what. The structures can, and travel as bytes: a program that was
//! taught its peer's says where they part.
//!
//! ```
//! use jstream::schema::Schema;
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! mod theirs {
//!     #[derive(jstream::Transportable)]
//!     pub struct Order { pub id: u64, pub legs: Vec<u64> }
//! }
//!
//! #[derive(Transportable)]
//! struct Order { id: u64, legs: Vec<u32> }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The peer sends its schema once, say when it connects.
//! let (schema, root) = Schema::of::<theirs::Order>();
//! let bytes = schema.to_bytes(root);
//!
//! let mut reader = Reader::default();
//! reader.learn_bytes(&bytes)?;
//! let message = Writer::new().write(&theirs::Order { id: 1, legs: vec![2] }, Spent::heap(256))?;
//! let Err(failure) = reader.read::<Order>(message) else { panic!("it was read") };
//! assert!(failure.to_string().contains("OrderRef.legs: &[u32] here, &[u64] there"), "{failure}");
//! # Ok(())
//! # }
//! ```
//!
//! Safety never rests on a descriptor. A message with a forged one is checked like any other, and
//! fails, or is a valid object.
