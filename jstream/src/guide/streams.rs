//! Streams: many objects in one buffer.
//!
//! A message has one root. A stream has any number of roots, of any types, one after another in one
//! buffer. It is written, sent and received as a whole, and read object by object.
//!
//! ```
//! use jstream::{Pool, Reader, StreamError, StreamReader, StreamWriter, Transportable, Writer};
//!
//! #[derive(Transportable, Debug)]
//! struct Order {
//!     id: u64,
//!     lines: Vec<String>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::default();
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//!
//! let mut stream = StreamWriter::new(pool.take(4096)?);
//! stream.write(&mut writer, &"header")?;
//! for id in 0..3 {
//!     stream.write(&mut writer, &Order { id, lines: vec![format!("line of {id}")] })?;
//! }
//! stream.write(&mut writer, &1.5f64)?;
//! let message = stream.finish();
//!
//! // The message is sent like any other. The receiver reads it as a stream.
//! let stream = StreamReader::new(message);
//! let header = stream.next::<&str>(&mut reader)?;
//! // All orders lie side by side in the buffer.
//! let orders: Vec<_> = stream.objects::<Order>(&mut reader).collect::<Result<_, _>>()?;
//! let ratio = stream.next::<f64>(&mut reader)?;
//! assert_eq!((*header, orders[2].lines[0], *ratio), ("header", "line of 2", 1.5));
//! assert!(stream.contains(orders[0].lines[0]));
//! assert!(matches!(stream.next::<f64>(&mut reader), Err(StreamError::EndOfStream)));
//!
//! // No references to the objects remain, which the compiler verifies.
//! let empty = stream.into_empty();
//! # drop(empty);
//! # Ok(())
//! # }
//! ```
//!
//! # A full stream
//!
//! If an object does not fit, writing returns
//! [`WriteError::EndOfStream`](crate::WriteError::EndOfStream) and leaves the stream unchanged.
//! Send the stream, take another buffer, and write the object again.
//! [`clear`](crate::StreamWriter::clear) empties the stream and keeps its buffer.
//!
//! # Writing in place
//!
//! A producer can write directly into the message: the stream returns an uninitialised value or
//! slice that is already part of it. The stream changes only when the value or slice is completed.
//!
//! ```
//! # use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
//!
//! stream.uninit_value::<u64>(&mut writer)?.write(7);
//!
//! // Zeroed first, then filled by a function that takes a slice, and truncated to the used part.
//! let mut bytes = stream.uninit_slice::<u8>(&mut writer, 1000)?.zeroed();
//! let len = std::io::Read::read(&mut &b"from a socket"[..], &mut bytes)?;
//! bytes.truncate(len);
//! bytes.complete();
//!
//! // MessageBuffer value by value, or by a copy. After writing all values, `assume_init` may be called.
//! stream.uninit_slice::<f32>(&mut writer, 3)?.fill_with(|i| i as f32 / 2.0);
//!
//! let stream = StreamReader::new(stream.finish());
//! assert_eq!(*stream.next::<u64>(&mut reader)?, 7);
//! assert_eq!(*stream.next::<Vec<u8>>(&mut reader)?, b"from a socket");
//! assert_eq!(*stream.next::<Vec<f32>>(&mut reader)?, [0.0, 0.5, 1.0]);
//! # Ok(())
//! # }
//! ```
//!
//! # Objects of unknown types
//!
//! [`peek`](crate::StreamReader::peek) returns the [`descriptor`](crate::descriptor()) of the next
//! object. An object of another type can be skipped, and forwarded without being read.
//!
//! ```
//! # use jstream::{EmptyBuffer, Reader, StreamReader, StreamWriter, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! # let mut stream = StreamWriter::new(EmptyBuffer::heap(4096));
//! # stream.write(&mut writer, &7u32)?;
//! # stream.write(&mut writer, &"for somebody else")?;
//! # stream.write(&mut writer, &8u32)?;
//! # let stream = StreamReader::new(stream.finish());
//! let mut others = StreamWriter::new(EmptyBuffer::heap(4096));
//! let mut sum = 0;
//! while let Some(next) = stream.peek()? {
//!     if next.descriptor == jstream::descriptor::<u32>() {
//!         sum += stream.next::<u32>(&mut reader)?;
//!     } else {
//!         others.forward(&stream.skip()?)?;
//!     }
//! }
//! assert_eq!(sum, 15);
//! # let others = StreamReader::new(others.finish());
//! # assert_eq!(*others.next::<&str>(&mut reader)?, "for somebody else");
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//!
//! | error | state of the stream |
//! |---|---|
//! | [`Refused`](crate::StreamError::Refused): another type, or an invalid header | unchanged: try another type, or skip the object |
//! | [`Damaged`](crate::StreamError::Damaged): invalid contents | past the object: continue with the next one |
//! | [`Framing`](crate::StreamError::Framing): no object begins at this position | unchanged for good: the position of the next object is unknown |
//!
//! [`Limits`](crate::Limits) apply to each object. The limits on bytes and on zero-sized elements
//! also apply to the stream as a whole.
//!
//! # Without a buffer
//!
//! [`write_vec`](crate::Writer::write_vec) and [`write_io`](crate::Writer::write_io) write a single
//! message to a `Vec<u8>` or a [`std::io::Write`]. They write the segments that
//! [`gather`](crate::Writer::gather) lends, one after another.
