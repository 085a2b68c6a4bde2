//! Ranks: which receive do I want?
//!
//! | I know | I want | take |
//! |---|---|---|
//! | how long the message is at most | it in my array | [`recv`](crate::rank::Rank::recv) |
//! | that several will come, in any order | each in its array | [`scope`](crate::rank::Rank::scope), and `irecv` there |
//! | nothing of its length | it in a jbuf, to be kept or sent on | [`recv_filled`](crate::rank::Rank::recv_filled) |
//! | nothing of its length | it in an array of the right length | [`probe`](crate::rank::Rank::probe), then [`Probed::recv`](crate::rank::Probed::recv) |
//! | nothing at all | to decide by sender and tag who receives it | [`probe`](crate::rank::Rank::probe) with [`Source::Any`](crate::rank::Source::Any) |
//! | that one will come | to compute meanwhile | [`irecv`](crate::rank::Rank::irecv), then `wait`, `test` or `.await` |
//! | that many will come | whichever is first | several `irecv`, then [`wait_any`](crate::rank::wait_any) |
//! | that the same will come again and again | no new request each time | [`recv_init`](crate::rank::Rank::recv_init) |
//! | that it is an object | to read it in place | [`recv_object`](crate::rank::Rank::recv_object) |
//!
//! A posted receive is the fastest: when the message comes, its payload goes to where it is wanted. A message that
//! comes before its receive waits in a jbuf, and is copied once more, unless it is received as a jbuf.
//!
//! ```
//! use jstream_transport::rank::{self, Rank, Source, Tag};
//!
//! /// Halves the numbers of whoever asks, until all have said goodbye.
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
//! # Which send
//!
//! [`send`](crate::rank::Rank::send) returns when the array may be changed. A short message travels at once and
//! may wait at the other side; one longer than [`eager`](crate::rank::Rank::eager) waits here until a receive has
//! it. [`ssend`](crate::rank::Rank::ssend) always does, and so tells that the other side has come that far. Two ranks
//! that send each other long messages, and receive only afterwards, wait for ever: use
//! [`sendrecv`](crate::rank::Rank::sendrecv), or post one of the two.
//!
//! A rank that has sent more than the [bounds](crate::rank::Options::bounds) of the other side allow waits with the next
//! one until something is received there; what it posted goes on when it waits for anything, or by itself when nobody asks for
//! it any more. Where only the bytes are too many, a message is announced instead, so that it can be received
//! before those that came earlier. What waits holds up nothing else: answers pass, in both directions, and so do
//! the payloads of long messages. But who receives a message that stands behind too many others waits for ever, as those
//! have to be received first: raise the bounds where that is so.
//!
//! # What goes wrong
//!
//! A message that is too long, or has other elements, ends its receive with
//! [`Truncated`](crate::rank::Error::Truncated) or [`WrongElements`](crate::rank::Error::WrongElements): it is gone,
//! and the next one is received as usual. A rank that ends, or whose connection is lost, ends what waits for it with
//! [`PeerGone`](crate::rank::Error::PeerGone); receives from any source go on until nobody is left. Before the
//! process ends, [`finish`](crate::rank::Rank::finish) waits until all that was sent is received.
