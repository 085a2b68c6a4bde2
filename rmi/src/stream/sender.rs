//! Senders, which supply the items of a stream from any thread or task.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::{fmt, thread};

use jstream::Transportable;
use jstream_active::Attendant;

use crate::session::{Tasks, until_ready};
use crate::stream::channel::{Channel, Put, SenderState};
use crate::stream::handle::Stream;
use crate::stream::source::Source;
use crate::support::{FirstWait, lock};

/// Creates a stream whose items come from a [`Sender`]. Up to `capacity` items are buffered (at
/// least one).
///
/// ```
/// let (sender, stream) = jstream_rmi::stream::<u64>(16);
/// std::thread::spawn(move || {
///     for n in 0..100 {
///         sender.send(n).wait()?;
///     }
///     Ok::<_, jstream_rmi::Unwanted<u64>>(())
/// });
/// let numbers: Result<Vec<u64>, _> = stream.map(|item| item.map(|n| *n.get())).collect();
/// assert_eq!(numbers.unwrap().len(), 100);
/// ```
#[must_use]
pub fn stream<T>(capacity: usize) -> (Sender<T>, Stream<T>)
where
    T: Transportable + Send + 'static,
{
    let channel = Arc::new(Channel {
        state: Mutex::new(SenderState {
            items: VecDeque::new(),
            // Without room for one item, no item would ever be sent.
            capacity: capacity.max(1),
            senders: 1,
            has_failed: false,
            is_unwanted: false,
            pump: None,
        }),
        free: Tasks::default(),
        filled: Tasks::default(),
    });
    let stream = Stream::made(Source::Channel(channel.clone()));
    let waits = FirstWait::default();
    (Sender { channel, waits }, stream)
}

/// Sends the items of a [`stream`]. Clones send items of the same stream, which ends when the last
/// sender is dropped.
///
/// Once the stream is being sent to a peer, each sender also drives its transmission, as far as the
/// peer takes the items. If a thread that owns a sender panics, the stream ends with
/// [`StreamError::Panicked`].
///
/// [`StreamError::Panicked`]: super::StreamError::Panicked
pub struct Sender<T: Transportable + Send + 'static> {
    channel: Arc<Channel<T>>,
    waits: FirstWait,
}

/// Error of a sender whose stream is no longer consumed: the stream was dropped, its peer wants no
/// more items, or the peer is lost. Contains the item.
#[derive(jstream_derive::ErrorDebug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the items of the stream are no longer taken")]
pub struct Unwanted<T>(pub T);

impl<T: Transportable + Send + 'static> Sender<T> {
    /// Sends an item as soon as there is room. The returned future must be awaited or [waited
    /// for](Sending::wait).
    pub fn send(&self, item: T) -> Sending<'_, T> {
        Sending {
            sender: self,
            item: Some(item),
            attendant: None,
        }
    }

    /// Returns true if the items are no longer consumed.
    #[must_use]
    pub fn is_unwanted(&self) -> bool {
        lock(&self.channel.state).is_unwanted
    }
}

impl<T: Transportable + Send + 'static> Clone for Sender<T> {
    fn clone(&self) -> Self {
        let mut state = lock(&self.channel.state);
        state.senders = state.senders.saturating_add(1);
        drop(state);
        Self {
            channel: self.channel.clone(),
            waits: FirstWait::default(),
        }
    }
}

impl<T: Transportable + Send + 'static> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = lock(&self.channel.state);
        state.senders = state.senders.saturating_sub(1);
        // A sender that unwinds has not sent all its items, so the stream must not look complete.
        state.has_failed |= thread::panicking();
        let ends = state.senders == 0 || state.has_failed;
        drop(state);
        if ends {
            self.channel.filled.wake_all();
            // Driving runs code of the program. A second panic during the unwinding would abort the
            // process.
            if !thread::panicking() {
                // The end is sent by this thread, because perhaps no thread waits for the call at
                // present.
                self.channel.drive(None);
            }
        }
    }
}

impl<T: Transportable + Send + 'static> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.channel.state);
        f.debug_struct("Sender")
            .field("waiting", &state.items.len())
            .field("is_unwanted", &state.is_unwanted)
            .finish_non_exhaustive()
    }
}

/// An item that is being sent. It is sent when this is awaited or [waited for](Self::wait).
#[must_use = "an item is sent only if this is awaited or waited for"]
pub struct Sending<'s, T: Transportable + Send + 'static> {
    sender: &'s Sender<T>,
    item: Option<T>,
    /// Receives for the connection while a task waits.
    attendant: Option<Attendant>,
}

impl<T: Transportable + Send + 'static> Sending<'_, T> {
    /// Blocks until there is room for the item.
    ///
    /// # Errors
    ///
    /// [`Unwanted`] if the items are no longer consumed.
    ///
    /// # Panics
    ///
    /// If the future was polled before and has completed. With the feature `tokio`, in debug
    /// builds, also if the thread runs tasks of tokio.
    #[track_caller]
    pub fn wait(mut self) -> Result<(), Unwanted<T>> {
        self.sender.waits.may_block("Sending::wait");
        // The common case has room, and needs neither a waker nor a connection.
        if let Some(sent) = self.attempt(None) {
            return sent;
        }
        let sender = self.sender;
        let line = || Some(sender.channel.pump()?.line().clone());
        let sent = until_ready(line, None, |context| {
            let sent = self.attempt(Some(context.waker()));
            sent.map_or(Poll::Pending, Poll::Ready)
        });
        match sent {
            Some(sent) => sent,
            None => unreachable!("the wait has no deadline"),
        }
    }

    /// Tries to send the item. Returns `None` if there is no room; `task` is woken when there may
    /// be.
    fn attempt(&mut self, task: Option<&Waker>) -> Option<Result<(), Unwanted<T>>> {
        let channel = &self.sender.channel;
        let mut is_last = false;
        loop {
            let Some(item) = self.item.take() else {
                panic!("the item has already been sent");
            };
            match channel.put(item) {
                Put::Done => {
                    // No task is registered: the item is in the channel, and the wait for room is
                    // that of the next one.
                    channel.drive(None);
                    return Some(Ok(()));
                }
                Put::Unwanted(item) => return Some(Err(Unwanted(item))),
                Put::Full(item) => self.item = Some(item),
            }
            // Once more after the registration, which finds room that has become free in between.
            if std::mem::replace(&mut is_last, true) {
                return None;
            }
            if let Some(task) = task {
                channel.free.register(task);
            }
            // The drive may send items, and so make the room that the second attempt uses.
            channel.drive(task);
        }
    }
}

impl<T: Transportable + Send + 'static> Future for Sending<'_, T> {
    type Output = Result<(), Unwanted<T>>;

    /// # Panics
    ///
    /// If the future has completed before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        loop {
            if let Some(sent) = self.attempt(Some(context.waker())) {
                return Poll::Ready(sent);
            }
            // No other thread may be receiving for the connection.
            if self.attendant.is_none() {
                let pump = self.sender.channel.pump();
                self.attendant = pump.and_then(|pump| pump.line().attendant());
            }
            let attendant = self.attendant.as_mut();
            if !attendant.is_some_and(|attendant| attendant.attend(context.waker())) {
                return Poll::Pending;
            }
        }
    }
}

/// No part of it is pinned structurally.
impl<T: Transportable + Send + 'static> Unpin for Sending<'_, T> {}

impl<T: Transportable + Send + 'static> fmt::Debug for Sending<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sending")
            .field("sender", self.sender)
            .field("is_sent", &self.item.is_none())
            .finish()
    }
}
