//! Layer 6: streams of values, as arguments and results of remote methods.
//!
//! Imports the layers before it, up to `reference`.

mod call;
mod channel;
mod error;
mod feed;
mod frames;
mod handle;
mod item;
mod local_call;
mod made;
mod pump;
mod receiving;
mod sender;
mod source;

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests;

pub use self::call::{Carried, Taken};
pub use self::error::StreamError;
pub(crate) use self::handle::Resumption;
pub use self::handle::{Next, Stream};
pub use self::item::Item;
pub(crate) use self::pump::{Ended, Pumps};
pub use self::sender::{Sender, Sending, Unwanted, stream};
