//! Object graphs that arrive as ordinary Rust objects in the receive buffer.
//!
//! A type that derives [`Transportable`] can be written into a message. The receiver of the message
//! gets plain Rust values and references *in the buffer that the bytes arrived in*: reading
//! allocates nothing and copies nothing, there are no accessor types, and every byte is checked
//! before it is used.
//!
//! ```toml
//! [dependencies]
//! jstream = "0.1"
//! ```
//!
//! Start with [`Transportable`], [`to_vec`] and [`from_slice`]; the [`guide`] continues from there:
//!
//! ```
//! use jstream::Transportable;
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
//! // An ordinary function of the program. It does not depend on messages.
//! fn volume(order: &Order<'_>) -> f64 {
//!     order.legs.iter().map(|leg| leg.price * f64::from(leg.quantity)).sum()
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let legs = [Leg { price: 99.5, quantity: 2, side: Side::Buy }];
//! let order = Order { id: 7, symbol: "ACME", legs: &legs, parent: None };
//!
//! let bytes: Vec<u8> = jstream::to_vec(&order)?;
//! // ... the bytes travel ...
//! let received = jstream::from_slice::<Order>(&bytes)?;
//! assert_eq!(received.get(), &order);
//! assert_eq!(volume(received.get()), 199.0);
//! # Ok(())
//! # }
//! ```
//!
//! [`from_slice`] copies the bytes into an aligned buffer, and its result owns that buffer. A
//! program that receives messages into buffers of a [`Pool`] reads them there, without that copy:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use jstream::{Pool, Reader, Writer};
//!
//! let pool = Pool::default();
//! let message = Writer::new().write_to(&vec![1.5f64, 2.5], &pool)?;
//! let received = Reader::default().read::<Vec<f64>>(message)?;
//! assert_eq!(received.get(), &[1.5, 2.5]);
//! assert!(pool.contains(*received.get()), "the numbers lie in the buffer of the message");
//! # Ok(())
//! # }
//! ```
//!
//! The [`guide`] continues with shared graphs, trait objects, verification and limits.
//!
//! # Supported types
//!
//! - All integers and floats, `bool`, `char`, `NonZero*`, `()` and `PhantomData`; arrays, tuples,
//!   `Option` and `Result` of supported types; ranges, times and internet addresses.
//! - `&'b str`, `&'b [T]`, `&'b T` and, on Unix, `&'b Path` and `&'b OsStr`; `String`, `Vec<T>`,
//!   `Box<T>`, `Cow<T>`, `PathBuf` and `OsString`, which arrive as such references.
//! - Maps and sets, which the receiver searches and iterates without rebuilding them: [`map`].
//! - `Rc` and `Arc`, whose sharing is preserved; cycles, through `Cell<Option<&'b T>>`.
//! - Trait objects of traits with `#[jstream::transportable]`.
//! - Structs and enums that derive [`Transportable`], including recursive and generic ones.
//!
//! [`guide::what_travels`] lists every type and the checks that a reader makes.
//!
//! A type of plain values and references with one lifetime arrives as itself, like `Order` above. A
//! type that owns its parts arrives as a type that the derive generates: the same fields, as plain
//! values and references.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
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
//! let message = Writer::new().write(&player, EmptyBuffer::heap(4096))?;
//! let received = Reader::default().read::<Player>(message)?;
//! let form: &PlayerRef<'_> = received.get();
//! assert_eq!(form.name, "Ada");
//! assert_eq!(form.inventory[1], ItemRef::Book { pages: &["once", "upon"] });
//! # Ok(())
//! # }
//! ```
//!
//! An enum that has data and is its own in-place form needs `#[repr(u8)]` or another integer
//! representation, because Rust does not define its layout otherwise. An enum with a generated form
//! does not need one.
//!
//! # Buffer states
//!
//! A buffer is one slot of memory with one owner. Its type states what it holds: an [`EmptyBuffer`]
//! holds nothing, a [`MessageBuffer`] a message, and a [`Received`] objects.
//! Writing turns the first into the second, and reading turns the second into the third. The third
//! can become the first again when no reference to its objects is left, which the compiler
//! enforces.
//!
//! A [`stream`] stores any number of objects in one buffer, one after another.
//!
//! # Invalid messages
//!
//! Reading checks everything once, in one pass without recursion. An error states what is wrong and
//! where: `Order.legs[3].side: byte 7 is not a Side (at offset 0x58)`. [`Limits`] bound what is
//! accepted. Types are compared by a [`descriptor`], a hash of their structure, so two programs
//! that define a type differently do not misread each other. Memory safety does not depend on the
//! descriptor.
//!
//! `FORMAT.md` specifies every byte of a message, also for programs in other languages.
//!
//! # Features
//!
//! All features but `evolve` and `file` are off by default. With `default-features = false`,
//! programs that write no files of objects are smaller and build faster.
//!
//! | feature | effect |
//! |---|---|
//! | `evolve` (default) | converts messages of other versions of a type, by the module of that name |
//! | `file` (default) | files of objects, in the module of that name |
//! | `arrayvec`, `bstr`, `bytes`, `chrono`, `glam`, `half`, `indexmap`, `jiff`, `ndarray`, `smallvec`, `time`, `uuid` | makes the types of the crate of that name transportable |
//! | `bytecheck` | makes plain types that derive bytecheck's `CheckBytes` transportable, in a `Checked<T>` |
//! | `rkyv` | makes all types that derive rkyv's traits transportable, as their archives |
//! | `cli` | builds the program `jstream-inspect`, and the module `inspect` that it uses |
//! | `metrics` | publishes the counters of pools through the `metrics` crate |
//! | `testing` | checks for the program's own types, in the module of that name |
//! | `proptest` | the same checks as a property, with values that proptest generates |
//!
//! `cargo install jstream --features cli` installs `jstream-inspect`.

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
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod command_line;
mod detach;
mod dynamic;
mod entry_points;
mod erased;
#[cfg(feature = "evolve")]
pub mod evolve;
#[cfg(all(feature = "file", unix))]
pub mod file;
pub mod guide;
mod impls;
#[cfg(feature = "cli")]
pub mod inspect;
mod keep;
pub mod map;
mod model;
mod plain;
#[cfg(all(feature = "file", unix))]
mod plain_words;
mod read;
mod received;
mod restore;
pub mod schema;
mod serialize;
mod shared;
pub mod stream;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(any(feature = "cli", feature = "testing"))]
mod walk;
mod wire;
mod write;

pub use adapter::Adapter;
pub use buffer::{EmptyBuffer, MessageBuffer, Pool};
pub use detach::Undetached;
pub use dynamic::{Registered, implementations};
pub use erased::{Erased, UnforwardedErased};
#[cfg(feature = "bytecheck")]
pub use impls::checked::{CheckError, Checkable, Checked};
#[cfg(feature = "jiff")]
pub use impls::jiff::ZonedByName;
#[cfg(feature = "ndarray")]
pub use impls::ndarray::NdArray;
#[cfg(feature = "rkyv")]
pub use impls::rkyv::{Archivable, Rkyv, RkyvArchive, RkyvBuf, RkyvError};
pub use jstream_derive::{Transportable, alias, transportable};
pub use model::{Covariant, Transportable};
pub use plain::Plain;
pub use read::{Limits, MessageSegment, ReadError, ReadFailure, Reader};
pub use received::{Part, Received};
pub use restore::{Restore, RestoreError, Restoring, restore};
pub use schema::descriptor;
pub use serialize::{from_slice, to_vec};
pub use shared::Shared;
pub use stream::{StreamError, StreamReader, StreamWriter};
pub use write::{ForwardFailure, ForwardedMessage, WriteError, WriteFailure, Writer};

/// The examples of the crate's README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
