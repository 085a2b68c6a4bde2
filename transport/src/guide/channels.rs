//! Typed channels: objects of one type, in one direction, under a name.
//!
//! Who wants no more than to hand objects on has a [`Sender`](crate::channel::Sender) and a
//! [`Receiver`](crate::channel::Receiver). Between threads they are used as those of other crates are; with
//! another address the two are in two processes, or on two hosts.
//!
//! ```
//! use jstream::Transportable;
//! use jstream_transport::channel;
//!
//! #[derive(Transportable)]
//! struct Order {
//!     symbol: String,
//!     legs: Vec<f64>,
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let name = format!("shm://guide-orders-{}", std::process::id());
//! # let address = name.as_str();
//! // In one process, with `address` as "shm://orders":
//! let receiver = channel::<Order>(address).receiver()?;
//! # let address = name.clone();
//! # let other = std::thread::spawn(move || {
//! // In another one:
//! let sender = channel::<Order>(&address).sender().unwrap();
//! sender.send(&Order { symbol: "ACME".to_owned(), legs: vec![99.5, 2.0] }).unwrap();
//! # });
//! // In the first one: until all senders are gone.
//! for order in &receiver {
//!     assert_eq!(order?.get().symbol, "ACME");
//! }
//! # other.join().unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! | | waits | looks | for a time | as a future |
//! |---|---|---|---|---|
//! | sends | [`send`] | [`try_send`] | [`send_timeout`] | [`send_async`] |
//! | receives | [`recv`], [`iter`] | [`try_recv`] | [`recv_timeout`] | [`recv_async`] |
//!
//! | gives away | [`send_owned`] | [`try_send_owned`] | [`send_owned_timeout`] | [`send_owned_async`] |
//! | receives owners | [`recv_owned`] | [`try_recv_owned`] | [`recv_owned_timeout`] | [`recv_owned_async`] |
//! | opens | [`sender`], [`receiver`] | | | [`sender_async`], [`receiver_async`] |
//!
//! [`send_received`] sends on what was received: between threads it moves as it is, whatever its size.
//!
//! [`send_owned`]: crate::channel::Sender::send_owned
//! [`try_send_owned`]: crate::channel::Sender::try_send_owned
//! [`send_owned_timeout`]: crate::channel::Sender::send_owned_timeout
//! [`send_owned_async`]: crate::channel::Sender::send_owned_async
//! [`recv_owned`]: crate::channel::Receiver::recv_owned
//! [`try_recv_owned`]: crate::channel::Receiver::try_recv_owned
//! [`recv_owned_timeout`]: crate::channel::Receiver::recv_owned_timeout
//! [`recv_owned_async`]: crate::channel::Receiver::recv_owned_async
//! [`sender`]: crate::channel::Channel::sender
//! [`receiver`]: crate::channel::Channel::receiver
//! [`sender_async`]: crate::channel::Channel::sender_async
//! [`receiver_async`]: crate::channel::Channel::receiver_async
//! [`send`]: crate::channel::Sender::send
//! [`try_send`]: crate::channel::Sender::try_send
//! [`send_timeout`]: crate::channel::Sender::send_timeout
//! [`send_async`]: crate::channel::Sender::send_async
//! [`send_received`]: crate::channel::Sender::send_received
//! [`recv`]: crate::channel::Receiver::recv
//! [`iter`]: crate::channel::Receiver::iter
//! [`try_recv`]: crate::channel::Receiver::try_recv
//! [`recv_timeout`]: crate::channel::Receiver::recv_timeout
//! [`recv_async`]: crate::channel::Receiver::recv_async
//!
//! # Lent, or given away
//!
//! `send` borrows the object, and the receiver gets a copy in a jbuf, whose form it looks at: `&str` of a `String`.
//! `send_owned` takes it, and `recv_owned` gives an owner again. Between threads that is the object itself: it moves, in
//! O(1), whatever it leads to. Elsewhere it becomes a message, and is made again by
//! [`Restore`](jstream::Restore). Both sides choose by themselves:
//!
//! | | [`recv`] | [`recv_owned`] |
//! |---|---|---|
//! | [`send`] | copied to a jbuf | copied, and made again |
//! | [`send_owned`], between threads | written to a jbuf by the receiver | moved |
//! | [`send_owned`], elsewhere | copied to a jbuf | copied, and made again |
//!
//! What a function [verifies](jstream::guide::fields) it sees when a message is read. An object that moves is none: it
//! comes as its sender had it, and is dropped where it ends, by the receiver, or by the side that leaves last.
//!
//! # Between threads
//!
//! With an `inproc` address, and one Rust type on both sides, no connection is in between: nothing of it is counted by
//! [`device_counters`](crate::device_counters), and nobody is ever [lost](#ends), as a thread that ends drops its handles.
//! Types that are larger than some 450 bytes themselves, without what they lead to, go through connections all the same.
//!
//! # Who listens
//!
//! One side listens, and any number of others join it. As a rule that is the receiver: many send to one. With
//! [`fan_out`](crate::channel::Channel::fan_out), on both sides, it is the sender: each object goes to one of the
//! receivers, in turn; one that has no room is passed over. Who joins waits for who listens, for
//! [`Options::connect_timeout`](crate::Options::connect_timeout) at most, so it does not matter which process is
//! started first. Addresses of hosts are as everywhere: the side that listens says `tcp://0.0.0.0:7000`, the
//! others `tcp://that-host:7000`.
//!
//! Handles in one process are cloned. Clones of a sender send over the same connections, and clones of a receiver
//! take from the same ones.
//!
//! ```
//! use jstream_transport::channel;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let jobs = channel::<u64>("inproc://guide-jobs").fan_out().peers(2);
//! let sender = jobs.clone().sender()?;
//! let workers: Vec<_> = (0..2)
//!     .map(|_| {
//!         let jobs = jobs.clone();
//!         std::thread::spawn(move || jobs.receiver().unwrap().iter().count())
//!     })
//!     .collect();
//! for job in 0..10 {
//!     sender.send(&job)?;
//! }
//! drop(sender);
//! for worker in workers {
//!     assert_eq!(worker.join().unwrap(), 5);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`peers`](crate::channel::Channel::peers) says how many are waited for: the jobs above are not all given to the
//! worker that is there first, and a receiver of two senders is not closed when the first one is done before the
//! second has come.
//!
//! # Bounds
//!
//! What waits to be received is bounded for each connection. Who finds no room waits, for
//! [`Options::send_timeout`](crate::Options::send_timeout) at most.
//!
//! | device | room |
//! |---|---|
//! | inproc | [`capacity`](crate::channel::Channel::capacity) objects, as the receiver says, and [`Options::queue_bytes`](crate::Options::queue_bytes) of those in jbufs |
//! | shm | 256 objects, and 2 MiB of those that are copied |
//! | uds, tcp, uring | the buffers of the sockets |
//!
//! So `capacity` is exact between threads, and has no effect elsewhere: objects are not counted on the wire. Who needs so
//! many and no more on all devices has them acknowledged, by a channel in the other direction. What was sent as a future
//! and finds no room waits with the sender, beyond the bound: whoever awaits each future has one such object at most.
//!
//! An object counts as long as nobody has received it. One that was received is in a jbuf of the pool in the
//! receiver's options, whose limit bounds what a program holds.
//!
//! # Ends
//!
//! A channel is closed when all on the other side have said goodbye, which dropping the last clone does. Everything
//! that was sent is received before that. A peer that is gone without a word was killed, or cut off: that is an
//! error which says who it was.
//!
//! | what happened | the receiver gets | the sender gets |
//! |---|---|---|
//! | all peers have ended | [`RecvError::Closed`], after the last object | [`SendError::Closed`] |
//! | a peer was killed | what had arrived, then [`RecvError::Lost`], once; then what others send | [`SendError::Lost`] by the next object that would have gone there |
//! | a peer sends what is no such object | [`RecvError::Read`], once for each | |
//! | a peer breaks the protocol | [`RecvError::Lost`]; its connection is ended | [`SendError::Lost`] |
//!
//! Of a lost receiver it is not known which of the last objects it had received; of a lost sender, what it meant to
//! send. Over sockets and shared memory an object may have been taken for a receiver that was dead already: death
//! is noticed when somebody looks. Whoever must not lose any has them acknowledged, by a channel in the other
//! direction.
//!
//! After a channel is closed others may join it, and it goes on.
//!
//! [`RecvError::Closed`]: crate::channel::RecvError::Closed
//! [`RecvError::Lost`]: crate::channel::RecvError::Lost
//! [`RecvError::Read`]: crate::channel::RecvError::Read
//! [`SendError::Closed`]: crate::channel::SendError::Closed
//! [`SendError::Lost`]: crate::channel::SendError::Lost
//!
//! # Types
//!
//! Both sides say what they mean by the type when they join. Where that differs in anything, nothing is opened, and
//! [`OpenError::Type`](crate::channel::OpenError::Type) names both types and the first difference:
//! `Order.legs[].quantity: u32 here, u64 there`. What comes later is checked as every object is.
