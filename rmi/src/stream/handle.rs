//! The handle of a stream, by which its items are taken.

use std::cell::RefCell;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use jstream::Transportable;

use crate::session::{Line, until_ready};
use crate::stream::error::StreamError;
use crate::stream::item::{Item, Items};
use crate::stream::made::{Here, local};
use crate::stream::receiving::Receiving;
use crate::stream::source::{Iterated, Make, Polled, Source};
use crate::support::FirstWait;

/// A sequence of values of type `T`, as an argument or the result of a remote method.
///
/// The producer creates a stream from an [iterator](Self::of), from a [function that is
/// polled](Self::polled), or with a [`Sender`](crate::Sender). The consumer takes its items in a
/// loop: with [`next`](Self::next), which can be awaited or waited for, or as a blocking iterator.
/// Each item is in its receive buffer.
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
/// let client = Client::connect(serving.address()).wait()?;
/// let numbers = client.lookup::<dyn Numbers>("numbers").wait()?;
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
/// # Flow control
///
/// Items are sent before the receiver asks for them, until its window is full. The window limits
/// the number of items and bytes that the receiver has not taken. After that, items are made no
/// faster than they are taken. If small items are made faster than they are sent, they share a
/// frame; an item never waits for later ones.
///
/// # The end of a stream
///
/// A stream ends when there are no more items, or with an error after the items that were sent
/// before it. If producing an item can fail, use `Result` as the item type. Dropping a stream
/// informs its source: an iterator is dropped, and senders get their items back as
/// [`Unwanted`](crate::Unwanted).
///
/// A stream from a peer can be passed on, as an argument or as a result, if no item was taken from
/// it. Its frames are then forwarded in their receive buffers, as fast as the final receiver takes
/// them, and only the final receiver checks them. If items were taken, create a new stream of the
/// rest with [`polled`](Self::polled). Passing on the original instead fails: at the receiver with
/// [`GivenUp`](StreamError::GivenUp), or with an error of the call. If the original stream fails,
/// the final receiver only learns that it has failed ([`Unsent`](StreamError::Unsent)); likewise if
/// a frame has more items than the final receiver's window. A stream that would be
/// [resumed](crate::guide::restarts) is not, once it was passed on.
///
/// A stream belongs to its call and shares its deadline: use [`Stub::within`](crate::Stub::within)
/// to give it more time than other calls. A result stream makes progress while it is polled, and
/// dropping it cancels the call. Argument streams make progress while the call or its result is
/// waited for, and end with it.
pub struct Stream<T: Transportable + 'static> {
    pub(super) of: Of<T>,
    pub(super) waits: FirstWait,
}

pub(super) enum Of<T: Transportable + 'static> {
    /// Items that this program makes.
    Here(Box<dyn Here<T>>, Items<T>),
    Peer(Receiving<T>),
    /// Items of a peer that are requested again over another connection if this one is lost: the
    /// present attempt, if there is one, and the source of further ones.
    Resumed(Option<Box<Stream<T>>>, Box<dyn Resumption<T>>),
    /// The result of a call that could not be made.
    Failed(Option<StreamError>),
}

/// The call of a stream that is made again when its connection is lost. Holds no items, so that it
/// can always be sent to another thread.
pub(crate) trait Resumption<T: Transportable + 'static>: Send {
    /// Polls for the next item of the present attempt, which may be replaced or end meanwhile.
    fn poll_next(
        &mut self,
        attempt: &mut Option<Box<Stream<T>>>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>>;

    /// Returns true if an item was taken.
    fn has_begun(&self) -> bool;
}

impl<T: Transportable + Send + 'static> Stream<T> {
    /// Creates a stream of the values of an iterator. The iterator is advanced when there is room
    /// for more items, on the thread that sends or takes the stream.
    ///
    /// An iterator that blocks also blocks that thread. For items that become available from time
    /// to time, use a [`Sender`](crate::Sender).
    pub fn of<I>(values: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self::new(Iterated::new(values.into_iter()))
    }

    /// Creates a stream of the values of a function, which is polled until it returns `None`.
    pub fn polled<F>(poll: F) -> Self
    where
        F: FnMut(&mut Context<'_>) -> Poll<Option<T>> + Send + 'static,
    {
        Self::new(Polled(poll))
    }

    fn new(make: impl Make<T> + 'static) -> Self {
        Self::made(Source::Made(Box::new(make)))
    }

    pub(super) fn made(source: Source<T>) -> Self {
        Self {
            of: Of::Here(local(source), Items::none()),
            waits: FirstWait::default(),
        }
    }
}

impl<T: Transportable + 'static> Stream<T> {
    /// Returns the next item as a future, which can also be [waited for](Next::wait). The item is
    /// `None` at the end of the stream and after an error.
    #[allow(
        clippy::should_implement_trait,
        reason = "it is an iterator too, which blocks"
    )]
    pub fn next(&mut self) -> Next<'_, T> {
        Next { stream: self }
    }

    /// Polls for the next item.
    pub fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Item<T>, StreamError>>> {
        match &mut self.of {
            Of::Here(made, items) => loop {
                if let Some(item) = items.next() {
                    return Poll::Ready(Some(Ok(item)));
                }
                // The buffer is given back before the next item is waited for, which may take long.
                items.release();
                match made.poll_frame(context) {
                    Poll::Ready(Some(Ok(frame))) => items.load(frame),
                    Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                    Poll::Ready(None) => return Poll::Ready(None),
                    Poll::Pending => return Poll::Pending,
                };
            },
            Of::Peer(receiving) => receiving.poll_next(context),
            Of::Resumed(attempt, resumption) => resumption.poll_next(attempt, context),
            Of::Failed(error) => Poll::Ready(error.take().map(Err)),
        }
    }

    /// Creates a stream that is requested again when its connection is lost.
    pub(crate) fn resumed(
        attempt: Option<Box<Self>>,
        resumption: impl Resumption<T> + 'static,
    ) -> Self {
        Self {
            of: Of::Resumed(attempt, Box::new(resumption)),
            waits: FirstWait::default(),
        }
    }

    /// Returns true if the end of the stream is known, apart from items that were not taken yet.
    pub(crate) fn has_arrived(&self) -> bool {
        match &self.of {
            Of::Peer(receiving) => receiving.has_arrived(),
            Of::Here(..) | Of::Resumed(..) | Of::Failed(_) => true,
        }
    }

    /// Returns the connection over which the items arrive.
    pub(crate) fn line(&self) -> Option<Arc<dyn Line>> {
        match &self.of {
            Of::Peer(receiving) => Some(receiving.line().clone()),
            Of::Resumed(attempt, _) => attempt.as_ref()?.line(),
            Of::Here(..) | Of::Failed(_) => None,
        }
    }
}

impl<T: Transportable + 'static> fmt::Debug for Stream<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = match &self.of {
            Of::Here(..) => "here",
            Of::Peer(_) => "peer",
            Of::Resumed(..) => "resumed",
            Of::Failed(_) => "failed",
        };
        f.debug_struct("Stream").field("of", &of).finish()
    }
}

/// Future of the next item of a [`Stream`].
#[derive(Debug)]
#[must_use = "an item is taken only if this is awaited or waited for"]
pub struct Next<'s, T: Transportable + 'static> {
    stream: &'s mut Stream<T>,
}

impl<T: Transportable + 'static> Next<'_, T> {
    /// Blocks until the next item, or the end of the stream, arrives.
    ///
    /// # Errors
    ///
    /// A [`StreamError`], after which there are no more items.
    ///
    /// # Panics
    ///
    /// With the feature `tokio`, in debug builds, if the thread runs tasks of tokio.
    #[track_caller]
    pub fn wait(self) -> Option<Result<Item<T>, StreamError>> {
        self.wait_until(None).flatten()
    }

    /// Like [`wait`](Self::wait), with a timeout. Returns `None` if the time is over.
    #[track_caller]
    pub fn wait_timeout(self, timeout: Duration) -> Option<Option<Result<Item<T>, StreamError>>> {
        self.wait_until(Instant::now().checked_add(timeout))
    }

    #[track_caller]
    fn wait_until(self, until: Option<Instant>) -> Option<Option<Result<Item<T>, StreamError>>> {
        self.stream.waits.may_block("Stream::next");
        // A stream that is resumed changes its connection.
        let line = RefCell::new(None);
        until_ready(
            || line.borrow().clone(),
            until,
            |context| {
                let polled = self.stream.poll_next(context);
                if polled.is_pending() {
                    // Dropping the last handle of a connection runs code.
                    drop(line.replace(self.stream.line()));
                }
                polled
            },
        )
    }
}

impl<T: Transportable + 'static> Future for Next<'_, T> {
    type Output = Option<Result<Item<T>, StreamError>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.stream.poll_next(context)
    }
}

/// Iterates over the items, blocking for each of them.
impl<T: Transportable + 'static> Iterator for Stream<T> {
    type Item = Result<Item<T>, StreamError>;

    fn next(&mut self) -> Option<Self::Item> {
        Self::next(self).wait()
    }
}

/// No part of it is pinned structurally.
impl<T: Transportable + 'static> Unpin for Stream<T> {}
