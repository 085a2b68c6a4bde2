//! Descriptors and schemas.
//!
//! Values in a message have the layout of the sender's memory, so both sides must lay out a type in
//! the same way. Each message contains the *descriptor* of its root's type: a 64-bit hash of the
//! names, sizes, offsets and kinds of all types that the root's form reaches. The reader compares
//! it with the descriptor of its own type.
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
//! // A type and its form have the same descriptor.
//! #[derive(Transportable)]
//! struct Name { of: String }
//! assert_eq!(descriptor::<Name>(), descriptor::<NameRef<'_>>());
//! ```
//!
//! [`schema`](crate::schema) specifies what a descriptor covers: every name, type, offset, variant
//! and discriminant, but neither paths nor crates. Any change of a type changes its descriptor. A
//! reader that knows the schema of the other version converts its messages: the page `versions` of
//! the guide says which changes are possible.
//!
//! # Stable descriptors
//!
//! The table shows which descriptors stay the same if the compiler, or its flags, change.
//!
//! | type | stable |
//! |---|---|
//! | primitive types, arrays, references, slices, text | yes |
//! | structs with `#[repr(C)]`; enums with `#[repr(u8)]` or another integer, and enums without data | yes, if their parts are |
//! | the forms of maps and sets | yes, if keys and values are |
//! | generated forms | yes, if their parts are: the form of a struct is `#[repr(C)]`, that of an enum has an integer `repr`, independent of the `repr` of the type itself |
//! | tuples; structs without `#[repr(C)]`; `Option` and `Result`, except of a reference, `NonZero` or `bool` | no: the compiler chooses the layout |
//!
//! If a type is its own form and is exchanged between different builds, declare it `#[repr(C)]`.
//! Types that own their parts need no `repr`. Programs that are built from one source by one
//! compiler agree without any declaration, which is the usual case in a cluster. If two programs
//! disagree, messages are converted if the reader knows the schema, or else refused, but never
//! misinterpreted.
//!
//! # Differences between two sides
//!
//! A descriptor does not tell how two types differ. A schema does, and it can be sent as bytes. If
//! a reader has learnt the schema of its peer, and the two are not compatible, its error names the
//! fields. [`Schema::difference`](crate::schema::Schema::difference) finds the first difference of
//! any two schemas.
//!
//! ```
//! use jstream::schema::Schema;
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! // The peer sends its schema once, for example when it connects.
//! let (schema, root) = Schema::of::<theirs::Order>();
//! let bytes = schema.to_bytes(root);
//!
//! let mut reader = Reader::default();
//! reader.learn_bytes(&bytes)?;
//! let message = Writer::new().write(&theirs::Order { id: 1, legs: vec![2] }, EmptyBuffer::heap(256))?;
//! let Err(failure) = reader.read::<Order>(message) else { panic!("it was read") };
//! assert!(failure.to_string().contains("Order.legs[]: `u64` can't become `u32`"), "{failure}");
//! # Ok(())
//! # }
//! ```
//!
//! Memory safety does not depend on descriptors. A message with a forged descriptor is checked like
//! any other: reading it fails or returns a valid object.
