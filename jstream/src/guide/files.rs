//! Files.
//!
//! A file holds objects of any types, one after another. It also holds an index, checksums, and the
//! schemas of the objects' types and of the implementations of their trait objects. A
//! [`FileWriter`](crate::file::FileWriter) writes a file. A [`FileReader`](crate::file::FileReader)
//! reads it, each object into a buffer of its own:
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
//! // Later, possibly in another program:
//! let mut file = FileWriter::append(&path)?;
//! file.push(&reading("south"))?;
//! file.commit()?;
//! drop(file);
//!
//! let mut file = FileReader::open(&path)?;
//! let first = file.next::<Reading>()?.ok_or("there is none")?;
//! assert_eq!(first.get().station, "north");
//! // By number, and the entry of an object without reading the object.
//! assert_eq!(file.read::<Reading>(2)?.get().values[999], 1.5);
//! assert_eq!(file.entry(1)?.descriptor, jstream::descriptor::<String>());
//! // The file contains its schemas, so the error for another type states the difference.
//! let Err(error) = file.read::<Vec<u64>>(0) else { panic!("it was read") };
//! assert!(error.to_string().contains("`ReadingRef` can't become `&[u64]`"), "{error}");
//! # Ok(())
//! # }
//! ```
//!
//! # Commits and crashes
//!
//! Objects become part of the file when `commit` is called, all together. A new file is created
//! under a temporary name and renamed when it is complete. When a file is extended, the record of
//! the commit is written last, and it does not overwrite the record of the previous commit. If the
//! program or the machine crashes, the file therefore has either the old or the new contents.
//!
//! A commit waits for the device, which takes some milliseconds. If
//! [`WriteOptions::sync`](crate::file::WriteOptions::sync) is off, it does not wait. The guarantee
//! then holds for a crash of the program, but not for a crash of the machine.
//!
//! A new file replaces an existing file of the same name and keeps its permissions, unless
//! [`WriteOptions::replace`](crate::file::WriteOptions::replace) is off.
//!
//! A file has one writer at a time. A second writer gets an error and may retry. Readers neither
//! block a writer nor are disturbed by it: each sees what was committed when it opened the file. To
//! follow a file that grows, a reader calls
//! [`FileReader::reload`](crate::file::FileReader::reload):
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
//! // The position was kept. A message can be taken from the file and sent on without reading it.
//! let message = reader.message(reader.position())?;
//! assert_eq!(*reader.next::<u32>()?.ok_or("there is none")?.get(), 2);
//! # assert!(message.len() > 40);
//! # Ok(())
//! # }
//! ```
//!
//! # Reading in place
//!
//! A [`FileMap`](crate::file::FileMap) maps a file and reads objects in place. The time and memory
//! depend on the objects that are read, not on the size of the file. Reading an object writes
//! pointers into it, and the system copies each page that is written to. Large arrays and long
//! text have no pointers, so their pages stay shared with the file. Small records with text have
//! pointers in every page: reading all of them copies the whole file.
//!
//! ```
//! use jstream::file::{FileMap, FileWriter, ReadOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut writer = FileWriter::in_memory()?;
//! writer.push(&vec!["one".to_owned(), "two".to_owned()])?;
//! // Other processes may map the sealed file too. It can't change any more, so mapping it is safe.
//! let sealed = writer.seal()?;
//! let map = FileMap::sealed(sealed, ReadOptions::default())?;
//! let words: &[&str] = map.get::<Vec<String>>(0)?;
//! assert_eq!(words, ["one", "two"]);
//! # Ok(())
//! # }
//! ```
//!
//! | | is | requires that the file does not change |
//! |---|---|---|
//! | [`FileMap::open`](crate::file::FileMap::open) | `unsafe` | yes; the caller guarantees it |
//! | [`FileMap::sealed`](crate::file::FileMap::sealed) | safe | yes; the system guarantees it |
//! | [`FileMap::copied`](crate::file::FileMap::copied) | safe | no: the whole file is read into memory |
//! | [`FileReader`](crate::file::FileReader) | safe | no: each object is copied |
//!
//! # Untrusted files
//!
//! Reading any bytes returns an error or a valid object. Offsets and lengths are compared with the
//! length of the file before memory is allocated, and [`Limits`](crate::Limits) bound the size of
//! an object. Checksums detect errors of a device, but no forgery. Without them
//! ([`ReadOptions::checksums`](crate::file::ReadOptions::checksums)) reading is as safe, and
//! faster. [`FileReader::verify`](crate::file::FileReader::verify) compares all checksums of a
//! file.
//!
//! The module [`file`](crate::file) documents the format.
