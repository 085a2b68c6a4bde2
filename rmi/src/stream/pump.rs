//! Pumps, which move the items of a stream from their source to the peer. A pump is driven by the
//! threads that wait for its stream or call.

use std::io::IoSlice;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::{fmt, thread};

use jstream::{Limits, WriteError};
use jstream_base::SendError;

use crate::frame::{CloseReason, Key, Word, length};
use crate::session::{Flow, Line, Room, Stop};
use crate::stream::error::StreamError;
use jstream_sync::lock;

/// Number of frames after which a pump yields.
const FRAMES: usize = 16;

/// A stream that is being sent to the peer.
pub(crate) struct Pump<F: Feed> {
    line: Arc<dyn Line>,
    key: Key,
    flow: Arc<Flow>,
    state: Mutex<PumpState<F>>,
    /// True if a frame announces the end of the stream.
    closes: bool,
}

struct PumpState<F> {
    feed: Option<F>,
    /// True if the feed has no more items.
    is_last: bool,
    ended: Option<Result<(), Ended>>,
}

/// A source of frames.
pub(super) trait Feed: Send + 'static {
    /// Prepares the next frame, with at most `room` items, unless there is one.
    fn poll_fill(&mut self, room: usize, context: &mut Context<'_>) -> Poll<Fed>;

    /// Returns the number of items of the frame, or 0 if there is none.
    fn count(&self) -> u16;

    /// Passes the encoded frame to `send` and returns the outcome.
    fn send(
        &mut self,
        limits: Limits,
        send: &mut Sends<'_>,
    ) -> Result<Poll<Result<(), SendError>>, WriteError>;

    /// Drops the frame after it was sent with this many bytes.
    fn sent(&mut self, bytes: usize);

    /// If the items come from senders, tells them which pump to drive.
    fn attach(&self, _pump: Weak<dyn Drive>) {}
}

/// Function that sends an encoded frame.
pub(super) type Sends<'s> = dyn FnMut(&[IoSlice<'_>]) -> Poll<Result<(), SendError>> + 's;

/// State of a feed.
#[derive(Debug)]
pub(super) enum Fed {
    /// A frame is available.
    Some,
    /// No items follow. A last frame may be available.
    Last,
    /// No frame is available, and none follows.
    Failed(Ended),
}

/// The reason why items were not sent.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The peer wants no more items, or is lost.
    Stopped(Stop),
    /// The producer has panicked.
    Failed(CloseReason),
    /// The stream comes from a peer, and items were already taken from it.
    Received,
    /// The stream comes from a peer and has failed.
    Passed(StreamError),
    /// The stream comes from a peer, and a frame has more items than the receiver's window.
    Large,
    WriteFailure(WriteError),
    Unsent(SendError),
}

/// A pump with its item type erased.
pub(crate) trait Drive: Send + Sync {
    /// Sends as much as possible. Returns `Ready` when the stream has ended; else `task` is woken
    /// when more may be sent.
    fn drive(&self, task: Option<&Waker>) -> Poll<()>;

    fn line(&self) -> &Arc<dyn Line>;
}

impl<F: Feed> Pump<F> {
    pub(super) fn new(
        line: Arc<dyn Line>,
        key: Key,
        flow: Arc<Flow>,
        feed: F,
        closes: bool,
    ) -> Arc<Self> {
        let pump = Arc::new(Self {
            line,
            key,
            flow,
            state: Mutex::new(PumpState {
                feed: Some(feed),
                is_last: false,
                ended: None,
            }),
            closes,
        });
        // Weak: the source is part of the pump, which would otherwise own itself.
        let weak: Weak<Self> = Arc::downgrade(&pump);
        if let Some(feed) = &lock(&pump.state).feed {
            feed.attach(weak);
        }
        pump
    }

    /// Sends all items. Returns the number of frames.
    pub(super) async fn run(self: Arc<Self>) -> Result<u16, Ended> {
        std::future::poll_fn(|context| self.drive(Some(context.waker()))).await;
        let ended = lock(&self.state).ended.take();
        ended.unwrap_or(Ok(())).map(|()| self.flow.next_frame())
    }

    fn poll(&self, state: &mut PumpState<F>, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        // A source that is never empty must not keep this thread from receiving, on which the
        // grants of the window depend.
        for _ in 0..FRAMES {
            let room = match self.flow.room() {
                Room::Items(room) => room,
                Room::Stop(stop) => return Poll::Ready(Err(Ended::Stopped(stop))),
            };
            let Some(feed) = &mut state.feed else {
                return Poll::Ready(Ok(()));
            };
            if feed.count() == 0 && state.is_last {
                return Poll::Ready(Ok(()));
            }
            // Items are made only if there is room for them, so an iterator is never ahead of its
            // receiver by more than the window.
            if feed.count() == 0 && room == 0 {
                return Poll::Pending;
            }
            if !state.is_last {
                match feed.poll_fill(room, context) {
                    Poll::Ready(Fed::Some) => {}
                    Poll::Ready(Fed::Last) => state.is_last = true,
                    Poll::Ready(Fed::Failed(ended)) => return Poll::Ready(Err(ended)),
                    Poll::Pending => return Poll::Pending,
                }
            }
            let items = feed.count();
            if items == 0 {
                continue;
            }
            // Only frames of another peer can be larger than the room: their items can't be divided
            // without reading them.
            if usize::from(items) > room {
                if self.flow.takes() < Some(items) {
                    return Poll::Ready(Err(Ended::Large));
                }
                return Poll::Pending;
            }
            match self.send(feed, items, context.waker()) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
        // There may be more to send. The waiting thread or task receives in between.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Sends a frame, for which there is room.
    fn send(&self, feed: &mut F, items: u16, task: &Waker) -> Poll<Result<(), Ended>> {
        let word = Word::Data {
            place: self.flow.next_frame(),
            items,
        };
        let mut bytes = 0;
        let sent = feed.send(self.line.limits(), &mut |segments| {
            bytes = length(segments);
            // The grant may arrive before the send returns, so the frame is counted first.
            self.flow.sends(items, bytes as u64);
            let sent = self.line.poll_send(word.pack(self.key), segments, task);
            if !matches!(sent, Poll::Ready(Ok(()))) {
                self.flow.takes_back();
            }
            sent
        });
        match sent {
            Ok(Poll::Ready(Ok(()))) => {
                feed.sent(bytes);
                Poll::Ready(Ok(()))
            }
            Ok(Poll::Ready(Err(error))) => Poll::Ready(Err(Ended::Unsent(error))),
            Ok(Poll::Pending) => Poll::Pending,
            Err(error) => Poll::Ready(Err(Ended::WriteFailure(error))),
        }
    }

    fn close(&self, reason: CloseReason) {
        if self.closes {
            let frames = self.flow.next_frame();
            self.line
                .post(Word::Close { reason, frames }.pack(self.key));
        }
    }
}

impl<F: Feed> Drive for Pump<F> {
    fn drive(&self, task: Option<&Waker>) -> Poll<()> {
        if let Some(task) = task {
            // Before the pump is locked: if another thread drives it now, and stops for lack of
            // room, the wake-up still finds this task.
            self.flow.tasks.register(task);
        }
        let mut state = lock(&self.state);
        if state.feed.is_none() {
            return Poll::Ready(());
        }
        // A pump has one source and several waiting threads, so the source wakes all tasks of the
        // stream.
        let waker = Waker::from(self.flow.tasks.clone());
        let polled = self.poll(&mut state, &mut Context::from_waker(&waker));
        let Poll::Ready(ended) = polled else {
            return Poll::Pending;
        };
        self.close(match &ended {
            Ok(()) => CloseReason::Ended,
            Err(Ended::Stopped(_)) => CloseReason::GivenUp,
            Err(Ended::Failed(reason)) => *reason,
            Err(Ended::Received | Ended::Passed(StreamError::GivenUp)) => CloseReason::GivenUp,
            Err(_) => CloseReason::Unsent,
        });
        state.ended = Some(ended);
        // Dropped without the lock: the source is code of the program, which may use a sender of
        // this stream.
        let rest = state.feed.take();
        drop(state);
        drop(rest);
        self.flow.tasks.wake_all();
        Poll::Ready(())
    }

    fn line(&self) -> &Arc<dyn Line> {
        &self.line
    }
}

impl<F: Feed> Drop for Pump<F> {
    fn drop(&mut self) {
        // The lock is released before the frame is posted.
        let is_open = lock(&self.state).feed.is_some();
        if is_open {
            self.close(if thread::panicking() {
                CloseReason::Panicked
            } else {
                CloseReason::GivenUp
            });
        }
        // After the last frame: a stream with the same number could otherwise get what is meant for
        // this one.
        self.line.streams().remove(self.key);
    }
}

impl<F: Feed> fmt::Debug for Pump<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// The argument streams of a call. They are driven while the call is waited for.
#[derive(Default)]
pub(crate) struct Pumps {
    pumps: Vec<Arc<dyn Drive>>,
}

impl Pumps {
    pub(super) fn add(&mut self, pump: Arc<dyn Drive>) {
        self.pumps.push(pump);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pumps.is_empty()
    }

    /// Drives all streams, and removes those that have ended.
    pub(crate) fn drive(&mut self, task: &Waker) {
        self.pumps
            .retain(|pump| pump.drive(Some(task)).is_pending());
    }
}
