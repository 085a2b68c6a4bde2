//! Typed one-way channels: objects of one type, under a name.
//!
//! [`channel`] names a channel. Its [`Sender`] and [`Receiver`] may be in two threads, in two
//! processes of this host, or on two hosts; the address alone decides. One side listens and can
//! have several peers. The peers join it, and wait for it if it is not there yet, so the sides may
//! start in any order.
//!
//! ```
//! use jstream_transport::channel;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (sender, receiver) = channel::<Vec<u64>>("shm://sums-of-the-day").both()?;
//! let adding = std::thread::spawn(move || {
//!     (&receiver).into_iter().map(|sum| sum.unwrap().get().iter().sum::<u64>()).collect::<Vec<_>>()
//! });
//! sender.send(&vec![1, 2, 3])?;
//! sender.send(&vec![4])?;
//! drop(sender);
//! assert_eq!(adding.join().unwrap(), [6, 4]);
//! # Ok(())
//! # }
//! ```
//!
//! [`Sender::send`] borrows the object, and the receiver accesses it in the buffer in which it
//! arrived. [`Sender::send_owned`] moves the object, and [`Receiver::recv_owned`] returns it by
//! value. Between threads of one process this is O(1), whatever the object points to.
//!
//! The guide of `jstream-transport` has a page on channels.

mod acceptor;
mod cargo;
mod channel;
mod described;
mod error;
mod hello;
mod near;
mod object_form;
mod opening;
mod owned;
mod peer_set;
mod peers;
mod receive;
mod receive_wait;
mod receiver;
mod receiving;
mod send;
mod sender;
mod sending;
mod versions;

pub use self::channel::{Channel, channel, pair};
pub use self::error::{OpenError, RecvError, Refused, SendError, Unsent};
pub use self::opening::Opening;
pub use self::receive::{Receive, ReceiveOwned};
pub use self::receiver::Receiver;
pub use self::receiving::Iter;
pub use self::send::Send;
pub use self::sender::Sender;
