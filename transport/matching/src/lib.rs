//! Message matching as in MPI: which receive gets which message, by context, source and tag.
//!
//! A [`Matcher`] holds the posted receives and the unexpected messages of one rank. It does no I/O,
//! takes no lock and starts no thread: a program with its own transport tells it what
//! [arrives](Matcher::arrive) and what is [posted](Matcher::post), and is told the matches. The
//! program can keep a value with each receive and each message.
//!
//! ```
//! use jstream_transport::matching::{Arrival, Envelope, Heading, Matcher, Pattern, Post};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // In this example, a receive is kept with a name, and a message with its text.
//! let mut matcher: Matcher<&str, &str> = Matcher::default();
//! let (anna, ben) = (matcher.add_source(), matcher.add_source());
//! let context = 0;
//! let message = |source, tag, text: &str| {
//!     Heading::new(Envelope { context, source, tag }, text.len() as u64)
//! };
//!
//! // The first receive that matches gets the message, even if a later one is more specific.
//! matcher.post(Pattern::any(context).tagged(7), None, "a seven from anybody")?;
//! matcher.post(Pattern::any(context).sent_by(ben).tagged(7), None, "a seven from Ben")?;
//! let Arrival::Matched(first) = matcher.arrive(message(ben, 7, "one"), "one")? else { panic!() };
//! assert_eq!(first.receive, "a seven from anybody");
//!
//! // A message without a matching receive waits for one.
//! matcher.arrive(message(anna, 8, "two"), "two")?;
//! let Post::Matched(second) = matcher.post(Pattern::any(context).sent_by(anna), None, "from Anna")?
//!     else { panic!() };
//! assert_eq!((second.message, second.heading.envelope.tag), ("two", 8));
//!
//! // A message that was claimed by a probe is hidden from all other receives.
//! matcher.arrive(message(anna, 9, "three"), "three")?;
//! let claim = matcher.claim(&Pattern::any(context)).unwrap();
//! let buffer = String::with_capacity(claim.heading().length as usize);
//! assert!(matcher.claim(&Pattern::any(context)).is_none());
//! assert_eq!(buffer + matcher.take(claim).1, "three");
//!
//! // When Ben ends, receives that only Ben could match end, too.
//! let ended = matcher.end_source(ben);
//! assert_eq!(ended[0].receive, "a seven from Ben");
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//!
//! - Messages of one source are matched in the order in which they arrived, as far as a receive
//!   matches both. Receives are matched in the order in which they were posted, as far as a message
//!   matches both, with or without wildcards.
//! - A receive with source and tag is found, and finds its message, through a hash table. The
//!   number of operations is the same for one and for 100,000 waiting entries, though more of them
//!   miss the processor's caches. Receives with wildcards are found through the same table. A
//!   receive with a wildcard searches its message in the order of arrival, in a contiguous array of
//!   envelopes.
//! - Cancelling, withdrawing and claiming take constant time, once the number is known or the
//!   message is found.
//! - Memory is allocated only when the number of waiting entries reaches a new maximum.
//! - The waiting messages of one source are [bounded](Bounds). A source that exceeds its bounds has
//!   to [wait](Arrival::Full); other sources do not.
//! - The hash is randomly keyed, so that peers can't choose tags that collide.
//!
//! # Matching before the payload
//!
//! A header is sufficient for a match: [`arrive`](Matcher::arrive) is called before the payload is
//! read, and returns its destination. If a receive was posted, the payload goes directly into the
//! memory of that receive. Otherwise the message waits while its payload is still being received,
//! and [`message_mut`](Matcher::message_mut) gives access to complete it. A receive that matches
//! the message meanwhile gets the part that is known, and its owner decides how to wait for the
//! rest.
//!
//! A large message is only [announced](Heading::announced): its source sends the payload after the
//! match. It takes no memory here, but counts as a message.
//!
//! # Waiting probes
//!
//! A probe that waits is posted as a receive, with the prober kept in it. After the match, only the
//! prober has the message.
//!
//! # Types
//!
//! A receive may state the expected element type of its message, as a number that is only compared.
//! The type does not affect the match, because an error is better than a receive that waits
//! forever. [`Matched::agrees`] compares the types.
//!
//! # Backpressure
//!
//! A source that got [`Arrival::Full`] must keep that message and all messages behind it. It can
//! continue when there is room, or when a receive for that message is posted.
//! [`next_ready`](Matcher::next_ready) then returns the source, and the same message must arrive
//! again. A probe does not see messages that a source keeps: a program that probes for a message
//! behind a full queue has to receive from that queue.

mod envelope;
mod hash;
mod lanes;
mod matcher;
mod outcome;
mod posted;
mod sources;
mod unexpected;

pub use envelope::{Envelope, Heading, Pattern};
pub use matcher::Matcher;
#[doc(hidden)]
pub use outcome::Posting;
pub use outcome::{
    Arrival, Claim, Ended, Matched, MessageId, Post, PostError, Probed, ReceiveId, Stray, Unposted,
};
pub use sources::Bounds;
