//! Object graphs that arrive as genuine Rust objects in the receive buffer.
//!
//! A type that derives [`Transportable`] can be written into a message. Whoever receives the
//! message gets plain Rust values and references *in the buffer that the bytes arrived in*: nothing
//! is allocated, nothing is copied, there are no accessor types, and no byte is believed before it
//! was checked.
//!
//! ```
//! use jstream::{Pool, Reader, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, PartialEq)]
//! struct Order<'b> {
//!     id: u64,
//!     symbol: &'b str,
//!     legs: &'b [Leg],
//!     parent: Option<&'b Order<'b>>,
//! }
//!
//! #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
//! struct Leg {
//!     price: f64,
//!     quantity: u32,
//!     side: Side,
//! }
//!
//! #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
//! enum Side {
//!     Buy,
//!     Sell,
//! }
//!
//! // An ordinary function of the program: it knows nothing of messages.
//! fn volume(order: &Order<'_>) -> f64 {
//!     order.legs.iter().map(|leg| leg.price * f64::from(leg.quantity)).sum()
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let legs = [Leg { price: 99.5, quantity: 2, side: Side::Buy }];
//! let order = Order { id: 7, symbol: "ACME", legs: &legs, parent: None };
//!
//! let pool = Pool::default();
//! let message = Writer::new().write_to(&order, &pool)?;
//! // ... the bytes travel; whoever has received them into a jbuf of its own goes on:
//! let received = Reader::default().read::<Order>(message)?;
//! assert_eq!(received.get(), &order);
//! assert_eq!(volume(received.get()), 199.0);
//! assert!(pool.contains(received.get().legs), "the legs lie in the jbuf");
//! # Ok(())
//! # }
//! ```
//!
//! The [`guide`] goes on from here, to shared graphs, trait objects, verification and limits.
//!
//! # What can travel
//!
//! - All integers and floats, `bool`, `char`, `NonZero*`, `()`, `PhantomData`; arrays, tuples and
//!   `Option` and `Result` of what can travel; ranges, times, internet addresses.
//! - `&'b str`, `&'b [T]`, `&'b T`; `String`, `Vec<T>`, `Box<T>`, `Cow<T>`, which arrive as these.
//! - Maps and sets, in which a receiver finds and iterates without building them anew: [`map`].
//! - `Rc` and `Arc`, with their identity; circles, through `Cell<Option<&'b T>>`.
//! - Trait objects of traits with `#[jstream::transportable]`.
//! - Structs and enums that derive [`Transportable`], recursive and generic ones too.
//!
//! [`guide::what_travels`] lists every type, and what is checked of it.
//!
//! A type of plain values and references with one lifetime arrives as itself, like `Order` above. A
//! type that owns its parts arrives as a type that the derive makes: the same fields, as plain
//! values and references.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug, PartialEq))]
//! struct Player {
//!     name: String,
//!     inventory: Vec<Item>,
//!     spouse: Option<Box<Player>>,
//! }
//!
//! #[derive(Transportable)]
//! #[transportable(derive(Debug, PartialEq))]
//! enum Item {
//!     Coins(u32),
//!     Book { pages: Vec<String> },
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pages = vec!["once".to_owned(), "upon".to_owned()];
//! let player = Player {
//!     name: "Ada".to_owned(),
//!     inventory: vec![Item::Coins(3), Item::Book { pages }],
//!     spouse: None,
//! };
//! let message = Writer::new().write(&player, Spent::heap(4096))?;
//! let received = Reader::default().read::<Player>(message)?;
//! let form: &PlayerRef<'_> = received.get();
//! assert_eq!(form.name, "Ada");
//! assert_eq!(form.inventory[1], ItemRef::Book { pages: &["once", "upon"] });
//! # Ok(())
//! # }
//! ```
//!
//! An enum that is its own form and has data needs a `#[repr(u8)]`, or another integer, because
//! the language says nothing of its layout otherwise; one that has a form does not.
//!
//! # The types of a buffer
//!
//! A jbuf is one slot of memory with one owner, and its type says what is in it: a
//! [`Spent`] one means nothing, a [`Filled`] one holds a message, a [`Received`] one holds objects.
//! Writing turns the first into the second, reading the second into the third, and the third
//! becomes the first again when nobody refers to its objects any more; the compiler sees to it.
//!
//! A [`stream`] puts any number of objects into one jbuf, one after another.
//!
//! # When a message is wrong
//!
//! Reading checks everything once, in one pass without recursion, and says what is wrong and where:
//! `Order.legs[3].side: byte 7 is not a Side (at offset 0x58)`. [`Limits`] bound what is accepted.
//! Types are compared by a [`descriptor`] of their structure, so that two programs which define a
//! type differently don't misread each other; safety does not rest on it.
//!
//! What stands in a message is said byte by byte in `FORMAT.md`, for programs in other languages too.
//!
//! # Features
//!
//! `arrayvec`, `bytes`, `indexmap`, `jiff`, `ndarray`, `smallvec` and `uuid`, of which none is on by
//! default: each lets the types of the crate of its name travel. `rkyv` lets all types travel that derive
//! rkyv's traits, as their archives.
//! `cli` has the program `jstream-inspect`, and the module `inspect` that it is made of.
//! `metrics` tells the counters of pools to the exporter that the program has.
//! `testing` has checks for one's own types, the module of its name; with `proptest` also as a property.

#[allow(
    unused_extern_crates,
    reason = "the derive names `::jstream`, in tests here too"
)]
extern crate self as jstream;

#[doc(hidden)]
#[path = "support/mod.rs"]
pub mod __private;
mod adapter;
pub mod buffer;
pub mod capture;
mod class;
mod erased;
#[cfg(unix)]
pub mod file;
pub mod guide;
mod impls;
#[cfg(feature = "cli")]
pub mod inspect;
mod keep;
pub mod map;
mod model;
mod plain;
mod read;
mod received;
mod restore;
pub mod schema;
mod shared;
pub mod stream;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "cli", feature = "testing"))]
mod walk;
mod wire;
mod write;

pub use adapter::Adapter;
pub use buffer::{Filled, Pool, Spent};
pub use class::{Registered, implementations};
pub use erased::{Erased, UnforwardedErased};
#[cfg(feature = "ndarray")]
pub use impls::ndarray::NdArray;
#[cfg(feature = "rkyv")]
pub use impls::rkyv::{Archivable, Rkyv, RkyvArchive, RkyvBuf, RkyvError};
pub use jstream_derive::{Transportable, transportable};
pub use model::{Covariant, Transportable};
pub use plain::Plain;
pub use read::{Limits, MessageSegment, ReadError, ReadFailure, Reader};
pub use received::{Part, Received, Undetached};
pub use restore::{Restore, RestoreError, Restoring, restore};
pub use schema::descriptor;
pub use shared::Shared;
pub use stream::{StreamError, StreamReader, StreamWriter};
pub use write::{ForwardFailure, ForwardedMessage, WriteError, WriteFailure, Writer};

/// The examples of the crate's README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
