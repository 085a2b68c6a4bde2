//! Coming from rkyv, serde, or Cap'n Proto.
//!
//! # Side by side
//!
//! | | jstream | rkyv | serde with a binary format | Cap'n Proto |
//! |---|---|---|---|---|
//! | types come from | your Rust types | your Rust types | your Rust types | a schema file |
//! | what you read | the type itself, or a form of plain references | `Archived` types | the type, made anew | readers with a method for each field |
//! | where it lies | in the message's own buffer, which becomes objects | in the message | on the heap | in the message |
//! | reading costs | one pass that checks and sets pointers | with checks one pass, else nothing | decoding and allocation | a check at each access |
//! | the bytes afterwards | are objects, and no message | are still the message | are free | are still the message |
//! | pointers are | native, 8 or 16 bytes | relative, 4 or 8 bytes | none | relative, 8 bytes |
//! | layout | that of the compiler; checked by a descriptor | declared, portable | the format's | declared, portable |
//! | two versions of a type | are refused | are up to you | by name or order, as the format has it | by numbered fields |
//! | sharing, circles | `Rc`, `Arc`, `Cell`; identity kept | `Rc`, `Arc`; no circles | copies | copies |
//! | trait objects | registered classes, checked | by other crates | by other crates | none |
//! | without `unsafe`, from anybody | yes | yes, with `bytecheck` | yes | yes |
//!
//! # From rkyv
//!
//! | rkyv | here |
//! |---|---|
//! | `#[derive(Archive, Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `rkyv::to_bytes(&value)` | [`Writer::write`](crate::Writer::write), [`gather`](crate::Writer::gather) |
//! | `rkyv::access::<ArchivedT, _>(&bytes)` | [`Reader::read::<T>(message)`](crate::Reader::read), once, then [`Received::get`](crate::Received::get) |
//! | `ArchivedString`, `ArchivedVec<T>`, `u32_le` | `&'b str`, `&'b [T]`, `u32` |
//! | `ArchivedHashMap`, `ArchivedBTreeMap` | [`HashedMap`](crate::map::HashedMap), [`SortedMap`](crate::map::SortedMap) |
//! | `rkyv::deserialize` | `to_owned`, [`restore`](crate::restore()) |
//! | `#[rkyv(with = W)]` | `#[transportable(with = Adapter)]` |
//! | `#[bytecheck(verify)]` | `#[transportable(verify = function)]` |
//! | `AlignedVec` | [`Spent`](crate::Spent), [`Filled`](crate::Filled): always aligned |
//! | `access_mut`, `Seal` | [`Received::with_mut`](crate::Received::with_mut) |
//!
//! What is different:
//!
//! - Reading takes the message. To read one in two places, or to forward it, copy its bytes or
//!   forward the [`Filled`](crate::Filled) first; what was received can be written again as well.
//! - A file that is mapped can't be read where it is: pointers are set, and another process could
//!   change what was checked. Copy it into a jbuf, [`Spent::copy_from`](crate::Spent::copy_from).
//! - A list of a million nodes is read without recursion; [`Limits::depth`](crate::Limits::depth)
//!   has to be lifted for it.
//! - Where there are many pointers, messages are larger.
//!
//! What rkyv has and jstream has not: messages for big-endian and 32-bit machines, `no_std`,
//! archives in files that are mapped, and a layout that is the same in every build without
//! `#[repr(C)]`.
//!
//! ## Types that stay rkyv's
//!
//! With the feature `rkyv` an archive travels as it is, and a program moves over one type at a
//! time. A `Rkyv<T>` is serialized when it is written; a `RkyvBuf<T>` is an archive that was made
//! before, of which nothing is copied that can be lent. Both arrive as a `&'b RkyvArchive<T>`,
//! which dereferences to the `Archived<T>`, lies in the message's own buffer, aligned, and was
//! checked by rkyv and bytecheck while the message was read. They may be the root, a field, or
//! inside of `Vec`, `Option`, `Box`, `Rc`, and can be sent on as they arrived. A wrong archive is
//! an error of the message, with the field's path and rkyv's own words.
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
//! // What was `rkyv::deserialize` is a part of `to_owned`.
//! assert_eq!(form.to_owned()?.logs.0.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! The check recurses, so an archive may be 128 pointers deep at most, whatever
//! [`Limits::depth`](crate::Limits::depth) says. A descriptor covers the name, size and alignment
//! of an archived type, and not its fields, of which rkyv does not tell. A type parameter can't be
//! the `T` of a `Rkyv<T>` field without `#[transportable(form = ..)]`.
//!
//! # From serde
//!
//! | serde | here |
//! |---|---|
//! | `#[derive(Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `#[serde(skip)]` | `#[transportable(skip)]` |
//! | `#[serde(with = "module")]`, `from`, `into` | `#[transportable(with = Adapter)]` |
//! | `#[serde(borrow)]` | how it always is |
//! | `serde_json::from_slice::<T>(&bytes)` | [`Reader::read::<T>(message)`](crate::Reader::read), and `to_owned` if an owner is needed |
//! | `#[serde(default)]`, `rename`, `flatten`, `untagged` | none: there are no names in a message |
//!
//! What is different: nothing is decoded, so reading takes a fraction of the time, and allocates
//! nothing; a message can be read as the one type that it was written as. What serde has and
//! jstream has not: formats that people read, self-describing messages, and messages of an older
//! type.
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
//! | traversal limit | [`Limits`](crate::Limits): each object is read once, so there is no amplification |
//! | an interface's capability | the crate `jstream-rmi` |
//!
//! What is different: a value is checked once, when the message is read, and a wrong one is an
//! error then, with its path, not when it is looked at. What Cap'n Proto has and jstream has not:
//! types that evolve by numbered fields, other languages, packing, and defaults.
//!
//! # One type, moved
//!
//! ```
//! // With rkyv or serde it was: #[derive(Archive, Serialize, Deserialize)]
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
//! /// It was: `rkyv::access::<rkyv::Archived<Vec<Log>>, _>(&bytes)`.
//! fn access(message: Filled) -> Result<Received<Vec<Log>>, ReadFailure> {
//!     Reader::default().read(message)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let logs = vec![Log { address: [127, 0, 0, 1], request: "GET /".to_owned(), code: 200, size: 512 }];
//! let received = access(Writer::new().write(&logs, Spent::heap(1024))?)?;
//! // It was `logs[0].code.to_native()`, and `logs[0].request.as_str()`.
//! let logs: &[LogRef<'_>] = received.get();
//! assert_eq!((logs[0].code, logs[0].request), (200, "GET /"));
//! # Ok(())
//! # }
//! ```
