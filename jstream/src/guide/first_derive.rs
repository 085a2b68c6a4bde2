//! A first derive.
//!
//! A type can be sent if it derives [`Transportable`](crate::Transportable). The simplest such type
//! consists of plain values and of references that all have one lifetime.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable, Debug, PartialEq)]
//! struct Track<'b> {
//!     title: &'b str,
//!     seconds: u32,
//!     samples: &'b [f32],
//!     next: Option<&'b Track<'b>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let second = Track { title: "Aria", seconds: 190, samples: &[0.5, -0.5], next: None };
//! let first = Track { title: "Overture", seconds: 312, samples: &[], next: Some(&second) };
//!
//! // A message is written into a buffer, here one of 4 KiB on the heap.
//! let mut writer = Writer::new();
//! let message = writer.write(&first, EmptyBuffer::heap(4096))?;
//!
//! // The bytes can be sent to any receiver.
//! let bytes = message.as_bytes().to_vec();
//!
//! // The receiver copies them into a buffer of its own and reads them there.
//! let message = EmptyBuffer::heap(bytes.len()).copy_from(&bytes)?;
//! let mut reader = Reader::default();
//! let received = reader.read::<Track>(message)?;
//!
//! let track: &Track = received.get();
//! assert_eq!(track, &first);
//! assert_eq!(track.next.map(|next| next.title), Some("Aria"));
//! # Ok(())
//! # }
//! ```
//!
//! [`to_vec`](crate::to_vec) and [`from_slice`](crate::from_slice) do all of this in one call each.
//! To append a message to a `Vec<u8>`, use [`Writer::write_vec`](crate::Writer::write_vec). To
//! write it to a file, a socket or another [`std::io::Write`], use
//! [`Writer::write_io`](crate::Writer::write_io), which makes no copy of large arrays:
//!
//! ```
//! use jstream::{Writer, from_slice};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let samples = vec![0.5f32; 100_000];
//! let mut file = tempfile::tempfile()?;
//! let len = Writer::new().write_io(&samples, &mut file)?;
//! # use std::io::{Read, Seek};
//! # file.rewind()?;
//!
//! let mut bytes = Vec::new();
//! file.read_to_end(&mut bytes)?;
//! assert_eq!(bytes.len(), len);
//! assert_eq!(*from_slice::<Vec<f32>>(&bytes)?.get(), samples);
//! # Ok(())
//! # }
//! ```
//!
//! `track` is an ordinary `&Track`. The tracks, texts and slices that it refers to lie in the
//! buffer: reading has checked the bytes, and replaced the pointers among them by real references.
//! Reading therefore consumes the message and returns another type, since the bytes are no longer a
//! message.
//!
//! A [`Writer`](crate::Writer) and a [`Reader`](crate::Reader) reuse their memory from one message
//! to the next. Use the same ones for many messages.
//!
//! # The types of a buffer
//!
//! | type | contents | becomes |
//! |---|---|---|
//! | [`EmptyBuffer`](crate::EmptyBuffer) | none | `MessageBuffer`, by [`Writer::write`](crate::Writer::write), [`EmptyBuffer::copy_from`](crate::EmptyBuffer::copy_from), or a transport |
//! | [`MessageBuffer`](crate::MessageBuffer) | a message | `Received`, by [`Reader::read`](crate::Reader::read); `EmptyBuffer` if reading fails |
//! | [`Received`](crate::Received) | objects | `EmptyBuffer`, by [`Received::into_empty`](crate::Received::into_empty), or by being dropped |
//!
//! A buffer has one owner, and references to its objects borrow from that owner. The compiler
//! therefore rejects errors that other libraries detect only at run time: reading a message twice,
//! writing into a message that is being read, and keeping an object longer than its buffer.
//!
//! ```compile_fail,E0505
//! # use jstream::{Received, Transportable};
//! fn too_long(received: Received<String>) -> usize {
//!     let text: &str = received.get();
//!     let empty = received.into_empty();
//!     text.len() + empty.capacity()
//! }
//! ```
//!
//! # Pools
//!
//! Buffers come from the heap or from a [`Pool`](crate::Pool), which keeps slots of all sizes
//! ready. A transport receives into buffers of its pool.
//!
//! ```
//! use jstream::{Pool, Reader, Writer};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pool = Pool::default();
//! let message = Writer::new().write_to(&vec![1u64, 2, 3], &pool)?;
//! let received = Reader::default().read::<Vec<u64>>(message)?;
//! assert!(pool.contains(received.get()));
//! assert_eq!(pool.stats().in_use, 1);
//! drop(received);
//! assert_eq!(pool.stats().in_use, 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Sending without a copy
//!
//! [`Writer::gather`](crate::Writer::gather) lends a message as a list of segments, as a system
//! call for vectored output takes them. Plain arrays and text of 1,024 bytes or more are not copied
//! ([`Writer::lend_from`](crate::Writer::lend_from) sets another length): their segments refer to
//! the program's own memory.
//!
//! ```
//! use jstream::Writer;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! for (column, is_lent) in [(vec![0.25f64; 128], true), (vec![0.25f64; 127], false)] {
//!     let lent = Writer::new().gather(&column, |segments| {
//!         segments.iter().any(|segment| segment.as_ptr() == column.as_ptr().cast())
//!     })?;
//!     assert_eq!(lent, is_lent, "{} bytes", 8 * column.len());
//! }
//! # Ok(())
//! # }
//! ```
