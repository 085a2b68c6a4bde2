//! Changing a type that is in use.
//!
//! Programs are upgraded one after the other, and a stored file is older than its reader. A message
//! of another version of a type has another [descriptor](super::schemas), so it can't be read in
//! place. If the reader knows the *schema* of that version, it converts the message, and then reads
//! the result in place like any other message. Messages of the reader's own version cost nothing
//! more.
//!
//! A file has the schemas of its objects. So an old file is read as the new type without any
//! preparation:
//!
//! ```
//! use jstream::Transportable;
//! use jstream::file::{FileReader, FileWriter, ReadOptions};
//!
//! // The type as it was when the file was written, in an older release of the program.
//! mod release_1 {
//!     #[derive(jstream::Transportable)]
//!     pub struct Order {
//!         pub id: u32,
//!         pub sym: String,
//!         pub side: Side,
//!     }
//!
//!     #[derive(jstream::Transportable, Clone, Copy)]
//!     pub enum Side { Buy, Sell }
//! }
//!
//! // The type today.
//! #[derive(Transportable)]
//! struct Order {
//!     id: u64,                                    // widened
//!     #[transportable(renamed_from = "sym")]
//!     symbol: String,
//!     side: Side,
//!     #[transportable(default = 1)]
//!     quantity: u32,                              // added, with a default
//!     note: Option<String>,                       // added; `None` by itself
//! }
//!
//! #[derive(Transportable, Clone, Copy, Debug, PartialEq)]
//! enum Side {
//!     Sell,
//!     Buy,
//!     #[transportable(other)]
//!     Unknown,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("orders.jsf");
//! # let mut writer = FileWriter::create(&path)?;
//! # writer.push(&release_1::Order { id: 7, sym: "ACME".to_owned(), side: release_1::Side::Buy })?;
//! # writer.commit()?;
//! let mut reader = FileReader::open(&path)?;
//! let received = reader.read::<Order>(0)?;
//! let order = received.get();
//! assert_eq!((order.id, order.symbol, order.quantity), (7, "ACME", 1));
//! assert_eq!((order.side, order.note), (Side::Buy, None));
//! assert!(received.is_converted());
//! # Ok(())
//! # }
//! ```
//!
//! For messages that come from elsewhere, the program keeps a *snapshot* of the schema of each
//! older version, which is a small file, and lets its readers learn it.
//! [`embed_schemas!`](crate::embed_schemas) puts such files into the program:
//!
//! ```
//! # use jstream::Transportable;
//! use jstream::schema::Schema;
//! use jstream::{EmptyBuffer, Reader, to_vec};
//! # mod release_1 {
//! #     #[derive(jstream::Transportable)]
//! #     pub struct Leg { pub price: f32 }
//! # }
//! # #[derive(Transportable)]
//! # struct Leg { price: f64 }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (schema, root) = Schema::of::<release_1::Leg>();
//! # let snapshot = schema.to_snapshot(root)?;
//! # let bytes = to_vec(&release_1::Leg { price: 1.5 })?;
//! let mut reader = Reader::default();
//! // Usually: for snapshot in jstream::embed_schemas!["../schemas/leg-1.jschema"] { .. }
//! for snapshot in [&snapshot[..]] {
//!     reader.learn_bytes(snapshot)?;
//! }
//! let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes)?;
//! let received = reader.read::<Leg>(message).map_err(|failure| failure.error)?;
//! assert_eq!(received.get().price, 1.5);
//! # Ok(())
//! # }
//! ```
//!
//! [`snapshots`](crate::schema::snapshots) returns what the readers of another
//! program must learn to read the messages of this one: the snapshots of a type and of the classes
//! of its trait objects.
//!
//! A program that forwards what it reads uses
//! [`Reader::read_with_original`](crate::Reader::read_with_original), which also returns the
//! message as it came, so that fields that this program does not know are not lost.
//!
//! # What may change
//!
//! Fields and variants are matched by their names. Their order does not matter, nor do the names of
//! structs and enums, except those of classes of trait objects and of the keys of maps.
//!
//! | change | effect on messages of the older version |
//! |---|---|
//! | a field is added | it needs `#[transportable(default)]` or `default = value`; without one, an `Option` is `None`, and any other field is refused |
//! | a field is removed | it is left out, unless the sender marked it with `must_understand` |
//! | a field or variant is renamed | `renamed_from = "old"` at the new name |
//! | a number gets a larger type: unsigned to unsigned or signed, signed to signed, `f32` to `f64`, `NonZero` to plain | converted |
//! | a number gets a smaller type | refused; with `narrow` at the field, only values that do not fit are refused |
//! | `T` becomes `Option<T>` | `Some` |
//! | `Option<T>` becomes `T` | refused, unless the field has a default, which replaces `None` |
//! | `[T; N]` becomes `Vec<T>` or `&[T]` | converted |
//! | `Box<T>`, `Vec<T>` and `String` become `&T`, `&[T]` and `&str`, or the other way round | nothing: these are the same |
//! | a variant is added | nothing; for older readers, messages that have it are refused, unless a variant without fields is marked with `other` |
//! | a variant is removed | messages that have it are refused, or become the one marked with `other` |
//! | fields are reordered; another compiler lays a type out differently | converted |
//! | the key of a map is widened, up to 64 bits, or has renamed fields | converted |
//! | the key of a map changes otherwise | refused, because its order and hash would be others |
//! | a class of trait objects changes | its objects are converted, if the reader knows the schema of the older class, also if the type of the message is the same |
//! | a class of trait objects is added | nothing: the descriptor stays; a reader without the class refuses messages that have an object of it |
//! | a shared pointer becomes an unshared one, or the other way round | refused |
//! | any other change of a kind: a number to text, a struct to an enum | refused |
//!
//! Tuples, and structs with fields without names, are matched by position. Removing any but the
//! last of these fields gives the others wrong values: give fields names if the type may change.
//!
//! If two fields of the new type would take the same field of the old one, the versions are
//! refused. So a name that has been renamed can't be used again for another field.
//!
//! # Errors
//!
//! A difference that no message can satisfy refuses all messages
//! ([`ReadError::Incompatible`](crate::ReadError::Incompatible)); the error names the fields and
//! what could be done. A difference that depends on a value refuses the messages that have it
//! ([`ReadError::Conversion`](crate::ReadError::Conversion)). [`compatibility`] lists both in
//! advance, in either direction.
//!
//! A test detects a change that would refuse the messages of a version that is in use. For each
//! released version, `testing::write_snapshot` writes a file, which is put under version control,
//! and `testing::assert_compatible` compares the current type with it (feature `testing`). The
//! failure lists the fields, and what could be done:
//!
#![cfg_attr(feature = "testing", doc = "```no_run")]
#![cfg_attr(not(feature = "testing"), doc = "```ignore")]
//! use jstream::{Transportable, testing};
//!
//! #[derive(Transportable)]
//! struct Order { id: u64, symbol: String }
//!
//! # fn main() -> Result<(), testing::SnapshotFileError> {
//! // Once, when version 2 is released:
//! testing::write_snapshot::<Order>("schemas/order-v2.jschema")?;
//! // Always:
//! testing::assert_compatible::<Order>("schemas/order-v1.jschema");
//! testing::assert_compatible::<Order>("schemas/order-v2.jschema");
//! # Ok(())
//! # }
//! ```
//!
//! The program `jstream-inspect` compares versions with its command `compat`, and rewrites files
//! with its command `upgrade`: see [`inspecting`](crate::guide::inspecting).
//!
//! [`compatibility`]: crate::evolve::compatibility
//!
//! # Costs and limits
//!
//! A conversion checks the message under its own schema, writes a new message, and reads it. The
//! plan is made once for each pair of schemas. The new message has at most
//! [`Limits::bytes`](crate::Limits::bytes), and at most 16 times the length of the old one and 64
//! KiB. Snapshots need not be trusted; a reader keeps at most 256 of them, and forgets the one that
//! was not used for longest.
//!
//! Without the feature `evolve`, which is on by default, messages of other versions are refused.
