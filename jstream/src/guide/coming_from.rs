//! Coming from rkyv, serde, or Cap'n Proto.
//!
//! The example `coming_from_rkyv_book` has examples of rkyv and its book, and
//! `coming_from_own_types` assorted types of a program, in `jstream/examples/coming_from`. They run
//! by `cargo run -p jstream --example NAME`. The former has 277 lines of code, with shared
//! pointers, trait objects, verification and a mapped file. The originals `readme`,
//! `json_like_schema`, `remote_types`, `complex_wrapper_types` and `backwards_compat` have 417.
//!
//! # Side by side
//!
//! The column of jstream links to the page whose examples show it.
//!
//! | | jstream | rkyv | serde with a binary format | Cap'n Proto |
//! |---|---|---|---|---|
//! | source of types | your Rust types | your Rust types | your Rust types | a schema file |
//! | type of a read object | the type itself, or [a form of plain references](super::owners) | `Archived` types | the type, newly created | readers with a method for each field |
//! | location of a read object | [the message's own buffer](super::first_derive), or a [mapped file](#messages-in-files) | the message | the heap | the message |
//! | cost of reading | one pass that checks and sets pointers | one pass with checks, otherwise none | decoding and allocation | a check at each access |
//! | state of the bytes afterwards | objects, no longer a message | still the message | unused | still the message |
//! | pointers | native, 8 or 16 bytes | relative, 4 or 8 bytes | none | relative, 8 bytes |
//! | layout | chosen by the compiler, [checked by a descriptor](super::schemas) | declared, portable | defined by the format | declared, portable |
//! | two versions of a type | converted if the reader knows the schema, as files do (page `versions` of the guide) | up to you | matched by name or order, depending on the format | matched by numbered fields |
//! | sharing, cycles | [`Rc`, `Arc`, `Cell`, with identity](super::sharing) | `Rc`, `Arc`; no cycles | copies | copies |
//! | trait objects | [registered implementations, checked](super::trait_objects) | by other crates | by other crates | none |
//! | untrusted messages without `unsafe` | [yes](super::limits) | yes, with `bytecheck` | yes | yes |
//!
//! # From rkyv
//!
//! | rkyv | here |
//! |---|---|
//! | `#[derive(Archive, Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `rkyv::to_bytes(&value)` | [`to_vec`](crate::to_vec), [`Writer::write`](crate::Writer::write), [`gather`](crate::Writer::gather) |
//! | `rkyv::api::high::to_bytes_in(&value, writer)` | [`Writer::write_vec`](crate::Writer::write_vec) appends to a `Vec`, [`Writer::write_io`](crate::Writer::write_io) writes to a file or socket |
//! | `rkyv::access::<ArchivedT, _>(&bytes)` | [`from_slice::<T>(&bytes)`](crate::from_slice), which copies the bytes once, or [`Reader::read::<T>(message)`](crate::Reader::read), once, then [`Received::get`](crate::Received::get) |
//! | `ArchivedString`, `ArchivedVec<T>`, `u32_le` | [`&'b str`, `&'b [T]`, `u32`](super::what_travels) |
//! | `ArchivedHashMap`, `ArchivedBTreeMap` | [`HashedMap`](crate::map::HashedMap), [`SortedMap`](crate::map::SortedMap) |
//! | `rkyv::deserialize` | `to_owned`, [`restore`](crate::restore()) |
//! | `#[rkyv(compare(PartialEq), derive(Debug))]` | [`#[transportable(compare)]`](super::owners#comparing-a-type-with-its-form), [`#[transportable(derive(Clone))]`](super::owners); a form has `Debug` if its type has it |
//! | `omit_bounds`, `serialize_bounds`, ... for recursive types | none needed |
//! | `#[rkyv(remote = T)]`, for types of other crates | an [`Adapter`](crate::Adapter) |
//! | `rkyv_dyn`, `#[archive_dyn]` | [`#[jstream::transportable]`](super::trait_objects) on the trait |
//! | `NicheInto<..>` | none needed: what arrives is an `Option` of Rust, with its niches |
//! | `Versioned<T>` in a `Box`, read as an older type | [converted](super::versions): one type with defaults and older names |
//! | `unsafe { access_unchecked(&mapped) }` of a file | [`FileMap`](crate::file::FileMap), whose objects are checked |
//! | `#[rkyv(with = W)]` | [`#[transportable(with = Adapter)]`](crate::Adapter) |
//! | `#[bytecheck(verify)]` | [`#[transportable(verify = function)]`](super::fields#verified-values) |
//! | `AlignedVec` | [`EmptyBuffer`](crate::EmptyBuffer), [`MessageBuffer`](crate::MessageBuffer): always aligned |
//! | `access_mut`, `Seal` | [`Received::with_mut`](crate::Received::with_mut) |
//!
//! Differences:
//!
//! - Reading consumes the message. To read a message twice, copy its bytes first. To forward one,
//!   send the [`MessageBuffer`](crate::MessageBuffer) without reading it, or write the received
//!   object again.
//! - Objects in a mapped file are read [in place](#messages-in-files) if it is a file of objects
//!   (`FileMap`): the system copies the pages with pointers of objects that are read, which are all
//!   pages of small records with text. A message in any other mapping is copied into a buffer
//!   first, by
//!   [`EmptyBuffer::copy_from`](crate::EmptyBuffer::copy_from), because reading writes pointers
//!   into the message, and another process could change what was checked.
//! - Reading a list of a million nodes does not recurse, but [requires](super::limits) a higher
//!   [`Limits::depth`](crate::Limits::depth).
//! - Messages with many pointers are larger, by the [sizes](super::what_travels#sizes) of native
//!   references.
//!
//! rkyv supports some things that jstream does not: messages for big-endian and 32-bit machines,
//! `no_std`, access to archives in a mapping that can't be written at all, and a layout that is the
//! same in every build without `#[repr(C)]`.
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
//! use jstream::{EmptyBuffer, Reader, Rkyv, RkyvBuf, Transportable, Writer};
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
//! let message = Writer::new().write(&day, EmptyBuffer::heap(1024))?;
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
//! The check of an archive recurses. An archive may be at most 128 pointers deep, or as
//! deep as [`Limits::depth`](crate::Limits::depth) leaves, if that is less. A descriptor covers the name, size and alignment of an archived type, but not its
//! fields, since rkyv does not describe them:
//!
#![cfg_attr(feature = "rkyv", doc = "```")]
#![cfg_attr(not(feature = "rkyv"), doc = "```ignore")]
//! use jstream::{Rkyv, descriptor};
//!
//! mod old {
//!     #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
//!     pub struct Log { pub code: u32, pub size: u32 }
//! }
//! mod new {
//!     #[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
//!     pub struct Log { pub size: u32, pub code: u32 }
//! }
//! assert_eq!(descriptor::<Rkyv<old::Log>>(), descriptor::<Rkyv<new::Log>>());
//! ```
//!
//! The `T` of a `Rkyv<T>` field is a type of rkyv, so it can't be a parameter of a type that
//! derives `Transportable`.
//!
//! # From protobuf, FlatBuffers or Cap'n Proto: versions
//!
//! These formats match fields by numbers, which must never be used again. jstream matches them by
//! names, and older names stand at the field. The page on [versions](super::versions) has all rules.
//!
//! | protobuf, FlatBuffers, Cap'n Proto | here |
//! |---|---|
//! | a new field number; a field appended to a table or struct | a field anywhere, with `#[transportable(default)]` or `default = value` |
//! | `reserved 3;`, `deprecated`, a field that stays for ever | the field is removed |
//! | renaming a field, which is free | `#[transportable(renamed_from = "old")]` |
//! | `int32` to `int64`; no change of types (FlatBuffers, Cap'n Proto) | widening, `T` to `Option<T>`, arrays to slices |
//! | an unknown number of an open enum | `#[transportable(other)]` at a variant without fields |
//! | unknown fields that a proxy keeps | [`Reader::read_with_original`](crate::Reader::read_with_original) |
//! | `buf breaking`, `flatc --conform`, `capnp` with a review | `testing::assert_compatible` in a test, `jstream-inspect compat` |
//! | no schema is needed to read an old message | the schema of the old version is needed: files have it, a program [embeds](crate::embed_schemas) it |
//!
//! # From serde
//!
//! | serde | here |
//! |---|---|
//! | `#[derive(Serialize, Deserialize)]` | `#[derive(Transportable)]` |
//! | `#[serde(skip)]` | [`#[transportable(skip)]`](super::fields#skipped-fields) |
//! | `#[serde(with = "module")]`, `from`, `into` | [`#[transportable(with = Adapter)]`](crate::Adapter) |
//! | `#[serde(borrow)]` | always |
//! | `serde_json::to_vec(&value)` | [`to_vec`](crate::to_vec) |
//! | `serde_json::to_writer(writer, &value)` | [`Writer::write_io`](crate::Writer::write_io), or [`Writer::write_vec`](crate::Writer::write_vec) to append to a `Vec` |
//! | `serde_json::from_slice::<T>(&bytes)` | [`from_slice::<T>(&bytes)`](crate::from_slice), and `to_owned` if an owner is needed |
//! | `#[serde(default)]`, `alias = "old"`, `other` | `#[transportable(default)]`, `renamed_from = "old"`, `other`, for messages of other versions |
//! | `flatten`, `untagged` | none: a message contains no names |
//!
//! Differences: jstream decodes nothing and allocates nothing when it reads. A message of another
//! version of the type is converted if the reader knows its schema: see the page `versions`. serde
//! supports some things that jstream does not: human-readable formats and self-describing messages.
//!
//! # From Cap'n Proto
//!
//! | Cap'n Proto | here |
//! |---|---|
//! | `struct Person { name @0 :Text; }` | `struct Person<'b> { name: &'b str }`, or with a `String` |
//! | `message.init_root::<person::Builder>()`, `set_name` | a value of your type, and [`Writer::write`](crate::Writer::write) |
//! | `serialize::write_message(writer, &message)` | [`Writer::write_io`](crate::Writer::write_io) |
//! | `reader.get_name()?` | `person.name`, as [any field](super::owners) |
//! | `union` | [an enum](super::enums) |
//! | `AnyPointer` | [a trait object](super::trait_objects) with registered classes |
//! | traversal limit | [`Limits`](crate::Limits): each object is read once, so no amplification is possible |
//! | an interface's capability | the crate `jstream-rmi`, whose guide compares the calls |
//!
//! Differences: jstream checks all values once, when the message is read. An invalid value is an
//! error of reading, with its path, and not an error of a later access. Cap'n Proto supports some
//! things that jstream does not: types that evolve by numbered fields, other languages, packing,
//! and defaults.
//!
//! # Messages in files
//!
//! All ways of writing make the same bytes. Objects in a file of objects are read where they are
//! mapped; the page `files` has more about them.
//!
#![cfg_attr(target_os = "linux", doc = "```")]
#![cfg_attr(not(target_os = "linux"), doc = "```ignore")]
//! use jstream::file::{FileMap, FileWriter, ReadOptions};
//! use jstream::{EmptyBuffer, Reader, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let words = vec!["one".to_owned(), "two".to_owned()];
//! let mut writer = Writer::new();
//! let (mut appended, mut written) = (Vec::new(), Vec::new());
//! writer.write_vec(&words, &mut appended)?;
//! // Any `std::io::Write`: a file, a socket, or as here a `Vec`.
//! writer.write_io(&words, &mut written)?;
//! assert_eq!(appended, written);
//! assert_eq!(appended, jstream::to_vec(&words)?);
//!
//! // A message that was read from anywhere is copied into a buffer once.
//! let message = EmptyBuffer::heap(written.len()).copy_from(&written)?;
//! assert_eq!(Reader::default().read::<Vec<String>>(message)?.get(), &["one", "two"]);
//! // It is a message of its type only.
//! assert!(jstream::from_slice::<Vec<u64>>(&written).is_err());
//!
//! // A file of objects is mapped, and its objects are read in the mapping.
//! let mut file = FileWriter::in_memory()?;
//! file.push(&words)?;
//! let map = FileMap::sealed(file.seal()?, ReadOptions::default())?;
//! let read: &[&str] = map.get::<Vec<String>>(0)?;
//! assert!(map.contains(read) && map.contains(read[1]));
//! # Ok(())
//! # }
//! ```
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
//! use jstream::{EmptyBuffer, MessageBuffer, ReadFailure, Reader, Received, Writer};
//!
//! /// With rkyv: `rkyv::access::<rkyv::Archived<Vec<Log>>, _>(&bytes)`.
//! fn access(message: MessageBuffer) -> Result<Received<Vec<Log>>, ReadFailure> {
//!     Reader::default().read(message)
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let logs = vec![Log {
//!     address: [127, 0, 0, 1],
//!     request: "GET /".to_owned(),
//!     code: 200,
//!     size: 512,
//! }];
//! let received = access(Writer::new().write(&logs, EmptyBuffer::heap(1024))?)?;
//! // With rkyv: `logs[0].code.to_native()` and `logs[0].request.as_str()`.
//! let logs: &[LogRef<'_>] = received.get();
//! assert_eq!((logs[0].code, logs[0].request), (200, "GET /"));
//! # Ok(())
//! # }
//! ```
