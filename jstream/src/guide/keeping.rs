//! Storing a received object.
//!
//! A [`Received`](crate::Received) can be stored, and sent to another thread. It keeps its buffer
//! as long as it exists. Four methods keep a part of the object, or keep the object longer than the
//! buffer:
//!
//! | | result | copies |
//! |---|---|---|
//! | [`share`](crate::Received::share) | a [`Part`](crate::Part), which can be cloned | nothing |
//! | [`map`](crate::Received::map) | a `Part` that is one object of the graph | nothing |
//! | [`detach`](crate::Received::detach) | a `Received` on the heap of the message's size; the buffer is returned | the message, once |
//! | `to_owned`, [`restore`](crate::restore()) | the owned value | each part, to the heap |
//!
//! ```
//! use jstream::{Part, Pool, Reader, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, PartialEq)]
//! struct Order {
//!     id: u64,
//!     lines: Vec<Line>,
//! }
//!
//! #[derive(Transportable, Debug, PartialEq)]
//! struct Line {
//!     article: String,
//!     count: u32,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let order = || Order { id: 1, lines: vec![Line { article: "nut".to_owned(), count: 12 }] };
//! let pool = Pool::default();
//! let receive = || -> Result<_, Box<dyn std::error::Error>> {
//!     let message = Writer::new().write_to(&order(), &pool)?;
//!     Ok(Reader::default().read::<Order>(message)?)
//! };
//!
//! // One line, kept by several owners, also on other threads.
//! let lines: Part<Vec<Line>> = receive()?.map(|order| &order.lines);
//! let line: Part<Line> = lines.map(|lines| &lines[0]);
//! let same = line.clone();
//! let count = std::thread::spawn(move || same.get().count).join().map_err(|_| "panicked")?;
//! assert_eq!((line.get().article, count), ("nut", 12));
//! assert_eq!(pool.stats().in_use, 1, "a part keeps the whole jbuf");
//! drop(line);
//!
//! // The whole object, without the pool's memory.
//! let (detached, empty) = receive()?.detach()?;
//! drop(empty);
//! assert_eq!(pool.stats().in_use, 0);
//! assert_eq!(detached.get().lines[0].count, 12);
//!
//! // The owned value.
//! let again: Order = detached.get().to_owned()?;
//! assert_eq!(again, order());
//! # Ok(())
//! # }
//! ```
//!
//! # `Send` and `Sync`
//!
//! The buffer is owned memory, so the form decides, for every lifetime `'b`:
//!
//! | | is `Send` if `T::InPlace<'b>` is | is `Sync` if `T::InPlace<'b>` is |
//! |---|---|---|
//! | `Received<T>` | `Send` | `Sync` |
//! | `Part<T>` | `Send` and `Sync` | `Send` and `Sync` |
//!
//! The form of an `Rc` is a reference, so a received graph of `Rc`s can be sent to another thread,
//! although the `Rc`s themselves can't. A form with cells is not `Sync`, and a form that refers to
//! such a form is not `Send`. A form that refers to trait objects is both if the trait has `Send`
//! and `Sync` as supertraits.
//!
//! # Conversion to owned values
//!
//! Forms and [`Received`](crate::Received) have `to_owned` for every type that owns all of its
//! parts, unless the type says `#[transportable(no_to_owned)]`. It creates one `Rc` for each shared
//! object. It fails if the graph is deeper than 128 pointers, since creating and dropping the owned
//! value recurse. To choose another depth, for example for a thread with a larger stack, use
//! [`Restoring::new`](crate::Restoring::new).
