//! Which receive gets which message: by context, source and tag, as in MPI.
//!
//! A [`Matcher`] has the receives that wait for messages and the messages that wait for receives, of one
//! rank. It does no input and output, takes no lock and starts nothing: a program that has its own way to
//! carry messages tells it what [arrives](Matcher::arrive) and what is [posted](Matcher::post), and hears
//! who gets what. It keeps whatever the program wants kept with either.
//!
//! ```
//! use jstream_transport::matching::{Arrival, Envelope, Heading, Matcher, Pattern, Post};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A receive is kept with its name here, a message with its text.
//! let mut matcher: Matcher<&str, &str> = Matcher::default();
//! let (anna, ben) = (matcher.add_source(), matcher.add_source());
//! let context = 0;
//! let message = |source, tag, text: &str| {
//!     Heading::new(Envelope { context, source, tag }, text.len() as u64)
//! };
//!
//! // The first receive that matches gets the message, whatever it says beside.
//! matcher.post(Pattern::any(context).tagged(7), None, "a seven from anybody")?;
//! matcher.post(Pattern::any(context).sent_by(ben).tagged(7), None, "a seven from Ben")?;
//! let Arrival::Matched(first) = matcher.arrive(message(ben, 7, "one"), "one")? else { panic!() };
//! assert_eq!(first.receive, "a seven from anybody");
//!
//! // A message that nobody wants waits for its receive.
//! matcher.arrive(message(anna, 8, "two"), "two")?;
//! let Post::Matched(second) = matcher.post(Pattern::any(context).sent_by(anna), None, "from Anna")?
//!     else { panic!() };
//! assert_eq!((second.message, second.heading.envelope.tag), ("two", 8));
//!
//! // What a probe has claimed, nobody else receives.
//! matcher.arrive(message(anna, 9, "three"), "three")?;
//! let claim = matcher.claim(&Pattern::any(context)).unwrap();
//! let buffer = String::with_capacity(claim.heading().length as usize);
//! assert!(matcher.claim(&Pattern::any(context)).is_none());
//! assert_eq!(buffer + matcher.take(claim).1, "three");
//!
//! // Ben is gone, and so is what only he could have sent.
//! let ended = matcher.end_source(ben);
//! assert_eq!(ended[0].receive, "a seven from Ben");
//! # Ok(())
//! # }
//! ```
//!
//! # What is promised
//!
//! - Messages of one source are matched in the order in which they arrived, as far as a receive matches
//!   both. Receives are matched in the order in which they were posted, as far as a message matches both,
//!   and whether they have wildcards or not.
//! - A receive with source and tag is found, and finds its message, by a hash: as much is looked at
//!   whether one or 100,000 wait, but of so many less is in the caches of the processor. Receives with
//!   wildcards are found so as well. A receive with a wildcard looks
//!   for its message in the order of arrival, through envelopes that stand side by side, apart from what
//!   is kept with the messages.
//! - Cancelling, withdrawing and claiming take constant time, once the number is known or the message found.
//! - Nothing is allocated once there is room for as many as wait at once.
//! - What waits of one source is [bounded](Bounds). A source that exceeds it has to
//!   [wait](Arrival::Full), and no other.
//! - The hash has random keys, so that no peer can choose tags that meet in it.
//!
//! # In two stages
//!
//! A header is enough to match: [`arrive`](Matcher::arrive) comes before the payload is read, and says
//! where it goes. Where a receive waited, straight into its memory. Else the message waits with the
//! payload still on its way, and [`message_mut`](Matcher::message_mut) is for whoever completes it. A receive
//! that matches it meanwhile gets what is known so far, and waits for the rest as its owner likes.
//!
//! A large message is only [announced](Heading::announced): its source sends it when it is matched. It holds
//! no memory here, but counts as a message.
//!
//! # Waiting for a message without receiving it
//!
//! A probe that waits is a receive that is posted like others, with the prober kept in it. When it is
//! matched, the message is the prober's alone.
//!
//! # Types
//!
//! A receive may say what the elements of its message have to be, by a number that is only compared. It
//! chooses no message by it, as an error is better than a receive that waits for ever:
//! [`Matched::agrees`] tells.
//!
//! # Who has to wait
//!
//! A source that got [`Arrival::Full`] keeps that message, and all behind it. It can go on when there is
//! room, or when a receive is posted for that message; then [`next_ready`](Matcher::next_ready) names it, and
//! the same message is to arrive again. A probe does not see what a source keeps: a program that probes for
//! what stands behind a full queue has to receive from that queue.

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
pub(crate) use outcome::Posting;
pub use outcome::{
    Arrival, Claim, Ended, Matched, MessageId, Post, PostError, Probed, ReceiveId, Stray, Unposted,
};
pub use sources::Bounds;
