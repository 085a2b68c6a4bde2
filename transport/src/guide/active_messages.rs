//! Active messages: requests that name the handler to run when they arrive.
//!
//! Both sides of a connection [join](crate::active::Peer::join) it with a table of
//! [`Handlers`](crate::active::Handlers), and look up the handlers of the other side by name. A
//! handler takes bytes and a word, or an object in the receive buffer.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Received;
//! use jstream_transport::active::{PollGroup, Guarded, Handlers, Peer, Settings};
//! use jstream_transport::{Options, connect, listen};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stock = Arc::new(Guarded::new(0u64));
//! let (filled, taken) = (stock.clone(), stock);
//! let handlers = Handlers::builder()
//!     .function("fill", move |items: Received<Vec<u64>>| {
//!         let mut stock = filled.lock();
//!         *stock += items.get().iter().sum::<u64>();
//!         *stock
//!     })
//!     // Waits until the stock suffices, without blocking a thread.
//!     .on_async("take", move |request| {
//!         let stock = taken.clone();
//!         async move {
//!             let wanted = request.word();
//!             let mut stock = stock.when(|stock| *stock >= wanted).await;
//!             *stock -= wanted;
//!             let left = *stock;
//!             drop(stock);
//!             request.reply(left, &[]);
//!         }
//!     })
//!     .build();
//! let counted = handlers.clone();
//!
//! let address = "inproc://guide-active".parse()?;
//! let listener = listen(&address, &Options::default())?;
//! let server = std::thread::spawn(move || {
//!     // One thread serves all connections of a poll group.
//!     let group = PollGroup::default();
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     group.add(&Peer::join(endpoint, &handlers, Settings::default()).unwrap());
//!     group.serve();
//! });
//!
//! let endpoint = connect(&address, &Options::default())?;
//! let peer = Peer::join(endpoint, &Handlers::none(), Settings::default())?;
//! let take = peer.request(peer.handler("take")?, 5, &[])?;
//! let fill = peer.function::<Vec<u64>, u64>("fill")?;
//! peer.call(&fill, &vec![3, 4])?.wait()?;
//! assert_eq!(take.wait()?.word, 2);
//! drop(peer);
//! server.join().unwrap();
//! assert_eq!(counted.counters_of("take").unwrap().moved, 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Threads that serve
//!
//! No thread receives unless the program provides one. A thread that
//! [waits](crate::active::Ticket::wait) for an answer, or that polls a ticket as a future, serves
//! the poll group of its connection meanwhile. If a side waits for no answers, it needs a thread
//! that [serves](crate::active::Peer::serve) or [polls](crate::active::Peer::poll), or it can
//! [start a thread](crate::active::Peer::start) that serves. If several threads serve a [poll
//! group](crate::active::PollGroup), one of them receives. If a handler runs for more than a
//! millisecond, another thread takes over.
//!
//! # Choosing the kind of handler
//!
//! | property of the handler | registration |
//! |---|---|
//! | never waits | a function: [`on`](crate::active::Builder::on), [`function`](crate::active::Builder::function) |
//! | rarely waits | an `async` function: [`on_async`](crate::active::Builder::on_async), [`async_function`](crate::active::Builder::async_function) |
//! | usually waits, or computes for a long time | either, [at a worker](crate::active::Builder::worker) |
//! | senders should retry later | a function that calls [`nack`](crate::active::Request::nack) |
//! | the request determines the work to run | a function with [tasks](crate::active::Tasks) |
//!
//! [`Handlers::counters`](crate::active::Handlers::counters) returns the number of handlers that
//! ran inline, moved, reran, or were refused, and the number of runs that exceeded their
//! [budget](crate::active::Builder::budget).
//!
//! # Replicated objects
//!
//! A [`Guarded`](crate::active::Guarded) object is at one side, and the other side reads it by
//! requests. A [`Replicated`](crate::active::Replicated) object has a copy at each of several
//! members. Reads are local. A write is a value that is sent to all members, and that a function
//! applies to each copy; all members apply the writes in one order. A member can
//! [wait](crate::active::Replicated::wait) until its copy has a given state. Objects that are read
//! more often than written should be replicated, such as the bound of a search; a queue of jobs
//! should not be. If a member is lost, writes and waits fail with
//! [`ReplicaError::Lost`](crate::active::ReplicaError::Lost), which names it.
//!
//! # Errors
//!
//! A request ends with a reply, or with a [`RequestError`](crate::active::RequestError). The error
//! states whether the request was not sent, was returned, or may have run. If a handler panics,
//! only its request fails; with `panic = "abort"`, the process ends. After a `fork`, the child has
//! none of the threads and must create its own connections. Requests over the connections of its
//! parent fail with [`RequestError::Forked`](crate::active::RequestError::Forked).
