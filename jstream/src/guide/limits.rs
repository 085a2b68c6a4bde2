//! Limits and errors.
//!
//! No safe function of this crate causes undefined behaviour, whatever bytes it reads. The memory
//! and time for reading are linear in the length of the message. The following limits bound the
//! rest. Those of [`Limits`](crate::Limits) are the limits of a reader. A writer has them, too, so
//! that the sender of a message that no reader accepts by default gets a
//! [`WriteError`](crate::WriteError) instead:
//!
//! | limit | default | stops |
//! |---|---|---|
//! | [`Limits::bytes`](crate::Limits::bytes) | 4 GiB | longer messages; when writing, graphs in which plain references reach one object on many paths, or form a cycle |
//! | [`Limits::depth`](crate::Limits::depth) | 1,000 pointers on a path | graphs on which the program's own recursive functions would overflow the stack |
//! | [`Limits::zero_sized`](crate::Limits::zero_sized) | 65,536 | slices of zero-sized elements beyond one for each byte before them, which cost the sender nothing |
//! | [`Limits::pending`](crate::Limits::pending) | 2^22 runs | messages that alternate between many types and need several times their length in memory |
//! | [`Limits::shared`](crate::Limits::shared) | 2^22 objects, and as many further pointers | the same attack with shared objects |
//! | [`PoolOptions::max_mapped`](crate::buffer::PoolOptions::max_mapped) | 4 GiB | peers that make the program hold many messages |
//! | [`WhenLow::Heap`](crate::buffer::WhenLow::Heap) | off | the same attack on a pool that uses the heap when it is full |
//! | the depth of [`restore`](crate::restore()) | 128 pointers | owned values that would overflow the stack when they are dropped |
//!
//! ```
//! use jstream::{EmptyBuffer, Limits, Reader, Transportable, WriteError, Writer};
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
//! let failure = Writer::new().write(&long, EmptyBuffer::heap(1 << 20)).unwrap_err();
//! let WriteError::Limit { name, value, limit } = failure.error else { panic!("{failure}") };
//! assert_eq!((name, value, limit), ("depth", 1001, 1000));
//!
//! // Writing and reading use constant stack, however deep the graph is.
//! let mut limits = Limits::default();
//! limits.depth = None;
//! let mut writer = Writer::with_limits(limits);
//! let message = writer.write(&long, failure.buffer)?;
//! let failure = Reader::default().read::<Node>(message).unwrap_err();
//! assert!(failure.error.to_string().contains("leads deeper than Limits::depth allows"));
//! let message = writer.write(&long, failure.buffer)?;
//! let received = Reader::new(limits).read::<Node>(message)?;
//! let depth = std::iter::successors(Some(received.get()), |node| node.next).count();
//! assert_eq!(depth, 100_001);
//! # Ok(())
//! # }
//! ```
//!
//! A writer counts as the reader does, with two exceptions: it does not look into archives of rkyv,
//! and a message that it forwards in place, or unread, keeps the structure that it had when it
//! arrived. `pending` may be found to be exceeded one run early.
//!
//! # Depth
//!
//! Writing, reading, and dropping a [`Received`](crate::Received) do not recurse. Functions of the
//! program may recurse, such as a derived `Debug`, `PartialEq` or `Hash`. They use some hundred
//! bytes of stack for each pointer that they follow. The default depth fits into a stack of 2 MiB.
//! Raise it if your functions iterate. The pretty format `{:#?}` uses more stack, and its time
//! grows with the cube of the depth because of the indentation: print deep graphs with `{:?}`. The
//! limit of `to_owned` ensures that dropping its result does not overflow the stack either.
//!
//! If several paths lead to an object, the longest one counts. The number of paths can be
//! exponential in the number of objects. A derived `Debug` or `PartialEq` walks every path, so on
//! an untrusted graph of shared objects it may practically never end. `to_owned` creates each
//! shared object once. [Cycles](super::sharing#cycles) have no depth: no limit bounds a function
//! that follows one.
//!
//! # Errors
//!
//! A [`ReadFailure`](crate::ReadFailure) contains the [`ReadError`](crate::ReadError), and the
//! buffer for reuse. The error identifies an invalid value by its path and by its offset in the
//! message:
//!
//! ```
//! use jstream::{EmptyBuffer, ReadError, Reader, Transportable, Writer};
//!
//! #[derive(Transportable)]
//! struct Lamp {
//!     name: String,
//!     on: bool,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lamps = vec![Lamp { name: "hall".to_owned(), on: true }];
//! let mut bytes = Writer::new().write(&lamps, EmptyBuffer::heap(256))?.as_bytes().to_vec();
//! let at = bytes.iter().rposition(|byte| *byte == 1).ok_or("no lamp is on")?;
//! bytes[at] = 9;
//! let message = EmptyBuffer::heap(256).copy_from(&bytes)?;
//! let Err(failure) = Reader::default().read::<Vec<Lamp>>(message) else { panic!("it was read") };
//! let ReadError::Value { path, details, offset } = &failure.error else { panic!("{failure}") };
//! assert_eq!((path.as_str(), details.as_str()), ("Vec<Lamp>[0].on", "byte 9 is not a bool"));
//! assert_eq!(*offset, at);
//! # Ok(())
//! # }
//! ```
//!
//! | error | meaning |
//! |---|---|
//! | [`Short`](crate::ReadError::Short), [`Magic`](crate::ReadError::Magic), [`Lengths`](crate::ReadError::Lengths) | not a message of this version, or not a complete one |
//! | [`TooLong`](crate::ReadError::TooLong) | longer than `Limits::bytes` |
//! | [`Descriptor`](crate::ReadError::Descriptor) | a message of another type, or of another layout of the type: see [`schemas`](super::schemas) |
//! | [`NotUtf8`](crate::ReadError::NotUtf8) | invalid UTF-8 in the text |
//! | [`Value`](crate::ReadError::Value) | a value that its type does not allow, a pointer to an unexpected position, an exceeded limit, or an error of a verifying function |
//! | [`Unused`](crate::ReadError::Unused) | bytes that belong to no object |
