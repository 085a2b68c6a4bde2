//! Which receive gets which message.

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
pub use outcome::{
    Arrival, Claim, Ended, Matched, MessageId, Post, PostError, Probed, ReceiveId, Stray, Unposted,
};
pub use sources::Bounds;
