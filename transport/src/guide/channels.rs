//! Typed channels: objects of one type, sent in one direction, under a name.
//!
//! A channel has a [`Sender`](crate::channel::Sender) and a [`Receiver`](crate::channel::Receiver).
//! Between threads they are used like the channels of other crates. With another address, the two
//! sides are in two processes or on two hosts.
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
//! // In the first process: until all senders have closed.
//! for order in &receiver {
//!     assert_eq!(order?.get().symbol, "ACME");
//! }
//! # other.join().unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! | | blocking | without waiting | with a timeout | as a future |
//! |---|---|---|---|---|
//! | borrow and send | [`send`] | [`try_send`] | [`send_timeout`] | [`send_async`] |
//! | receive in place | [`recv`], [`iter`] | [`try_recv`] | [`recv_timeout`] | [`recv_async`] |
//! | move and send | [`send_owned`] | [`try_send_owned`] | [`send_owned_timeout`] | [`send_owned_async`] |
//! | receive an owned value | [`recv_owned`] | [`try_recv_owned`] | [`recv_owned_timeout`] | [`recv_owned_async`] |
//! | open a side | [`sender`], [`receiver`] | | | [`sender_async`], [`receiver_async`] |
//!
//! [`send_received`] forwards a received object. Between threads it is moved as it is, whatever its
//! size.
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
//! # Borrowed or owned
//!
//! [`send`] borrows the object. The receiver gets a copy in a buffer and accesses it in place, so
//! that a `String` is received as a `&str`. [`send_owned`] takes the object, and [`recv_owned`]
//! returns an owned value. Between threads this is the object itself: it is moved in O(1), whatever
//! it points to. On other devices, the object is written to a message and converted back by
//! [`Restore`](jstream::Restore). Each side chooses independently of the other:
//!
//! | | [`recv`] | [`recv_owned`] |
//! |---|---|---|
//! | [`send`] | copied to a buffer | copied, then converted back |
//! | [`send_owned`], between threads | written to a buffer by the receiver | moved |
//! | [`send_owned`], on other devices | copied to a buffer | copied, then converted back |
//!
//! A function that [verifies](jstream::guide::fields) a field runs when a message is read. A moved
//! object is not a message, so it is not verified. The receiver drops it; if the channel closes
//! first, the side that closes last drops it.
//!
//! # Between threads
//!
//! If both sides use the same `inproc` address and the same Rust type, there is no connection
//! between them. Then [`device_counters`](crate::device_counters) does not count the objects, and
//! no peer is ever reported as [lost](#closing), because a thread that ends drops its handles.
//! Types that are larger than about 450 bytes, not counting what they point to, use a connection
//! nevertheless.
//!
//! # The listening side
//!
//! One side listens, and any number of peers join it. By default the receiver listens, and several
//! senders send to it. With [`fan_out`](crate::channel::Channel::fan_out) on both sides, the sender
//! listens: each object goes to one of the receivers in round-robin order, and a receiver without
//! room is skipped. A side that joins waits for the listening side for at most
//! [`Options::connect_timeout`](crate::Options::connect_timeout), so the processes may start in any
//! order. Host addresses work as everywhere else: the listening side uses `tcp://0.0.0.0:7000`, and
//! the others `tcp://that-host:7000`.
//!
//! Handles can be cloned within a process. Clones of a sender send over the same connections, and
//! clones of a receiver receive from the same connections.
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
//! [`peers`](crate::channel::Channel::peers) sets the number of peers that have to join before
//! anything is decided. So the jobs above are not all sent to the first worker that joins, and a
//! receiver with two senders is not closed if the first sender closes before the second has joined.
//!
//! # Bounds
//!
//! The number of objects that wait to be received is bounded for each connection. If there is no
//! room, a send waits for at most [`Options::send_timeout`](crate::Options::send_timeout).
//!
//! | device | bound |
//! |---|---|
//! | inproc | [`capacity`](crate::channel::Channel::capacity) objects (the receiver's setting), and [`Options::queue_bytes`](crate::Options::queue_bytes) for those in buffers |
//! | shm | 256 objects, and 2 MiB for those that are copied |
//! | uds, tcp, uring | the socket buffers |
//!
//! So `capacity` is exact between threads. On other devices it has no effect, because objects are
//! not counted on the wire. If a program needs an exact bound on all devices, its receiver can
//! acknowledge objects over a channel in the other direction. A future of a send that finds no room
//! holds its object outside the bound. A task that awaits each such future before the next send has
//! at most one object waiting.
//!
//! An object counts towards the bound until it is received. A received object is in a buffer of the
//! pool that the receiver's options name, and the limit of that pool bounds the memory of the
//! program.
//!
//! # Closing
//!
//! A channel is closed when all peers have closed their sides, which they do when their last clone
//! is dropped. Before that, everything that was sent is received: if a process exits, it waits
//! first for receivers that have no room yet, up to the send timeout of the options.
//! `Sender::finish` waits, too, and reports whether anything is lost. A peer that disappears
//! without closing has crashed or was cut off. This is reported as an error with the address of the
//! peer.
//!
//! | event | result at the receiver | result at the sender |
//! |---|---|---|
//! | all peers have closed | [`RecvError::Closed`], after the last object | [`SendError::Closed`] |
//! | a peer crashes | objects that had arrived, then [`RecvError::Lost`] once, then the objects of other senders | [`SendError::Lost`] for the next object that would have gone to that peer |
//! | a peer sends a message that is not an object of this type | [`RecvError::Read`], once for each message | |
//! | a peer violates the protocol | [`RecvError::Lost`]; its connection is closed | [`SendError::Lost`] |
//!
//! If a receiver is lost, it is unknown which of the last objects it had received. If a sender is
//! lost, it is unknown what else it was going to send. Over sockets and shared memory, an object
//! may have been accepted for a receiver that had already crashed, because a crash is detected only
//! when a thread uses the connection. If no object may be lost, the receiver can acknowledge
//! objects over a channel in the other direction.
//!
//! After a channel has closed, new peers may join, and the channel continues.
//!
//! [`RecvError::Closed`]: crate::channel::RecvError::Closed
//! [`RecvError::Lost`]: crate::channel::RecvError::Lost
//! [`RecvError::Read`]: crate::channel::RecvError::Read
//! [`SendError::Closed`]: crate::channel::SendError::Closed
//! [`SendError::Lost`]: crate::channel::SendError::Lost
//!
//! # Types
//!
//! The sender describes its type when a peer joins. If the receiver has another version of it, it
//! converts the objects, by the rules of the page `versions` of the guide of `jstream`. So each
//! side can be replaced by a newer or older one while the other runs. If no plan leads from the
//! sender's version to the receiver's, the channel is not opened, and
//! [`OpenError::Type`](crate::channel::OpenError::Type) names both types and the differences, for
//! example ``Order.quantity: `u64` can't become `u32` ``. If only some values have no counterpart,
//! [`RecvError::Read`] reports the objects that have them, and the channel continues. A receiver
//! takes objects of at most 32 other versions at the same time.
//!
//! Every received object is checked as usual, whatever its version. Without the feature `evolve`,
//! channels of different types are not opened.
