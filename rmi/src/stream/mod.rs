//! Streams of values, as arguments and results of remote methods.

mod call;
mod feed;
mod flow;
mod frames;
mod inbox;
mod item;
mod line;
mod made;
mod nowhere;
mod pump;
mod receiving;
mod sender;
mod source;
mod tasks;
mod wire;
mod word;

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream::{ReadError, Transportable, WriteError};

pub use self::call::{Carried, Taken};
pub use self::item::Item;
use self::item::Items;
pub use self::sender::{Sender, Sending, Unwanted, stream};

pub(crate) use self::flow::Stop;
pub(crate) use self::line::Line;
pub(crate) use self::pump::{Ended, Pumps};
pub(crate) use self::tasks::{Tasks, until_ready};
pub(crate) use self::wire::{Wire, streamed};
pub(crate) use self::word::Window;

use self::made::Here;
use self::receiving::Receiving;
use self::source::{Iterated, Make, Polled, Source};
use crate::error::CallError;

/// Values of type `T`, one after another: an argument of a remote method, or its result.
///
/// Whoever gives a stream makes it [of an iterator](Self::of), of a [function that is polled](Self::polled), or with
/// a [`Sender`]. Whoever has one takes its items in a loop, by [`next`](Self::next), which is awaited or waited for,
/// or as an iterator that blocks. Each item is in the buffer that it was received in.
///
/// ```
/// use jstream_rmi::{Client, Server, Stream, StreamError, remote};
/// use std::sync::Arc;
///
/// #[remote]
/// trait Numbers {
///     /// A stream as the result.
///     fn squares(&self, below: u64) -> Stream<u64>;
///     /// A stream as an argument.
///     async fn total(&self, numbers: Stream<f64>) -> f64;
/// }
///
/// struct Plain;
///
/// #[remote]
/// impl Numbers for Plain {
///     fn squares(&self, below: u64) -> Stream<u64> {
///         Stream::of((0..below).map(|n| n * n))
///     }
///
///     async fn total(&self, mut numbers: Stream<f64>) -> f64 {
///         let mut total = 0.0;
///         while let Some(Ok(number)) = numbers.next().await {
///             total += number.get();
///         }
///         total
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// server.bind::<dyn Numbers>("numbers", Arc::new(Plain))?;
/// let serving = server.listen(&"inproc://doc-streams".parse()?)?;
/// let numbers = Client::connect(serving.address())?.lookup::<dyn Numbers>("numbers")?;
///
/// let mut sum = 0;
/// for square in numbers.squares(1000) {
///     sum += square?.get();
/// }
/// assert_eq!(sum, 332_833_500);
/// let total = numbers.total(Stream::of([0.5, 1.0, 1.5])).wait()?;
/// assert_eq!(*total.get(), 3.0);
/// # Ok(())
/// # }
/// ```
///
/// # How far ahead the sender is
///
/// Items go to the other side before they are asked for, as far as its window allows: so many items and bytes that
/// it has not taken. Then they are made no faster than they are taken. Small items travel together where they
/// are made faster than they go; none of them waits for others.
///
/// # How a stream ends
///
/// When there are no more items, or with an error behind the items that came before it. A stream whose items may fail
/// has items that are `Result`s. Dropping a stream tells its source: an iterator is dropped, and senders get their items
/// back as [`Unwanted`].
///
/// A stream that comes from a peer, and of which nothing was taken, is passed on as it is, as an argument or as a result: its
/// items go on in the buffers that they came in, as fast as the last one takes them, and who takes them checks them. Of
/// one that was taken of already another one is made, by [`polled`](Self::polled): who passes it all the same is told so
/// where its items are taken ([`GivenUp`](StreamError::GivenUp)), or by an error of the call. How a stream failed
/// before it was passed on, nobody learns behind that but that it has ([`Unsent`](StreamError::Unsent)); the same where
/// more items come together than the last one takes at once.
///
/// A stream belongs to its call, whose deadline it has too: [`Stub::within`](crate::Stub::within) gives it more time
/// than other calls. One that is a result goes on while it is looked at, and dropping it gives the call up. Those that
/// are arguments go on while the call, or its result, is waited for, and end with it.
pub struct Stream<T: Transportable + 'static> {
    of: Of<T>,
}

enum Of<T: Transportable + 'static> {
    /// Items that this program makes.
    Here(Box<dyn Here<T>>, Items<T>),
    Peer(Receiving<T>),
    /// A call that could not be made.
    Failed(Option<StreamError>),
}

/// Why a stream ends before its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StreamError {
    /// The call whose result it is has failed.
    #[error(transparent)]
    Call(#[from] CallError),
    /// The connection has ended.
    #[error("the peer was lost while the items of a stream came: {reason}")]
    Lost {
        /// How it ended.
        reason: String,
    },
    /// Who sends the items has given up: the call that the stream is an argument of is over.
    #[error("the sender of a stream has given it up")]
    GivenUp,
    /// Who makes the items has panicked.
    #[error("who makes the items of a stream has panicked")]
    Panicked,
    /// The other side could not write or send an item.
    #[error("the other side could not send an item of a stream")]
    Unsent,
    /// An item could not be written, in a stream that is taken where it was made.
    #[error("an item of a stream could not be written")]
    WriteFailure(#[source] WriteError),
    /// Items could not be read.
    #[error("an item of a stream is damaged")]
    Item {
        /// What is wrong with it.
        source: ReadError,
    },
    /// The peer breaks the rules of streams.
    #[error("the peer breaks the rules of streams: {rule}")]
    Broken {
        /// What it does.
        rule: &'static str,
    },
}

impl<T: Transportable + Send + 'static> Stream<T> {
    /// The values of an iterator, which is asked for them when there is room for more: where the stream is sent,
    /// or taken.
    ///
    /// An iterator that waits holds up whoever sends: items that come now and then are for a [`Sender`].
    pub fn of<I>(values: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self::new(Iterated::new(values.into_iter()))
    }

    /// The values of a function that is polled for them until it has `None`.
    pub fn polled<F>(poll: F) -> Self
    where
        F: FnMut(&mut Context<'_>) -> Poll<Option<T>> + Send + 'static,
    {
        Self::new(Polled(poll))
    }

    fn new(make: impl Make<T> + 'static) -> Self {
        Self::made(Source::Made(Box::new(make)))
    }

    fn made(source: Source<T>) -> Self {
        Self {
            of: Of::Here(made::here(source), Items::none()),
        }
    }
}

impl<T: Transportable + 'static> Stream<T> {
    /// The next item, to be [waited for](Next::wait) or awaited: `None` when there are no more, or after an error.
    #[allow(
        clippy::should_implement_trait,
        reason = "it is an iterator too, which blocks"
    )]
    pub fn next(&mut self) -> Next<'_, T> {
        Next { stream: self }
    }

    /// The next item, or whom to wake when there may be one.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>> {
        match &mut self.of {
            Of::Here(made, items) => loop {
                if let Some(item) = items.next() {
                    return Poll::Ready(Some(Ok(item)));
                }
                items.leave();
                match made.poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => items.load(frame),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                };
            },
            Of::Peer(receiving) => receiving.poll_next(context),
            Of::Failed(error) => Poll::Ready(error.take().map(Err)),
        }
    }

    /// The connection that the items come over.
    fn line(&self) -> Option<std::sync::Arc<dyn Line>> {
        match &self.of {
            Of::Peer(receiving) => Some(receiving.line().clone()),
            Of::Here(..) | Of::Failed(_) => None,
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match &self.of {
            Of::Here(..) => "here",
            Of::Peer(_) => "peer",
            Of::Failed(_) => "failed",
        };
        f.debug_struct("Stream").field("of", &of).finish()
    }
}

/// The next item of a [`Stream`].
#[derive(Debug)]
#[must_use = "an item is taken when that is waited for"]
pub struct Next<'s, T: Transportable + 'static> {
    stream: &'s mut Stream<T>,
}

impl<T: Transportable + 'static> Next<'_, T> {
    /// Blocks until there is an item, or no more.
    ///
    /// # Errors
    ///
    /// [`StreamError`]; there are no items after that.
    pub fn wait(self) -> Option<Result<Item<T>, StreamError>> {
        self.wait_until(None).flatten()
    }

    /// As [`wait`](Self::wait), for so long at most: `None` when the time is over.
    pub fn wait_timeout(self, timeout: Duration) -> Option<Option<Result<Item<T>, StreamError>>> {
        self.wait_until(Instant::now().checked_add(timeout))
    }

    fn wait_until(self, until: Option<Instant>) -> Option<Option<Result<Item<T>, StreamError>>> {
        let line = self.stream.line();
        until_ready(
            || line.clone(),
            until,
            |context| self.stream.poll_next(context),
        )
    }
}

impl<T: Transportable + 'static> Future for Next<'_, T> {
    type Output = Option<Result<Item<T>, StreamError>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.stream.poll_next(context)
    }
}

/// Blocks for each item.
impl<T: Transportable + 'static> Iterator for Stream<T> {
    type Item = Result<Item<T>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self).wait()
    }
}

/// Nothing of it is pinned.
impl<T: Transportable + 'static> Unpin for Stream<T> {}
