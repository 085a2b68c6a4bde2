//! Modifying a received object, and forwarding it.
//!
//! A received object can be modified in its buffer, as far as it is reached by one exclusive path.
//! This includes the values in the root, and slices of plain data behind `&'b mut [T]`.
//! [`Received::with_mut`](crate::Received::with_mut) lends them to a closure.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Block<'b> {
//!     gain: f32,
//!     samples: &'b mut [f32],
//! }
//!
//! /// If the field says so, the `Vec` of an owner is received as an exclusive slice.
//! #[derive(Transportable)]
//! struct Recording {
//!     name: String,
//!     #[transportable(exclusive)]
//!     samples: Vec<f32>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = Recording { name: "take 1".to_owned(), samples: vec![3.0, 1.0, 2.0] };
//! let message = Writer::new().write(&recording, EmptyBuffer::heap(1024))?;
//! let mut received = Reader::default().read::<Recording>(message)?;
//! received.with_mut(|recording| {
//!     recording.samples.sort_by(f32::total_cmp);
//!     recording.name = recording.name.split(' ').next().unwrap_or_default();
//! });
//! assert_eq!(received.get().samples, [1.0, 2.0, 3.0]);
//! assert_eq!(received.get().name, "take");
//!
//! // A modified object can be sent.
//! Writer::new().write(received.get(), EmptyBuffer::heap(1024))?;
//! # let block = Block { gain: 2.0, samples: &mut [1.0] };
//! # let mut received = Reader::default().read::<Block>(Writer::new().write(&block, EmptyBuffer::heap(256))?)?;
//! # received.with_mut(|block| block.samples.iter_mut().for_each(|sample| *sample *= block.gain));
//! # assert_eq!(received.get().samples, [2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The closure receives a `&'y mut Form<'x>` with lifetimes that it does not choose. It can
//! exchange two references of the object, or store a `'static` reference. It can neither keep a
//! reference to the object, nor make the object refer to its own exclusive parts.
//!
//! ```compile_fail
//! # use jstream::{Received, Transportable};
//! # #[derive(Transportable)]
//! # struct Column<'b> { count: u64, link: &'b u64 }
//! # fn change(received: &mut Received<Column<'static>>) {
//! received.with_mut(|column| column.link = &column.count);
//! # }
//! ```
//!
//! Elements behind `&'b mut [T]` contain neither references nor text. A type with such a field is
//! neither `Copy` nor `Clone`, since exclusive references are not. To modify a type with cells, set
//! the cells in [`Received::with`](crate::Received::with).
//!
//! # Forwarding
//!
//! A [`MessageBuffer`](crate::MessageBuffer) is a message that was not read, and can be sent as it
//! is. [`Writer::forward`](crate::Writer::forward) converts a received object, possibly modified,
//! back into a message. It does so in the object's own buffer, without a copy, in about the time
//! that reading took. Nodes of a ring can pass one buffer along in this way.
//!
//! ```
//! use jstream::{EmptyBuffer, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Job {
//!     done: u32,
//!     steps: Vec<String>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (mut writer, mut reader) = (Writer::new(), Reader::default());
//! let job = Job { done: 0, steps: vec!["cut".to_owned(), "glue".to_owned()] };
//! let mut message = writer.write(&job, EmptyBuffer::heap(1024))?;
//! for _ in &job.steps {
//!     // The work of another node.
//!     let mut received = reader.read::<Job>(message)?;
//!     received.with_mut(|job| job.done += 1);
//!     let forwarded = writer.forward(received)?;
//!     assert!(forwarded.in_place);
//!     message = forwarded.message;
//! }
//! let mut received = reader.read::<Job>(message)?;
//! assert_eq!(received.get().done, 2);
//!
//! // An object is dropped from the graph, so the message is written into another buffer.
//! received.with_mut(|job| job.steps = &job.steps[1..]);
//! let forwarded = writer.forward(received)?;
//! assert!(!forwarded.in_place);
//! assert_eq!(reader.read::<Job>(forwarded.message)?.get().steps, ["glue"]);
//! # Ok(())
//! # }
//! ```
//!
//! Forwarding in place requires that every pointer has its original target. Numbers, flags, and
//! elements of exclusive slices may have any other value, and an option of plain data may change
//! between `None` and `Some`. An object with cells is first compared as a whole, which takes the
//! same time again. The same applies to an object that `with_mut` has visited if its buffer has no
//! room for a copy of the root behind the message.
//! [`Writer::forward_to`](crate::Writer::forward_to) takes the buffer for a copy from a pool.
