//! Coming from rkyv, serde, or Cap'n Proto.
//!
//! # Side by side
//!
//! | | jstream | rkyv | serde with a binary format | Cap'n Proto |
//! |---|---|---|---|---|
//! | source of types | your Rust types | your Rust types | your Rust types | a schema file |
//! | type of a read object | the type itself, or a form of plain references | `Archived` types | the type, newly created | readers with a method for each field |
//! | location of a read object | the message's own buffer | the message | the heap | the message |
//! | cost of reading | one pass that checks and sets pointers | one pass with checks, otherwise none | decoding and allocation | a check at each access |
//! | state of the bytes afterwards | objects, no longer a message | still the message | unused | still the message |
//! | pointers | native, 8 or 16 bytes | relative, 4 or 8 bytes | none | relative, 8 bytes |
//! | layout | chosen by the compiler, checked by a descriptor | declared, portable | defined by the format | declared, portable |
//! | two versions of a type | refused | up to you | matched by name or order, depending on the format | matched by numbered fields |
//! | sharing, cycles | `Rc`, `Arc`, `Cell`, with identity | `Rc`, `Arc`; no cycles | copies | copies |
//! | trait objects | registered implementations, checked | by other crates | by other crates | none |
//! | untrusted messages without `unsafe` | yes | yes, with `bytecheck` | yes | yes |
//!
//! # From rkyv
//!
//! | rkyv | here |
//! |---|---|
//! | `#[derive(Archive, Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `rkyv::to_bytes(&value)` | [`to_vec`](crate::to_vec), [`Writer::write`](crate::Writer::write), [`gather`](crate::Writer::gather) |
//! | `rkyv::access::<ArchivedT, _>(&bytes)` | [`from_slice::<T>(&bytes)`](crate::from_slice), which copies the bytes once, or [`Reader::read::<T>(message)`](crate::Reader::read), once, then [`Received::get`](crate::Received::get) |
//! | `ArchivedString`, `ArchivedVec<T>`, `u32_le` | `&'b str`, `&'b [T]`, `u32` |
//! | `ArchivedHashMap`, `ArchivedBTreeMap` | [`HashedMap`](crate::map::HashedMap), [`SortedMap`](crate::map::SortedMap) |
//! | `rkyv::deserialize` | `to_owned`, [`restore`](crate::restore()) |
//! | `#[rkyv(with = W)]` | `#[transportable(with = Adapter)]` |
//! | `#[bytecheck(verify)]` | `#[transportable(verify = function)]` |
//! | `AlignedVec` | [`Spent`](crate::Spent), [`Filled`](crate::Filled): always aligned |
//! | `access_mut`, `Seal` | [`Received::with_mut`](crate::Received::with_mut) |
//!
//! Differences:
//!
//! - Reading consumes the message. To read a message twice, copy its bytes first. To forward one,
//!   send the [`Filled`](crate::Filled) without reading it, or write the received object again.
//! - A [`Reader`](crate::Reader) can't read a message in a mapped file, since it writes pointers
//!   into the message, and another process could change what was checked. Copy the message into a
//!   buffer with [`Spent::copy_from`](crate::Spent::copy_from), or use the file format of this
//!   crate, whose `FileMap` reads objects in place.
//! - Reading a list of a million nodes does not recurse, but requires a higher
//!   [`Limits::depth`](crate::Limits::depth).
//! - Messages with many pointers are larger.
//!
//! rkyv supports some things that jstream does not: messages for big-endian and 32-bit machines,
//! `no_std`, access to archives in read-only mapped files, and a layout that is the same in every
//! build without `#[repr(C)]`.
//!
//! ## Keeping rkyv types
//!
//! With the feature `rkyv`, archives can be sent as they are, so a program can be converted one
//! type at a time. A `Rkyv<T>` is serialized when it is written. A `RkyvBuf<T>` is an existing
//! archive, whose bytes are lent to the transport where possible instead of copied. Both are
//! received as a `&'b RkyvArchive<T>`, which dereferences to the `Archived<T>`. It lies in the
//! message's own buffer, is aligned, and was checked by rkyv and bytecheck while the message was
//! read. Both may be the root, a field, or a part of a `Vec`, `Option`, `Box` or `Rc`, and can be
//! forwarded as they were received. An invalid archive is an error of the message, with the path of
//! the field and rkyv's own message.
//!
#![cfg_attr(feature = "rkyv", doc = "```")]
#![cfg_attr(not(feature = "rkyv"), doc = "```ignore")]
//! use jstream::{Reader, Rkyv, RkyvBuf, Spent, Transportable, Writer};
//! use rkyv::{Archive, Deserialize, Serialize};
//!
//! #[derive(Archive, Serialize, Deserialize)]
//! struct Log {
//!     request: String,
//!     code: u16,
//! }
//!
//! #[derive(Transportable)]
//! struct Day {
//!     name: String,
//!     logs: Rkyv<Vec<Log>>,
//!     worst: Option<Rkyv<Log>>,
//!     yesterday: RkyvBuf<Vec<Log>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let log = |code| Log { request: "GET /favicon.ico".to_owned(), code };
//! let day = Day {
//!     name: "today".to_owned(),
//!     logs: Rkyv(vec![log(200), log(404)]),
//!     worst: Some(Rkyv(log(500))),
//!     yesterday: RkyvBuf::new(rkyv::to_bytes::<rkyv::rancor::Error>(&vec![log(200)])?),
//! };
//! let message = Writer::new().write(&day, Spent::heap(1024))?;
//! let received = Reader::default().read::<Day>(message)?;
//! let form: &DayRef<'_> = received.get();
//! let logs: &rkyv::Archived<Vec<Log>> = form.logs;
//! assert_eq!((form.name, logs[1].code.to_native()), ("today", 404));
//! assert_eq!(form.worst.unwrap().request, "GET /favicon.ico");
//! assert_eq!(form.yesterday.len(), 1);
//! // `to_owned` does the work of `rkyv::deserialize`.
//! assert_eq!(form.to_owned()?.logs.0.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! The check of an archive recurses, so an archive may be at most 128 pointers deep, independent of
//! [`Limits::depth`](crate::Limits::depth). A descriptor covers the name, size and alignment of an
//! archived type, but not its fields, since rkyv does not describe them. A type parameter can be
//! the `T` of a `Rkyv<T>` field only with `#[transportable(form = ..)]`.
//!
//! # From serde
//!
//! | serde | here |
//! |---|---|
//! | `#[derive(Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `#[serde(skip)]` | `#[transportable(skip)]` |
//! | `#[serde(with = "module")]`, `from`, `into` | `#[transportable(with = Adapter)]` |
//! | `#[serde(borrow)]` | always |
//! | `serde_json::to_vec(&value)` | [`to_vec`](crate::to_vec) |
//! | `serde_json::from_slice::<T>(&bytes)` | [`from_slice::<T>(&bytes)`](crate::from_slice), and `to_owned` if an owner is needed |
//! | `#[serde(default)]`, `rename`, `flatten`, `untagged` | none: a message contains no names |
//!
//! Differences: jstream decodes nothing, so reading takes a fraction of the time and allocates
//! nothing. A message can be read only as the type that it was written as. serde supports some
//! things that jstream does not: human-readable formats, self-describing messages, and messages of
//! an older version of a type.
//!
//! # From Cap'n Proto
//!
//! | Cap'n Proto | here |
//! |---|---|
//! | `struct Person { name @0 :Text; }` | `struct Person<'b> { name: &'b str }`, or with a `String` |
//! | `message.init_root::<person::Builder>()`, `set_name` | a value of your type, and [`Writer::write`](crate::Writer::write) |
//! | `reader.get_name()?` | `person.name` |
//! | `union` | an enum |
//! | `AnyPointer` | a trait object with registered classes |
//! | traversal limit | [`Limits`](crate::Limits): each object is read once, so no amplification is possible |
//! | an interface's capability | the crate `jstream-rmi` |
//!
//! Differences: jstream checks all values once, when the message is read. An invalid value is an
//! error of reading, with its path, and not an error of a later access. Cap'n Proto supports some
//! things that jstream does not: types that evolve by numbered fields, other languages, packing,
//! and defaults.
//!
//! # Example: one type converted
//!
//! ```
//! // With rkyv or serde: #[derive(Archive, Serialize, Deserialize)]
//! #[derive(jstream::Transportable)]
//! #[transportable(derive(Debug, PartialEq))]
//! struct Log {
//!     address: [u8; 4],
//!     request: String,
//!     code: u16,
//!     size: u64,
//! }
//!
//! use jstream::{Filled, ReadFailure, Reader, Received, Spent, Writer};
//!
//! /// With rkyv: `rkyv::access::<rkyv::Archived<Vec<Log>>, _>(&bytes)`.
//! fn access(message: Filled) -> Result<Received<Vec<Log>>, ReadFailure> {
//!     Reader::default().read(message)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let logs = vec![Log { address: [127, 0, 0, 1], request: "GET /".to_owned(), code: 200, size: 512 }];
//! let received = access(Writer::new().write(&logs, Spent::heap(1024))?)?;
//! // With rkyv: `logs[0].code.to_native()` and `logs[0].request.as_str()`.
//! let logs: &[LogRef<'_>] = received.get();
//! assert_eq!((logs[0].code, logs[0].request), (200, "GET /"));
//! # Ok(())
//! # }
//! ```
