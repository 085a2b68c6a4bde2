//! A first derive.
//!
//! A type of plain values and references, all of them with one lifetime, derives
//! [`Transportable`](crate::Transportable) and can travel.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! // A message is written into a jbuf: here one of 4 KiB on the heap.
//! let mut writer = Writer::new();
//! let message = writer.write(&first, Spent::heap(4096))?;
//!
//! // Its bytes may go anywhere.
//! let bytes = message.as_bytes().to_vec();
//!
//! // Whoever gets them puts them into a jbuf of its own, and reads them there.
//! let message = Spent::heap(bytes.len()).copy_from(&bytes)?;
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
//! `track` is an ordinary `&Track`, and the tracks, texts and slices that it leads to lie in the
//! jbuf: reading has checked the bytes, and made the pointers among them real ones. That is why it
//! takes the message and gives back something else: the bytes are no message any more.
//!
//! A [`Writer`](crate::Writer) and a [`Reader`](crate::Reader) keep their memory from one message
//! to the next. Use one for many messages.
//!
//! # The types of a buffer
//!
//! | type | its bytes are | becomes |
//! |---|---|---|
//! | [`Spent`](crate::Spent) | nothing to anybody | `Filled`, by [`Writer::write`](crate::Writer::write), [`Spent::copy_from`](crate::Spent::copy_from), or a transport |
//! | [`Filled`](crate::Filled) | a message | `Received`, by [`Reader::read`](crate::Reader::read); `Spent` if that fails |
//! | [`Received`](crate::Received) | objects | `Spent`, by [`Received::into_spent`](crate::Received::into_spent), or when it is dropped |
//!
//! A jbuf has one owner, and references to objects borrow from it, so the compiler refuses what
//! would go wrong elsewhere at run time: reading twice, writing into a message that is being read,
//! keeping an object longer than its buffer.
//!
//! ```compile_fail,E0505
//! # use jstream::{Received, Transportable};
//! fn too_long(received: Received<String>) -> usize {
//!     let text: &str = received.get();
//!     let spent = received.into_spent();
//!     text.len() + spent.capacity()
//! }
//! ```
//!
//! # Pools
//!
//! Jbufs come from the heap, or from a [`Pool`](crate::Pool), which has slots of all sizes and
//! takes no time to hand one out. A transport receives into those of its pool.
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
//! # Without a copy
//!
//! [`Writer::gather`](crate::Writer::gather) lends a message as a list of segments, in which plain
//! arrays of 512 bytes and more are not copied but lie where the program has them. That is what a
//! system call for vectored output takes.
//!
//! ```
//! use jstream::Writer;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let column = vec![0.25f64; 100_000];
//! let lent = Writer::new().gather(&column, |segments| {
//!     segments.iter().any(|segment| segment.as_ptr() == column.as_ptr().cast())
//! })?;
//! assert!(lent);
//! # Ok(())
//! # }
//! ```
