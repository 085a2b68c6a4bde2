//! The interface between streams and their connection, and the table of streams.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use jstream::{Limits, MessageBuffer};
use jstream_active::Attendant;
use jstream_base::SendError;

use crate::frame::{Key, Window, Word};
use crate::session::streams::flow::{Flow, Stop};
use crate::session::streams::inbox::Inbox;
use crate::session::streams::tasks::Signal;
use crate::support::lock;

/// A connection that carries streams.
pub(crate) trait Line: Send + Sync + 'static {
    /// Sends a frame without blocking. If that is impossible now, `task` is woken when it may
    /// succeed.
    fn poll_send(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        task: &Waker,
    ) -> Poll<Result<(), SendError>>;

    /// Sends a frame without a payload, now or as soon as possible. A queued frame is replaced by a
    /// later one of the same kind and stream.
    fn post(&self, word: u64);

    /// Receives for the connection, or blocks while another thread does, until the signal is set or
    /// the time is over.
    fn wait(&self, signal: &Signal, until: Option<Instant>);

    /// Returns the attendant that lets a waiting task receive for the connection.
    fn attendant(&self) -> Option<Attendant>;

    fn streams(&self) -> &Streams;

    fn limits(&self) -> Limits;

    /// Returns the window for streams that this side receives.
    fn window(&self) -> Window;
}

/// The streams of a connection.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    streams: HashMap<Key, Half>,
    /// Number of the last stream of a call of this side.
    last: u32,
    lost: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Half {
    Sends(Arc<Flow>),
    Takes(Arc<Inbox>),
}

impl Streams {
    /// Adds a stream of a call of this side.
    pub(crate) fn begin(&self, half: Half) -> Key {
        let mut table = lock(&self.table);
        let mut number = table.last;
        // Ends, because a connection has far fewer streams than there are numbers.
        let key = loop {
            number = number.wrapping_add(1);
            let key = Key { ours: true, number };
            if !table.streams.contains_key(&key) {
                break key;
            }
        };
        table.last = number;
        table.add(key, half);
        key
    }

    /// Adds a stream of a call of the other side. Returns `None` if a stream with this number
    /// exists.
    pub(crate) fn join(&self, number: u32, half: Half) -> Option<Key> {
        let mut table = lock(&self.table);
        let key = Key {
            ours: false,
            number,
        };
        if table.streams.contains_key(&key) {
            return None;
        }
        table.add(key, half);
        Some(key)
    }

    pub(crate) fn remove(&self, key: Key) {
        let removed = lock(&self.table).streams.remove(&key);
        drop(removed);
    }

    /// Returns true if no stream is open.
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.table).streams.is_empty()
    }

    /// Returns the number of open streams of calls of the other side.
    pub(crate) fn count(&self) -> usize {
        lock(&self.table)
            .streams
            .keys()
            .filter(|key| !key.ours)
            .count()
    }

    /// Returns the number of calls of the other side whose result stream is open.
    pub(crate) fn results(&self) -> usize {
        let table = lock(&self.table);
        let open = table.streams.iter();
        open.filter(|(key, half)| !key.ours && matches!(half, Half::Sends(_)))
            .count()
    }

    /// Handles a frame. Frames of unknown streams are ignored, because the end of a stream may have
    /// crossed them. Returns false if the word is invalid.
    pub(crate) fn arrive(&self, word: u64, payload: MessageBuffer) -> bool {
        let Some((key, word)) = Word::parse(word) else {
            return false;
        };
        // The table is unlocked before the frame is delivered, which wakes tasks of the program.
        let half = lock(&self.table).streams.get(&key).cloned();
        match (half, word) {
            (Some(Half::Takes(inbox)), Word::Data { place, items }) => {
                inbox.arrive(place, items, payload);
            }
            (Some(Half::Takes(inbox)), Word::Close { reason, frames }) => {
                inbox.close(reason, frames)
            }
            (Some(Half::Sends(flow)), Word::Grant { frames }) => flow.grant(frames),
            (Some(Half::Sends(flow)), Word::Open { window }) => flow.open(window),
            (Some(Half::Sends(flow)), Word::Close { .. }) => flow.stop(Stop::Unwanted),
            (Some(Half::Takes(inbox)), Word::Grant { .. } | Word::Open { .. }) => {
                inbox.stop(Stop::Broken("it has sent a grant for its own stream"));
            }
            (Some(Half::Sends(flow)), Word::Data { .. }) => {
                flow.stop(Stop::Broken("it has sent items of a stream of ours"));
            }
            (None, _) => {}
        }
        true
    }

    /// Stops all current and future streams, because the connection has ended.
    pub(crate) fn lose(&self, reason: &Arc<str>) {
        let mut table = lock(&self.table);
        if table.lost.is_some() {
            return;
        }
        table.lost = Some(reason.clone());
        // Stopping a stream wakes its tasks, which may remove it from the table. So this is done
        // without the lock.
        let halves: Vec<_> = table.streams.values().cloned().collect();
        drop(table);
        for half in halves {
            half.lose(reason);
        }
    }
}

impl Table {
    fn add(&mut self, key: Key, half: Half) {
        if let Some(reason) = &self.lost {
            // A stream that begins after the end of the connection stops at once, since no callback
            // would ever come for it.
            half.lose(reason);
        }
        self.streams.insert(key, half);
    }
}

impl Half {
    fn lose(&self, reason: &Arc<str>) {
        let stop = Stop::Lost(reason.clone());
        match self {
            Self::Sends(flow) => flow.stop(stop),
            Self::Takes(inbox) => inbox.stop(stop),
        }
    }
}

thread_local! {
    /// The spare signal of a thread, for reuse. Remaining wakers of an earlier wait cause harmless
    /// spurious wake-ups.
    static SPARE: RefCell<Option<Arc<Signal>>> = const { RefCell::new(None) };

    /// Number of calls of [`until_ready`] on the stack of a thread.
    static BLOCKING_DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// Blocks until `poll` is ready, or the time is over. `line` returns the connection that is served
/// meanwhile, if there is one.
pub(crate) fn until_ready<R>(
    line: impl Fn() -> Option<Arc<dyn Line>>,
    until: Option<Instant>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<R>,
) -> Option<R> {
    // Taken out for the time of the wait. A nested wait in the same thread finds none and makes its
    // own.
    let signal = SPARE.take().unwrap_or_default();
    let waker = Waker::from(signal.clone());
    let mut context = Context::from_waker(&waker);
    let _blocking = BlockingGuard::new();
    let ready = loop {
        // Before the poll: a wake-up during the poll sets the flag again, and the wait below
        // returns at once.
        signal.clear();
        if let Poll::Ready(ready) = poll(&mut context) {
            break Some(ready);
        }
        // After the poll, so that a result which is there is returned also if the time is over.
        if until.is_some_and(|until| until <= Instant::now()) {
            break None;
        }
        match line() {
            Some(line) => line.wait(&signal, until),
            // Nothing has to be received for this wait: another thread makes the progress that it
            // waits for.
            None => signal.park(until),
        }
    };
    SPARE.set(Some(signal));
    ready
}

/// Returns the number of nested waits in which this thread blocks until a poll is ready.
pub(crate) fn blocking_depth() -> u32 {
    BLOCKING_DEPTH.get()
}

/// Guard that counts a wait of this thread.
struct BlockingGuard;

impl BlockingGuard {
    fn new() -> Self {
        BLOCKING_DEPTH.set(BLOCKING_DEPTH.get().saturating_add(1));
        Self
    }
}

impl Drop for BlockingGuard {
    fn drop(&mut self) {
        BLOCKING_DEPTH.set(BLOCKING_DEPTH.get().saturating_sub(1));
    }
}
