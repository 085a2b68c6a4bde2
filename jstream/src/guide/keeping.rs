//! Keeping what was received.
//!
//! A [`Received`](crate::Received) is a value like any other: it can be stored, and sent to another
//! thread. As long as it is there, so is its jbuf. There are four ways to keep less, or longer.
//!
//! | | makes | copies |
//! |---|---|---|
//! | [`share`](crate::Received::share) | a [`Part`](crate::Part) that can be cloned | nothing |
//! | [`map`](crate::Received::map) | a `Part` that is one object of the graph | nothing |
//! | [`detach`](crate::Received::detach) | a `Received` on the heap, of its own size; the jbuf comes back | the message, once |
//! | `to_owned`, [`restore`](crate::restore()) | the owner whose form it is | each part, to the heap |
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
//! // One line, kept by several, on other threads too.
//! let lines: Part<Vec<Line>> = receive()?.map(|order| &order.lines);
//! let line: Part<Line> = lines.map(|lines| &lines[0]);
//! let same = line.clone();
//! let count = std::thread::spawn(move || same.get().count).join().map_err(|_| "panicked")?;
//! assert_eq!((line.get().article, count), ("nut", 12));
//! assert_eq!(pool.stats().in_use, 1, "a part keeps the whole jbuf");
//! drop(line);
//!
//! // All of it, but not the pool's memory.
//! let (detached, spent) = receive()?.detach()?;
//! drop(spent);
//! assert_eq!(pool.stats().in_use, 0);
//! assert_eq!(detached.get().lines[0].count, 12);
//!
//! // The owner that it once was.
//! let again: Order = detached.get().to_owned()?;
//! assert_eq!(again, order());
//! # Ok(())
//! # }
//! ```
//!
//! # `Send` and `Sync`
//!
//! The jbuf is owned memory, so it is the form that decides, for every lifetime `'b`:
//!
//! | | is `Send` if `T::InPlace<'b>` is | is `Sync` if `T::InPlace<'b>` is |
//! |---|---|---|
//! | `Received<T>` | `Send` | `Sync` |
//! | `Part<T>` | `Send` and `Sync` | `Send` and `Sync` |
//!
//! That of an `Rc` is a reference, so a received graph of `Rc`s may go where these may not. A form
//! with cells is not `Sync`, and one that refers to such is not `Send`. One that refers to trait
//! objects is both if the trait has `Send` and `Sync` as supertraits.
//!
//! # Owners again
//!
//! `to_owned` is there for every type that owns all of its parts, unless it says
//! `#[transportable(no_to_owned)]`. It makes one `Rc` for each shared object, and follows 128
//! pointers one after another; a graph that is deeper is an error, as making it would recurse, and
//! so would dropping what was made. [`Restoring::new`](crate::Restoring::new) takes another depth,
//! for those who know their stack.
