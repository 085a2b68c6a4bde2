//! Streams: any number of objects and plain values of mixed types, one after another in one jbuf.
//!
//! A [`StreamWriter`] turns a [`Spent`](crate::Spent) jbuf into a [`Filled`](crate::Filled) one, a
//! [`StreamReader`] hands out its objects, all of which stay where they are for as long as any of them is
//! used. [The guide](crate::guide::streams) has examples.
//!
//! ```
//! use jstream::{Reader, Spent, StreamReader, StreamWriter, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! let mut stream = StreamWriter::new(Spent::heap(4096));
//! stream.write(&mut writer, &7u32)?;
//! stream.write(&mut writer, &vec!["once".to_owned(), "upon".to_owned()])?;
//!
//! let stream = StreamReader::new(stream.finish());
//! let number = stream.next::<u32>(&mut reader)?;
//! let words = stream.next::<Vec<String>>(&mut reader)?;
//! assert_eq!((*number, *words), (7, &["once", "upon"][..]));
//! # Ok(())
//! # }
//! ```
//!
//! # Items
//!
//! Each item is a message, as long as its header says, that begins at the next multiple of 16 from the
//! stream's start; bytes between two items are zero. A message with a form that is aligned to more begins
//! at a multiple of 128, behind padding that says how long it is. A stream ends with its last message,
//! so a message alone is a stream of one, and nothing at all a stream of none.
//!
//! Invariant: in a stream being written the bytes below its end are initialised, and those of its items
//! are never written again. In one being read each byte belongs to one of three parts, in this order:
//! items that were handed out or passed over, at most one that is being read, and those that nobody has
//! changed. What was handed out once is never looked at by the stream again.

mod error;
mod framing;
mod init;
mod reader;
mod uninit;
mod writer;

pub use error::StreamError;
pub use init::{InitSlice, InitValue};
pub use reader::{Objects, StreamReader, Unread, Upcoming};
pub use uninit::{UninitSlice, UninitValue};
pub use writer::StreamWriter;
