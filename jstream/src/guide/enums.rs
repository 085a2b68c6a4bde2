//! Options, results and enums.
//!
//! | type | requirement | reason |
//! |---|---|---|
//! | an enum without data, with at most 256 variants | none | the derive compares each variant's byte with its discriminant |
//! | an enum with data that is its own form | `#[repr(u8)]`, or another integer | the language does not specify the layout otherwise |
//! | an enum that owns its parts | none | the derive gives the form the `repr` of the type, or else `#[repr(u8)]` |
//! | `Option<T>`, `Result<T, E>` | a payload of at most 1,024 bytes | the payload is validated in a temporary on the stack |
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! /// An enum without data.
//! #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
//! enum Unit {
//!     Metre,
//!     Second,
//! }
//!
//! /// An enum with data that is its own form.
//! #[derive(Transportable, Debug, PartialEq)]
//! #[repr(u8)]
//! enum Expression<'b> {
//!     Number(f64, Unit),
//!     Sum(&'b [Expression<'b>]),
//!     Named { name: &'b str, of: &'b Expression<'b> },
//! }
//!
//! /// An enum that owns its parts.
//! #[derive(Transportable)]
//! #[transportable(derive(Debug, PartialEq))]
//! enum Reply {
//!     Done,
//!     Refused { why: String, retry: Option<u32> },
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let parts = [Expression::Number(2.0, Unit::Metre), Expression::Number(3.0, Unit::Second)];
//! let sum = Expression::Sum(&parts);
//! let named = Expression::Named { name: "x", of: &sum };
//! let message = Writer::new().write(&named, EmptyBuffer::heap(1024))?;
//! let received = Reader::default().read::<Expression>(message)?;
//! // A received enum is matched like any other.
//! match received.get() {
//!     Expression::Named { name: "x", of: Expression::Sum(parts) } => assert_eq!(parts.len(), 2),
//!     other => panic!("{other:?}"),
//! }
//!
//! let reply = Reply::Refused { why: "full".to_owned(), retry: Some(5) };
//! let received = Reader::default().read::<Reply>(Writer::new().write(&reply, EmptyBuffer::heap(256))?)?;
//! assert_eq!(received.get(), &ReplyRef::Refused { why: "full", retry: Some(5) });
//! # drop(Reply::Done);
//! # Ok(())
//! # }
//! ```
//!
//! A byte that is not the tag of a variant is an error, which states its path and its offset:
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, Clone, Copy)]
//! enum Side {
//!     Buy,
//!     Sell,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sides = [Side::Buy, Side::Sell];
//! let message = Writer::new().write(&sides, EmptyBuffer::heap(64))?;
//! let mut bytes = message.as_bytes().to_vec();
//! bytes[41] = 7; // The root follows the header of 40 bytes.
//! let message = EmptyBuffer::heap(64).copy_from(&bytes)?;
//! let failure = Reader::default().read::<[Side; 2]>(message).unwrap_err();
//! assert_eq!(failure.to_string(), "[Side; 2][1]: byte 7 is not a Side (at offset 0x29)");
//! # Ok(())
//! # }
//! ```
//!
//! In an enum that is its own form, write the enum's name instead of `Self` in the types of fields.
//! The derive mirrors variants as structs, in which `Self` would be another type.
//!
//! An `Option` of a reference, a slice, a `Box` or another pointer takes no more space than the
//! pointer. The compiler chooses the layout of other options: see [stable
//! descriptors](super::schemas#stable-descriptors).
