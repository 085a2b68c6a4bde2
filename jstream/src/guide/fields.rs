//! Options of fields.
//!
//! | option | effect on the field |
//! |---|---|
//! | `skip` | not sent; received as the default of its type in the form |
//! | `with = Adapter` | sent as another value: see [`Adapter`](crate::Adapter) |
//! | `verify = function` | checked by a function of the program |
//! | `form = Type` | has this type in the form |
//! | `follow` | sent although its type is `opt_in` |
//! | `shared` | keeps the [identity](super::sharing) of its target |
//! | `exclusive` | for a `Vec` or boxed slice: received as a slice that can be [modified](super::changing) |
//!
//! # Skipped fields
//!
//! ```
//! use std::sync::Mutex;
//!
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Session {
//!     user: String,
//!     #[transportable(skip)]
//!     attempts: u32,
//!     /// A buffer can't contain a `Mutex`, so the field has another type in the form.
//!     #[transportable(skip, form = ())]
//!     cache: Mutex<Vec<u8>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session { user: "ada".to_owned(), attempts: 3, cache: Mutex::new(vec![1]) };
//! let received = Reader::default().read::<Session>(Writer::new().write(&session, EmptyBuffer::heap(256))?)?;
//! let form: &SessionRef<'_> = received.get();
//! assert_eq!((form.user, form.attempts, form.cache), ("ada", 0, ()));
//! assert!(form.to_owned()?.cache.into_inner()?.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! While a graph is being read, the only code of the program that runs is `Default` of skipped
//! fields, and adapters, which receive copies.
//!
//! # Verified values
//!
//! Reading checks that a message conforms to its types. To check further conditions, name a
//! function `fn(&Type) -> Result<(), E>` for a field or for a type, where `E` states the reason of
//! a refusal. The functions run after the whole graph has been read, in the order in which reading
//! meets the values, so a function may inspect everything that its value refers to. If a function
//! returns an error, the message is refused.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! /// If a type has a form, its functions receive the form.
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
//!     let message = Writer::new().write(&document, EmptyBuffer::heap(1024)).unwrap();
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
//! A verified value stays valid unless the program itself [modifies](super::changing) it. Unsafe
//! code must not rely on verification, because [`Received::with_mut`](crate::Received::with_mut)
//! does not call the functions again.
//!
//! # Sending marked pointers only
//!
//! If a type has many pointers and only some of them are to be sent, use `opt_in`. Its pointers are
//! received as `None` or empty, except for the fields marked `follow`; other fields are sent as
//! usual. A pointer that is neither an `Option` nor a slice or text has no empty value, so it must
//! be marked.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! let received = Reader::default().read::<Widget>(Writer::new().write(&inner, EmptyBuffer::heap(256))?)?;
//! let form = received.get();
//! assert_eq!((form.id, form.label, form.history.len()), (7, "ok", 0));
//! assert!(form.parent.is_none());
//! # Ok(())
//! # }
//! ```
