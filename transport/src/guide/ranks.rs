//! Ranks: choosing the right receive and send.
//!
//! | known in advance | goal | use |
//! |---|---|---|
//! | the maximum length of the message | receive into an array of the program | [`recv`](crate::rank::Rank::recv) |
//! | several messages will arrive, in any order | receive each into its own array | [`scope`](crate::rank::Rank::scope), with `irecv` in it |
//! | no length | receive into a buffer of the pool, to keep it or send it on | [`recv_filled`](crate::rank::Rank::recv_filled) |
//! | no length | receive into an array of the right length | [`probe`](crate::rank::Rank::probe), then [`Probed::recv`](crate::rank::Probed::recv) |
//! | neither sender nor tag | choose the receiver by sender and tag | [`probe`](crate::rank::Rank::probe) with [`Source::Any`](crate::rank::Source::Any) |
//! | one message will arrive | compute meanwhile | [`irecv`](crate::rank::Rank::irecv), then `wait`, `test` or `.await` |
//! | many messages will arrive | take the first one that arrives | several `irecv`, then [`wait_any`](crate::rank::wait_any) |
//! | the same receive is repeated many times | avoid a new request for each message | [`recv_init`](crate::rank::Rank::recv_init) |
//! | the message is an object | read it in place | [`recv_object`](crate::rank::Rank::recv_object) |
//!
//! A posted receive is the fastest: when the message arrives, its payload goes directly to the
//! memory of the receive. A message that arrives before its receive is queued in a buffer of the
//! pool. It is copied once more when it is received, unless it is received as a buffer.
//!
//! ```
//! use jstream_transport::rank::{self, Rank, Source, Tag};
//!
//! /// Halves the numbers of each message, until all other ranks have sent an empty message.
//! fn serve(rank: &Rank) -> Result<(), rank::Error> {
//!     let mut left = rank.size() - 1;
//!     while left > 0 {
//!         let found = rank.probe(Source::Any, Tag::Any)?;
//!         let status = found.status();
//!         let mut numbers = vec![0.0; status.len::<f64>()];
//!         found.recv(&mut numbers)?;
//!         if numbers.is_empty() {
//!             left -= 1;
//!         } else {
//!             numbers.iter_mut().for_each(|number| *number /= 2.0);
//!             rank.send(status.source, status.tag, &numbers)?;
//!         }
//!     }
//!     Ok(())
//! }
//!
//! fn ask(rank: &Rank) -> Result<(), rank::Error> {
//!     let mut numbers = [f64::from(rank.rank()); 3];
//!     rank.send(0, 1, &numbers)?;
//!     rank.recv(0, 1, &mut numbers)?;
//!     assert_eq!(numbers, [f64::from(rank.rank()) / 2.0; 3]);
//!     rank.send(0, 1, &[0.0; 0])
//! }
//!
//! # fn main() -> Result<(), rank::Error> {
//! let ranks = rank::threads(3, &rank::Options::default());
//! std::thread::scope(|scope| {
//!     for rank in &ranks[1..] {
//!         scope.spawn(move || ask(rank).unwrap());
//!     }
//!     serve(&ranks[0])
//! })
//! # }
//! ```
//!
//! # Choosing the send
//!
//! [`send`](crate::rank::Rank::send) returns when the array may be changed. A short message is sent
//! eagerly and may be queued at the receiver. A message longer than
//! [`eager`](crate::rank::Rank::eager) blocks until a receive matches it.
//! [`ssend`](crate::rank::Rank::ssend) always blocks until a receive matches, so its return shows
//! that the receiver has got that far. Two ranks that send each other long messages before they
//! receive deadlock: use [`sendrecv`](crate::rank::Rank::sendrecv), or post one of the two
//! operations.
//!
//! If the unexpected messages from a rank reach the [bounds](crate::rank::Options::bounds) of the
//! receiver, the next send of that rank blocks until the receiver has received some. A posted send
//! continues when its rank waits for any operation; if its request was dropped, it continues in the
//! background. If only the number of bytes exceeds the bounds, the message is announced without its
//! payload, so that it can be received before earlier messages. A blocked message delays no
//! protocol replies and no payloads of long messages, in either direction. However, a receive can
//! deadlock if its message follows more unexpected messages than the bounds permit, because those
//! have to be received first. In that case, raise the bounds.
//!
//! # Errors
//!
//! If a message is too long for its receive, or has another element type, the receive fails with
//! [`Truncated`](crate::rank::Error::Truncated) or
//! [`WrongElements`](crate::rank::Error::WrongElements). That message is dropped; the next one is
//! received as usual. If a rank ends or its connection is lost, the operations that depend on it
//! fail with [`PeerGone`](crate::rank::Error::PeerGone). Receives from any source continue until no
//! other rank is left. Call [`finish`](crate::rank::Rank::finish) before the process ends: it
//! blocks until everything that was sent has been received.
