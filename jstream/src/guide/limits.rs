//! Limits and errors.
//!
//! No function here that is not `unsafe` does anything undefined, whatever the bytes. Memory and
//! time are bounded by the length of the message. What is left is bounded by limits:
//!
//! | limit | default | stops |
//! |---|---|---|
//! | [`Limits::bytes`](crate::Limits::bytes) | 4 GiB | messages that are longer |
//! | [`Limits::depth`](crate::Limits::depth) | 1,000 pointers, one after another | graphs over which the program's own functions would recurse too deep |
//! | [`Limits::zero_sized`](crate::Limits::zero_sized) | 65,536 | slices of elements without size, which cost the sender nothing |
//! | [`Limits::pending`](crate::Limits::pending) | 2^22 runs | messages of many types in turn, which need more memory to read than their own |
//! | [`Limits::shared`](crate::Limits::shared) | 2^22 objects, and as many further pointers | the same with shared objects |
//! | [`Writer::with_limit`](crate::Writer::with_limit) | 4 GiB for each segment | graphs of plain references that reach one object in many ways, or in a circle |
//! | [`PoolOptions::max_mapped`](crate::buffer::PoolOptions::max_mapped) | 4 GiB | peers who make the program hold many messages |
//! | [`WhenLow::Heap`](crate::buffer::WhenLow::Heap) | off | the same, of a pool that uses the heap when it is low |
//! | the depth of [`restore`](crate::restore()) | 128 pointers | owners that could not be dropped |
//!
//! ```
//! use jstream::{Limits, Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable, Debug)]
//! struct Node<'b> {
//!     next: Option<&'b Node<'b>>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut long = Node { next: None };
//! for _ in 0..100_000 {
//!     long = Node { next: Some(Box::leak(Box::new(long))) };
//! }
//! let mut writer = Writer::new();
//! let message = writer.write(&long, Spent::heap(1 << 20))?;
//! let failure = Reader::default().read::<Node>(message).unwrap_err();
//! assert!(failure.error.to_string().contains("leads deeper than Limits::depth allows"));
//!
//! // Reading needs no stack, however deep the graph.
//! let mut limits = Limits::default();
//! limits.depth = None;
//! let message = writer.write(&long, failure.spent)?;
//! let received = Reader::new(limits).read::<Node>(message)?;
//! let depth = std::iter::successors(Some(received.get()), |node| node.next).count();
//! assert_eq!(depth, 100_001);
//! # Ok(())
//! # }
//! ```
//!
//! # Depth
//!
//! Writing and reading don't recurse, nor does dropping a [`Received`](crate::Received). Functions
//! of the program may, a derived `Debug`, `PartialEq` or `Hash` among them, and each needs some
//! hundred bytes of stack for each pointer that it follows. The default depth leaves them room on a
//! thread of 2 MiB; raise it for those who iterate. The pretty form `{:#?}` indents, and takes time
//! with the cube of the depth and more stack: print deep graphs with `{:?}`. `to_owned` makes
//! nothing that is deeper than it says, so that dropping it can't overflow the stack either.
//!
//! Depth counts the longest way to each object where several lead to it. Of such ways there may be
//! very many: a derived `Debug` or `PartialEq` walks each, so on a graph of shared objects from
//! strangers it may take next to for ever. `to_owned` makes each shared object once.
//! [Circles](super::sharing#circles) have no depth: nothing bounds a function that goes round
//! one.
//!
//! # Errors
//!
//! A [`ReadFailure`](crate::ReadFailure) has the [`ReadError`](crate::ReadError), and the jbuf, for
//! the next message. A value that is wrong is named by its path, and by its offset in the message:
//!
//! ```
//! use jstream::{ReadError, Reader, Spent, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Lamp {
//!     name: String,
//!     on: bool,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lamps = vec![Lamp { name: "hall".to_owned(), on: true }];
//! let mut bytes = Writer::new().write(&lamps, Spent::heap(256))?.as_bytes().to_vec();
//! let at = bytes.iter().rposition(|byte| *byte == 1).ok_or("no lamp is on")?;
//! bytes[at] = 9;
//! let message = Spent::heap(256).copy_from(&bytes)?;
//! let Err(failure) = Reader::default().read::<Vec<Lamp>>(message) else { panic!("it was read") };
//! let ReadError::Value { path, what, offset } = &failure.error else { panic!("{failure}") };
//! assert_eq!((path.as_str(), what.as_str()), ("Vec<Lamp>[0].on", "byte 9 is not a bool"));
//! assert_eq!(*offset, at);
//! # Ok(())
//! # }
//! ```
//!
//! | error | means |
//! |---|---|
//! | [`Short`](crate::ReadError::Short), [`Magic`](crate::ReadError::Magic), [`Lengths`](crate::ReadError::Lengths) | no message of this version, or a part of one |
//! | [`TooLong`](crate::ReadError::TooLong) | more than `Limits::bytes` |
//! | [`Descriptor`](crate::ReadError::Descriptor) | a message of another type, or of another layout of it: see [`schemas`](super::schemas) |
//! | [`NotUtf8`](crate::ReadError::NotUtf8) | some text is none |
//! | [`Value`](crate::ReadError::Value) | a value that its type does not allow, a pointer out of order, a limit, or a function that refuses |
//! | [`Unused`](crate::ReadError::Unused) | bytes that belong to no object |
