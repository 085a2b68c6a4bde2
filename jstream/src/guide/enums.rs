//! Options, results and enums.
//!
//! | type | needs | because |
//! |---|---|---|
//! | an enum without data, with at most 256 variants | nothing | the derive compares each variant's byte with its discriminant |
//! | an enum with data that is its own form | `#[repr(u8)]`, or another integer | the language does not say how it is laid out otherwise |
//! | an enum that owns its parts | nothing | its form gets a `#[repr(u8)]`, or the type's own |
//! | `Option<T>`, `Result<T, E>` | a payload of at most 1,024 bytes | it is made native beside its slot |
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! /// Without data.
//! #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
//! enum Unit {
//!     Metre,
//!     Second,
//! }
//!
//! /// Its own form, with data.
//! #[derive(Transportable, Debug, PartialEq)]
//! #[repr(u8)]
//! enum Expression<'b> {
//!     Number(f64, Unit),
//!     Sum(&'b [Expression<'b>]),
//!     Named { name: &'b str, of: &'b Expression<'b> },
//! }
//!
//! /// An owner.
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
//! let message = Writer::new().write(&named, Spent::heap(1024))?;
//! let received = Reader::default().read::<Expression>(message)?;
//! // An enum is matched as any other is.
//! match received.get() {
//!     Expression::Named { name: "x", of: Expression::Sum(parts) } => assert_eq!(parts.len(), 2),
//!     other => panic!("{other:?}"),
//! }
//!
//! let reply = Reply::Refused { why: "full".to_owned(), retry: Some(5) };
//! let received = Reader::default().read::<Reply>(Writer::new().write(&reply, Spent::heap(256))?)?;
//! assert_eq!(received.get(), &ReplyRef::Refused { why: "full", retry: Some(5) });
//! # drop(Reply::Done);
//! # Ok(())
//! # }
//! ```
//!
//! A byte that is no variant is an error with its place:
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, Clone, Copy)]
//! enum Side {
//!     Buy,
//!     Sell,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sides = [Side::Buy, Side::Sell];
//! let message = Writer::new().write(&sides, Spent::heap(64))?;
//! let mut bytes = message.as_bytes().to_vec();
//! bytes[41] = 7; // The root stands behind a header of 40 bytes.
//! let message = Spent::heap(64).copy_from(&bytes)?;
//! let failure = Reader::default().read::<[Side; 2]>(message).unwrap_err();
//! assert_eq!(failure.to_string(), "[Side; 2][1]: byte 7 is not a Side (at offset 0x29)");
//! # Ok(())
//! # }
//! ```
//!
//! In an enum that is its own form write its name where you would write `Self` in a field's type:
//! the derive mirrors variants as structs, in which `Self` would be another type.
//!
//! An `Option` of a reference, a slice, a `Box` and the like takes no more room than the pointer.
//! Others have their layout from the compiler: see
//! [what keeps its descriptor](super::schemas#what-keeps-its-descriptor).
