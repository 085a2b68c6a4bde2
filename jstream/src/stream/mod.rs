//! Streams: any number of objects and plain values of mixed types, one after another in one buffer.
//!
//! A [`StreamWriter`] fills an [`EmptyBuffer`](crate::EmptyBuffer) and returns it as
//! [`MessageBuffer`](crate::MessageBuffer). A [`StreamReader`] returns the objects of such a buffer
//! by reference. All of them stay in place as long as any of them is used. [The
//! guide](crate::guide::streams) has examples.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
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
//! Each item is a message, whose length is in its header. It begins at the next multiple of 16 from
//! the start of the stream; bytes between two items are zero. If a message has a form with a larger
//! alignment, it begins at a multiple of 128, after padding that states its own length. A stream
//! ends with its last message. A single message is therefore a stream of one item, and zero bytes
//! are an empty stream.
//!
//! Invariant: in a stream that is being written, the bytes below its end are initialised, and those
//! of its items are never written again. In a stream that is being read, each byte belongs to one
//! of three parts, in this order: items that were read or skipped, at most one item that is being
//! read, and items that are still unchanged. The stream never accesses an item again after it was
//! read or skipped.

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
