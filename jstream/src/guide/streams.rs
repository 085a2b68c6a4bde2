//! Streams: many objects in one jbuf.
//!
//! A message has one root. A stream has any number of them, of any types, one after another in one
//! jbuf: it is written, sent and received as a whole, and read object by object.
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
//! // ... which travels as any other.
//! let stream = StreamReader::new(message);
//! let header = stream.next::<&str>(&mut reader)?;
//! // All are there side by side, in the jbuf.
//! let orders: Vec<_> = stream.objects::<Order>(&mut reader).collect::<Result<_, _>>()?;
//! let ratio = stream.next::<f64>(&mut reader)?;
//! assert_eq!((*header, orders[2].lines[0], *ratio), ("header", "line of 2", 1.5));
//! assert!(stream.contains(orders[0].lines[0]));
//! assert!(matches!(stream.next::<f64>(&mut reader), Err(StreamError::EndOfStream)));
//!
//! // Nobody refers to them any more, which the compiler sees.
//! let spent = stream.into_spent();
//! # drop(spent);
//! # Ok(())
//! # }
//! ```
//!
//! # When it is full
//!
//! An object that does not fit is a [`WriteError::EndOfStream`](crate::WriteError::EndOfStream),
//! and all that was written before is as it was: send it, take another jbuf, go on.
//! [`clear`](crate::StreamWriter::clear) begins anew in the same one.
//!
//! # Writing where it is sent from
//!
//! A producer needs no memory of its own: the stream hands out a value or a slice that is part of
//! the message already. Until it is completed the stream is as before.
//!
//! ```
//! # use jstream::{Reader, Spent, StreamReader, StreamWriter, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! let mut stream = StreamWriter::new(Spent::heap(4096));
//!
//! stream.uninit_value::<u64>(&mut writer)?.write(7);
//!
//! // Zeroed first, then filled by whoever takes a slice; not all of it is needed.
//! let mut bytes = stream.uninit_slice::<u8>(&mut writer, 1000)?.zeroed();
//! let len = std::io::Read::read(&mut &b"from a socket"[..], &mut bytes)?;
//! bytes.truncate(len);
//! bytes.complete();
//!
//! // Values one by one, or copied; a producer that promises to have written them says `assume_init`.
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
//! # Not knowing what comes
//!
//! [`peek`](crate::StreamReader::peek) tells the [`descriptor`](crate::descriptor()) of the next
//! object. One that nobody here wants is skipped, and sent on unread if that is of use.
//!
//! ```
//! # use jstream::{Reader, Spent, StreamReader, StreamWriter, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! # let mut stream = StreamWriter::new(Spent::heap(4096));
//! # stream.write(&mut writer, &7u32)?;
//! # stream.write(&mut writer, &"for somebody else")?;
//! # stream.write(&mut writer, &8u32)?;
//! # let stream = StreamReader::new(stream.finish());
//! let mut others = StreamWriter::new(Spent::heap(4096));
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
//! # When a stream is wrong
//!
//! | error | the stream then |
//! |---|---|
//! | [`Refused`](crate::StreamError::Refused): of another type, or wrong at first sight | stands where it stood: try another type, or skip |
//! | [`Damaged`](crate::StreamError::Damaged): wrong within | has passed the object, and goes on with the next |
//! | [`Framing`](crate::StreamError::Framing): no object begins there | stays there: nobody knows where the next one would be |
//!
//! [`Limits`](crate::Limits) are for each object, and those of bytes and of elements without size
//! for the stream as a whole too.
//!
//! # Without a jbuf
//!
//! Single messages also go to a `Vec<u8>` or a [`std::io::Write`], by
//! [`write_vec`](crate::Writer::write_vec) and [`write_io`](crate::Writer::write_io): the same
//! segments that [`gather`](crate::Writer::gather) lends, one behind the other.
