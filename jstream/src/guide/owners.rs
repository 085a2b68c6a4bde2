//! Types that own their parts.
//!
//! A buffer can't contain a `String`, since dropping it would free memory that it does not own. The
//! derive therefore generates the *form* of a type that owns its parts: a type with the same name
//! and the suffix `Ref`, the same fields and variants, and a reference in place of each owner. The
//! type is received as its form.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! // The derive generates, among others:
//! //
//! // struct FolderRef<'b> {
//! //     name: &'b str,
//! //     files: &'b [FileRef<'b>],
//! //     parent: Option<&'b FolderRef<'b>>,
//! // }
//!
//! /// An ordinary function that uses the form.
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
//! let message = Writer::new().write(&folder, EmptyBuffer::heap(4096))?;
//! let received = Reader::default().read::<Folder>(message)?;
//!
//! let form: &FolderRef<'_> = received.get();
//! assert_eq!((form.name, total(form)), ("src", 4100));
//!
//! // A received object can be sent on, or converted to an owned value.
//! Writer::new().write(form, EmptyBuffer::heap(4096))?;
//! assert_eq!(form.to_owned()?, folder);
//! # Ok(())
//! # }
//! ```
//!
//! The form has the visibility of its type, and its fields that of the type's fields. It derives
//! the traits that `#[transportable(derive(...))]` names. It has `Debug` without that if its type
//! has it: the fields are shown, and those without `Debug` as `..`. With
//! `#[transportable(no_debug)]`, the program can implement it for the form. A form with cells and
//! that of a type with parameters have `Debug` only if they derive it. The form's only other
//! attributes are the `repr` attributes of the type. If the type has none, the form of a struct is
//! `#[repr(C)]`, and that of an enum is `#[repr(u8)]`.
//!
//! # Comparing a type with its form
//!
//! With `#[transportable(compare)]`, a type and its form can be compared by `==`, in both
//! directions:
//!
//! ```
//! use jstream::{Transportable, from_slice, to_vec};
//!
//! #[derive(Transportable, Debug)]
//! #[transportable(compare)]
//! struct Basket {
//!     owner: String,
//!     fruits: Vec<Option<Fruit>>,
//! }
//!
//! #[derive(Transportable, Debug)]
//! #[transportable(compare)]
//! struct Fruit {
//!     name: String,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pear = Fruit { name: "pear".to_owned() };
//! let mut basket = Basket { owner: "Ada".to_owned(), fruits: vec![None, Some(pear)] };
//! let received = from_slice::<Basket>(&to_vec(&basket)?)?;
//! assert_eq!(*received.get(), basket);
//! basket.fruits.pop();
//! assert_ne!(basket, *received.get());
//! # Ok(())
//! # }
//! ```
//!
//! Options, results, slices, tuples, maps, and what pointers refer to are compared part by part.
//! Any other part is compared by `PartialEq`: a type that is its own form with itself, and a type
//! with a form of its own with that form, by the option or by an implementation of the program. An
//! error stands at the field if there is none. Fields that are not sent (`skip`, or left out by
//! `opt_in`) are not compared. A field `with` an adapter and a form is compared with what the
//! adapter sends. Sets and maps of hashed keys are compared regardless of their order, for which
//! their entries are sorted. The depth of the comparison is that of the owner. The option is not
//! available for types with cells.
//!
//! # Which types have a form of their own
//!
//! A type has a form of its own if the type of a field looks as if it owned something (`String`,
//! `Vec`, `Box`, `Rc`, `Arc`, `Cow`, maps, and the types of crates that have a feature). Any other
//! type is its own form, and its name with the suffix `Ref` is an alias of it. The derive only sees
//! how the types of fields are spelled. If its guess is wrong, the program does not compile; no
//! message is misinterpreted. An option then corrects the guess:
//!
//! - `#[transportable(owned)]` on a type: the type has a form of its own, although no field looks
//!   like it; for example, because the type of a field has one.
//! - `#[transportable(own)]` on a type: the type is its own form.
//! - `#[transportable(form = Type)]` on a field: the type of the field in the form, if an alias
//!   hides the field's own type. `'b` is the lifetime of the buffer.
//!
//! ```
//! # use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//! type Name = String;
//!
//! #[derive(Transportable)]
//! struct Person {
//!     #[transportable(form = &'b str)]
//!     name: Name,
//! }
//!
//! /// No field looks like an owner, but `Person` has a form of its own.
//! #[derive(Transportable)]
//! #[transportable(owned)]
//! struct Seat {
//!     row: u32,
//!     taken_by: Option<Person>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let seat = Seat { row: 7, taken_by: Some(Person { name: "Ada".to_owned() }) };
//! let received = Reader::default().read::<Seat>(Writer::new().write(&seat, EmptyBuffer::heap(256))?)?;
//! let form: &SeatRef<'_> = received.get();
//! assert_eq!(form.taken_by.as_ref().map(|person| person.name), Some("Ada"));
//! # Ok(())
//! # }
//! ```
//!
//! # Aliases
//!
//! The derive looks for the form of a field of the type `Name` under the name `NameRef`. An alias
//! has no such form, nor has a type that is imported under another name. If the compiler says that
//! it "cannot find type `NameRef`", define the alias with [`alias!`](crate::alias), which defines
//! both. Where `Name` is imported, import `NameRef`, too, as for any type of the program.
//!
//! ```
//! # use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//! mod types {
//!     jstream::alias! {
//!         pub type Name = String;
//!         pub type Result<T> = std::result::Result<T, String>;
//!     }
//! }
//! use types::{Name, NameRef, Result, ResultRef};
//! // Instead of `use std::path::PathBuf as Place`.
//! jstream::alias! { type Place = std::path::PathBuf; }
//!
//! #[derive(Transportable)]
//! #[transportable(owned)]
//! struct Report {
//!     author: Name,
//!     place: Place,
//!     outcome: Result<Vec<Name>>,
//! }
//!
//! # fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
//! let report = Report {
//!     author: "Ada".to_owned(),
//!     place: "/tmp".into(),
//!     outcome: Ok(vec!["Grace".to_owned()]),
//! };
//! let message = Writer::new().write(&report, EmptyBuffer::heap(256))?;
//! let received = Reader::default().read::<Report>(message)?;
//! assert_eq!(received.get().author, "Ada");
//! assert_eq!(received.get().outcome, Ok(&["Grace"][..]));
//! # Ok(())
//! # }
//! ```
//!
//! # Generic types
//!
//! The form of `Pair<A, B>` is `PairRef<'b, A, B>`, generic over the *forms* of its parts: the form
//! of `Pair<String, u8>` is `PairRef<'b, &'b str, u8>`. Recursive types need no options.
//!
//! Hundreds of types that lead to one another, in chains and in rings, compile without further
//! settings, because writing and reading instantiate no generic function below itself for the next
//! type. Restoring does, and so does dropping, also without these crates: the compiler limits a
//! chain of `Option<Box<T>>` or `Rc<T>` to about 60 types, and one of `Vec<T>` or `Box<T>` to about
//! 120. For longer ones, leave out `to_owned` with `#[transportable(no_to_owned)]`, or set
//! `#![recursion_limit = "4096"]` in the crate, and for a thousand types also
//! `RUST_MIN_STACK=400000000` in the environment of the compiler.
//!
//! A parameter that is named in `PhantomData` alone is a mark, as in typed ids. Its argument need
//! not be transportable, and a form has the argument itself: the form of `Id<Person>` is
//! `Id<Person>`. A field of a type with such an argument says so if the argument has a form of its
//! own:
//!
//! ```
//! # use std::marker::PhantomData;
//! # use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//! #[derive(Transportable)]
//! struct Id<T> {
//!     number: u64,
//!     of: PhantomData<fn() -> T>,
//! }
//!
//! #[derive(Transportable)]
//! struct Person {
//!     #[transportable(form = Id<Person>)]
//!     id: Id<Person>,
//!     name: String,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ada = Person { id: Id { number: 1815, of: PhantomData }, name: "Ada".to_owned() };
//! let received = Reader::default().read::<Person>(Writer::new().write(&ada, EmptyBuffer::heap(256))?)?;
//! let form: &PersonRef<'_> = received.get();
//! assert_eq!((form.id.number, form.name), (1815, "Ada"));
//! # Ok(())
//! # }
//! ```
//!
//! # Compatibility of a type and its form
//!
//! A type and its form have the same [descriptor](super::schemas). One program may send a `Folder`,
//! and another, or the same, a `FolderRef` that it has composed from borrowed parts. Both are read
//! in the same way.
//!
//! A form has exactly the fields of its type. A sender can send any values that the types of the
//! fields allow, in any combination. If a type has an invariant that relates its fields, check it
//! with [`verify`](super::fields), or do not derive `Transportable` for the type.
