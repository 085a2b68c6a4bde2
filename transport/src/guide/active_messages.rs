//! Active messages: requests that name the handler which runs where they arrive.
//!
//! Both sides of a connection [join](crate::active::Peer::join) with a table of
//! [`Handlers`](crate::active::Handlers), and find those of the other side by name. What a handler takes may be bytes and
//! a word, or an object that stands in the receive buffer.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jstream::Received;
//! use jstream_transport::active::{Bundle, Guarded, Handlers, Peer, Settings};
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
//!     // Waits until there is enough; nobody else waits for it.
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
//!     // One thread serves all connections of a bundle.
//!     let bundle = Bundle::default();
//!     let endpoint = listener.accept().unwrap().establish().unwrap();
//!     bundle.add(&Peer::join(endpoint, &handlers, Settings::default()).unwrap());
//!     bundle.serve();
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
//! # Who serves
//!
//! Nothing is received by itself. Whoever [waits](crate::active::Ticket::wait) for an answer, or polls its ticket as a
//! future, serves the bundle of its connection meanwhile. A side that waits for nothing has a thread that
//! [serves](crate::active::Peer::serve), [polls](crate::active::Peer::poll) where it suits, or
//! [starts a thread](crate::active::Peer::start) for that. Of several such threads of a
//! [bundle](crate::active::PollGroup) one receives, and another one goes on where a handler runs for more than a
//! millisecond.
//!
//! # Which kind of handler
//!
//! | a handler | is given as |
//! |---|---|
//! | that never waits | a function: [`on`](crate::active::Builder::on), [`function`](crate::active::Builder::function) |
//! | that seldom waits | an `async` function: [`on_async`](crate::active::Builder::on_async), [`async_function`](crate::active::Builder::async_function) |
//! | that nearly always waits, or computes for long | either, [at a worker](crate::active::Builder::worker) |
//! | whose senders had better come back | a function that [nacks](crate::active::Request::nack) |
//! | that finds out from its request what is to be run | a function with [tasks](crate::active::Tasks) |
//!
//! [`Handlers::counters`](crate::active::Handlers::counters) say how many ran inline, moved, were run again or refused, and
//! how many ran over the [budget](crate::active::Builder::budget) that was given for them.
//!
//! # What can go wrong
//!
//! A request ends with a reply, or with a [`RequestError`](crate::active::RequestError), which says whether it was not
//! sent, came back, or may have run. A handler that panics costs its request and nothing else. Under
//! `panic = "abort"` it ends the process. After a `fork` the child has none of the threads: it makes connections of its
//! own, and those of its parent are refused, as
//! [`RequestError::Forked`](crate::active::RequestError::Forked).
