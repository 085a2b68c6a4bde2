//! Fields with a will of their own.
//!
//! | option of a field | the field |
//! |---|---|
//! | `skip` | does not travel, and arrives as the default of its type in the form |
//! | `with = Adapter` | travels as another value: see [`Adapter`](crate::Adapter) |
//! | `verify = function` | must please a function |
//! | `form = Type` | has this type in the form |
//! | `follow` | is followed although the type is `opt_in` |
//! | `shared` | keeps the [identity](super::sharing) of what it leads to |
//! | `exclusive` | a `Vec` or boxed slice that arrives as a slice which can be [changed](super::changing) |
//!
//! # Skipped fields
//!
//! ```
//! use std::sync::Mutex;
//!
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Session {
//!     user: String,
//!     #[transportable(skip)]
//!     attempts: u32,
//!     /// Can't stand in a buffer, so it has another type there.
//!     #[transportable(skip, form = ())]
//!     cache: Mutex<Vec<u8>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session { user: "ada".to_owned(), attempts: 3, cache: Mutex::new(vec![1]) };
//! let received = Reader::default().read::<Session>(Writer::new().write(&session, Spent::heap(256))?)?;
//! let form: &SessionRef<'_> = received.get();
//! assert_eq!((form.user, form.attempts, form.cache), ("ada", 0, ()));
//! assert!(form.to_owned()?.cache.into_inner()?.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! `Default` of a skipped field is the only code of the program that runs before a graph is read as
//! a whole, except adapters, which see copies.
//!
//! # Values that are verified
//!
//! A message is checked to be what its types allow. What they don't say, functions do:
//! `fn(&Type) -> Result<(), E>`, of a field or of a type, where `E` says why. They run when the
//! whole graph is native, each on its value, in the order in which the values are met; so they may
//! look at all that a value leads to. If one refuses, the message is refused.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! #[transportable(verify = in_order)]
//! struct Span {
//!     start: u32,
//!     end: u32,
//! }
//!
//! fn in_order(span: &Span) -> Result<(), String> {
//!     if span.start <= span.end {
//!         Ok(())
//!     } else {
//!         Err(format!("{} is after {}", span.start, span.end))
//!     }
//! }
//!
//! /// Of a type with a form, the functions get the form.
//! #[derive(Transportable)]
//! #[transportable(verify = within)]
//! struct Document {
//!     #[transportable(verify = not_empty)]
//!     text: String,
//!     marks: Vec<Span>,
//! }
//!
//! fn not_empty(text: &&str) -> Result<(), &'static str> {
//!     if text.is_empty() { Err("is empty") } else { Ok(()) }
//! }
//!
//! fn within(document: &DocumentRef<'_>) -> Result<(), &'static str> {
//!     let fits = |span: &Span| document.text.get(span.start as usize..span.end as usize).is_some();
//!     if document.marks.iter().all(fits) { Ok(()) } else { Err("a mark is outside of the text") }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let read = |text: &str, start, end| {
//!     let document = Document { text: text.to_owned(), marks: vec![Span { start, end }] };
//!     let message = Writer::new().write(&document, Spent::heap(1024)).unwrap();
//!     Reader::default().read::<Document>(message).map(|_| ()).map_err(|failure| failure.to_string())
//! };
//! assert!(read("hello", 1, 3).is_ok());
//! let refused = [read("", 0, 0), read("hello", 3, 1), read("hello", 3, 9)].map(Result::unwrap_err);
//! assert!(refused[0].starts_with("Document.text: is empty"));
//! assert!(refused[1].starts_with("Document.marks[0]: 3 is after 1"));
//! assert!(refused[2].starts_with("Document: a mark is outside of the text"));
//! # Ok(())
//! # }
//! ```
//!
//! What a function approved of stays so unless the program itself
//! [changes](super::changing) it. Unsafe code must not rely on one all the same: a
//! [`Received::with_mut`](crate::Received::with_mut) asks nobody.
//!
//! # Only marked pointers
//!
//! A type with many pointers, of which few are to travel, says `opt_in`. Its pointers arrive as
//! `None` or empty, except those that say `follow`; its other fields travel as ever. A pointer that
//! is neither an `Option` nor a slice or text has no such value, and must be marked.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! #[transportable(opt_in)]
//! struct Widget {
//!     id: u64,
//!     #[transportable(follow)]
//!     label: String,
//!     parent: Option<Box<Widget>>,
//!     history: Vec<String>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let widget = |parent| Widget {
//!     id: 7,
//!     label: "ok".to_owned(),
//!     parent,
//!     history: vec!["made".to_owned()],
//! };
//! let inner = widget(Some(Box::new(widget(None))));
//! let received = Reader::default().read::<Widget>(Writer::new().write(&inner, Spent::heap(256))?)?;
//! let form = received.get();
//! assert_eq!((form.id, form.label, form.history.len()), (7, "ok", 0));
//! assert!(form.parent.is_none());
//! # Ok(())
//! # }
//! ```
