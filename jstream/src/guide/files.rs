//! Files.
//!
//! A file holds objects of any types, one after another, with an index, the structures of their
//! types and of the classes of their trait objects, and checksums. It is written by a
//! [`FileWriter`](crate::file::FileWriter), and read by a [`FileReader`](crate::file::FileReader),
//! each object into a jbuf of its own:
//!
//! ```
//! use jstream::Transportable;
//! use jstream::file::{FileReader, FileWriter};
//!
//! #[derive(Transportable)]
//! struct Reading {
//!     station: String,
//!     values: Vec<f64>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("readings.jsf");
//! let reading = |station: &str| Reading { station: station.to_owned(), values: vec![1.5; 1000] };
//! let mut file = FileWriter::create(&path)?;
//! file.push(&reading("north"))?;
//! file.push(&"objects of other types may stand between".to_owned())?;
//! file.commit()?;
//! drop(file);
//!
//! // Later, perhaps by another program:
//! let mut file = FileWriter::append(&path)?;
//! file.push(&reading("south"))?;
//! file.commit()?;
//! drop(file);
//!
//! let mut file = FileReader::open(&path)?;
//! let first = file.next::<Reading>()?.ok_or("there is none")?;
//! assert_eq!(first.get().station, "north");
//! // By number, and what stands there without reading it.
//! assert_eq!(file.read::<Reading>(2)?.get().values[999], 1.5);
//! assert_eq!(file.entry(1)?.descriptor, jstream::descriptor::<String>());
//! // The file has its own schemas: a type that differs is refused with the difference.
//! let Err(error) = file.read::<Vec<u64>>(0) else { panic!("it was read") };
//! assert!(error.to_string().contains("ReadingRef there"), "{error}");
//! # Ok(())
//! # }
//! ```
//!
//! # What a crash leaves
//!
//! Nothing that was pushed is in the file before `commit`. Then it is, all of it: a new file is
//! made under another name, which it changes when it is complete, and of an older one the commit is
//! written last, to a place of its own. So a program or a machine that dies leaves the old content
//! or the new.
//!
//! For that a commit waits for the device, some milliseconds. With
//! [`WriteOptions::sync`](crate::file::WriteOptions::sync) off it does not: then the promise holds
//! when a program dies, but not when the machine does.
//!
//! A new file replaces one of its name, with its permissions, unless
//! [`WriteOptions::replace`](crate::file::WriteOptions::replace) is off.
//!
//! One writer at a time has a file. Another gets an error, and may try again. Readers are not kept
//! away, nor disturbed: each sees what was committed when it opened the file. A reader that follows
//! a file which grows asks for more with [`FileReader::reload`](crate::file::FileReader::reload):
//!
//! ```
//! use jstream::file::{FileReader, FileWriter};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log.jst");
//! let mut writer = FileWriter::create(&path)?;
//! writer.push(&1u32)?;
//! writer.commit()?;
//! let mut reader = FileReader::open(&path)?;
//! assert_eq!(*reader.next::<u32>()?.ok_or("there is none")?.get(), 1);
//! assert!(reader.next::<u32>()?.is_none());
//!
//! writer.push(&2u32)?;
//! writer.commit()?;
//! assert!(reader.reload()?);
//! // Where it was; as it stands in the file, it can be sent on without being read.
//! let message = reader.message(reader.position())?;
//! assert_eq!(*reader.next::<u32>()?.ok_or("there is none")?.get(), 2);
//! # assert!(message.len() > 40);
//! # Ok(())
//! # }
//! ```
//!
//! # In place
//!
//! A [`FileMap`](crate::file::FileMap) reads objects where they lie, and copies those pages only
//! that hold pointers. Of a file of any size it takes the time and the memory for what is looked
//! at.
//!
//! ```
//! use jstream::file::{FileMap, FileWriter, ReadOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut writer = FileWriter::in_memory()?;
//! writer.push(&vec!["one".to_owned(), "two".to_owned()])?;
//! // Others may map this too: nobody can change it any more, so that mapping it is safe.
//! let sealed = writer.seal()?;
//! let map = FileMap::sealed(sealed, ReadOptions::default())?;
//! let words: &[&str] = map.get::<Vec<String>>(0)?;
//! assert_eq!(words, ["one", "two"]);
//! # Ok(())
//! # }
//! ```
//!
//! | | is | needs that nobody changes the file |
//! |---|---|---|
//! | [`FileMap::open`](crate::file::FileMap::open) | `unsafe` | yes, the caller promises it |
//! | [`FileMap::sealed`](crate::file::FileMap::sealed) | safe | the system guarantees it |
//! | [`FileMap::copied`](crate::file::FileMap::copied) | safe | no: all of the file is read into memory |
//! | [`FileReader`](crate::file::FileReader) | safe | no: each object is copied |
//!
//! # Files from strangers
//!
//! Whatever the bytes, there is an error or a valid object. Places and lengths are compared with
//! the file's own length before there is memory for them; [`Limits`](crate::Limits) bound what one
//! object may have. Checksums find what a device got wrong, not what somebody forged; without them
//! ([`ReadOptions::checksums`](crate::file::ReadOptions::checksums)) reading is as safe, and
//! quicker. [`FileReader::verify`](crate::file::FileReader::verify) compares all of them.
//!
//! [`file`](crate::file) has the format.
