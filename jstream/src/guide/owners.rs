//! Types that own their parts.
//!
//! A `String` can't stand in a buffer: dropping it would free memory that is none of its own. So a
//! type that owns its parts arrives as its *form*, a type that the derive makes: the same name with
//! `Ref` behind it, the same fields and variants, and for each owner a reference.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable, Clone, PartialEq, Debug)]
//! #[transportable(derive(Debug, PartialEq, Clone, Copy))]
//! struct Folder {
//!     name: String,
//!     files: Vec<File>,
//!     parent: Option<Box<Folder>>,
//! }
//!
//! #[derive(Transportable, Clone, PartialEq, Debug)]
//! #[transportable(derive(Debug, PartialEq, Clone, Copy))]
//! struct File {
//!     name: String,
//!     size: u64,
//! }
//!
//! // The derive makes, among others:
//! //
//! // struct FolderRef<'b> {
//! //     name: &'b str,
//! //     files: &'b [FileRef<'b>],
//! //     parent: Option<&'b FolderRef<'b>>,
//! // }
//!
//! /// An ordinary function over the form.
//! fn total(folder: &FolderRef<'_>) -> u64 {
//!     folder.files.iter().map(|file| file.size).sum()
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = Folder {
//!     name: "src".to_owned(),
//!     files: vec![File { name: "lib.rs".to_owned(), size: 4100 }],
//!     parent: None,
//! };
//! let message = Writer::new().write(&folder, Spent::heap(4096))?;
//! let received = Reader::default().read::<Folder>(message)?;
//!
//! let form: &FolderRef<'_> = received.get();
//! assert_eq!((form.name, total(form)), ("src", 4100));
//!
//! // What was received can be sent on, or be made an owner again.
//! Writer::new().write(form, Spent::heap(4096))?;
//! assert_eq!(form.to_owned()?, folder);
//! # Ok(())
//! # }
//! ```
//!
//! The form has the visibility of its type and of its type's fields, and derives what
//! `#[transportable(derive(...))]` names. Its other attributes are its `repr`, and that of the
//! type.
//!
//! # Which types have a form of their own
//!
//! Those in which a field's type looks as if it owned something (`String`, `Vec`, `Box`, `Rc`,
//! `Arc`, `Cow`, maps, and those of the crates with a feature). Any other type is its own form, and
//! `FolderRef` an alias of it. The derive sees how types are spelled, and nothing behind that;
//! where it guesses wrong, nothing is misread: the program does not compile, and an option says how
//! it is.
//!
//! - `#[transportable(owned)]` on a type: it has a form although no field looks like it, say
//!   because a field's type has one.
//! - `#[transportable(own)]` on a type: it is its own form.
//! - `#[transportable(form = Type)]` on a field: what stands for it in the form, where its type is
//!   hidden by an alias. `'b` is the buffer's lifetime.
//!
//! ```
//! # use jstream::{Reader, Spent, Transportable, Writer};
//! type Name = String;
//!
//! #[derive(Transportable)]
//! struct Person {
//!     #[transportable(form = &'b str)]
//!     name: Name,
//! }
//!
//! /// No field looks like an owner, but `Person` has a form.
//! #[derive(Transportable)]
//! #[transportable(owned)]
//! struct Seat {
//!     row: u32,
//!     taken_by: Option<Person>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let seat = Seat { row: 7, taken_by: Some(Person { name: "Ada".to_owned() }) };
//! let received = Reader::default().read::<Seat>(Writer::new().write(&seat, Spent::heap(256))?)?;
//! let form: &SeatRef<'_> = received.get();
//! assert_eq!(form.taken_by.as_ref().map(|person| person.name), Some("Ada"));
//! # Ok(())
//! # }
//! ```
//!
//! # Generic types
//!
//! The form of `Pair<A, B>` is `PairRef<'b, A, B>`, generic over the *forms* of its parts: that of
//! `Pair<String, u8>` is `PairRef<'b, &'b str, u8>`. Recursive types need nothing special.
//!
//! # What two sides must agree upon
//!
//! A type and its form have one [descriptor](super::schemas). One program may send a `Folder`,
//! and another, or the same, send a `FolderRef` that it put together from borrowed parts; both are
//! read alike.
//!
//! A form has the fields of its type and no more: whoever sends can send any values that the
//! fields' types allow, in any combination. A type that keeps an invariant among its fields says so
//! with [`verify`](super::fields), or does not derive this.
