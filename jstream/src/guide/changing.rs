//! Changing what was received, and sending it on.
//!
//! The buffer is the receiver's own, so its objects may be changed where they lie, as far as one
//! pointer alone leads there: the values that stand in the root, and slices of plain data behind
//! `&'b mut [T]`. [`Received::with_mut`](crate::Received::with_mut) lends them to a closure.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Block<'b> {
//!     gain: f32,
//!     samples: &'b mut [f32],
//! }
//!
//! /// An owner's `Vec` arrives as a slice of that kind if the field says so.
//! #[derive(Transportable)]
//! struct Recording {
//!     name: String,
//!     #[transportable(exclusive)]
//!     samples: Vec<f32>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let recording = Recording { name: "take 1".to_owned(), samples: vec![3.0, 1.0, 2.0] };
//! let message = Writer::new().write(&recording, Spent::heap(1024))?;
//! let mut received = Reader::default().read::<Recording>(message)?;
//! received.with_mut(|recording| {
//!     recording.samples.sort_by(f32::total_cmp);
//!     recording.name = recording.name.split(' ').next().unwrap_or_default();
//! });
//! assert_eq!(received.get().samples, [1.0, 2.0, 3.0]);
//! assert_eq!(received.get().name, "take");
//!
//! // What was changed can be sent on.
//! Writer::new().write(received.get(), Spent::heap(1024))?;
//! # let block = Block { gain: 2.0, samples: &mut [1.0] };
//! # let mut received = Reader::default().read::<Block>(Writer::new().write(&block, Spent::heap(256))?)?;
//! # received.with_mut(|block| block.samples.iter_mut().for_each(|sample| *sample *= block.gain));
//! # assert_eq!(received.get().samples, [2.0]);
//! # Ok(())
//! # }
//! ```
//!
//! The closure gets `&'y mut Form<'x>` for lifetimes that it does not choose. It can exchange two
//! references of the object, or put in one that lives for ever, but neither keep what it sees nor
//! make the object refer to what it may change.
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
//! Elements behind `&'b mut [T]` have neither references nor text. The type that has one is no
//! longer `Copy` or `Clone`, as is the way with exclusive references. A type with cells is changed
//! through these, in [`Received::with`](crate::Received::with).
//!
//! # Sending it on
//!
//! A message that nobody has read is a [`Filled`](crate::Filled), and is sent on as it is. What was
//! read, and perhaps changed, becomes a message again by
//! [`Writer::forward`](crate::Writer::forward): in the jbuf that it came in, without a copy, in
//! about the time that reading took. Nodes in a ring pass one buffer along like this.
//!
//! ```
//! use jstream::{Reader, Spent, Transportable, Writer};
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
//! let mut message = writer.write(&job, Spent::heap(1024))?;
//! for _ in &job.steps {
//!     // What another node does.
//!     let mut received = reader.read::<Job>(message)?;
//!     received.with_mut(|job| job.done += 1);
//!     let forwarded = writer.forward(received)?;
//!     assert!(forwarded.in_place);
//!     message = forwarded.message;
//! }
//! let mut received = reader.read::<Job>(message)?;
//! assert_eq!(received.get().done, 2);
//!
//! // Something is dropped, so that the message becomes another one: it is copied.
//! received.with_mut(|job| job.steps = &job.steps[1..]);
//! let forwarded = writer.forward(received)?;
//! assert!(!forwarded.in_place);
//! assert_eq!(reader.read::<Job>(forwarded.message)?.get().steps, ["glue"]);
//! # Ok(())
//! # }
//! ```
//!
//! It stays where it is as long as every pointer leads where it led: numbers, flags, and elements
//! of exclusive slices may have any other value, and an option of plain data may come and go. An
//! object with cells is compared as a whole first, which takes as long again; so is one that
//! `with_mut` has visited if its jbuf has no room for a copy of the root behind the message.
//! [`Writer::forward_to`](crate::Writer::forward_to) takes the jbuf for a copy from a pool.
