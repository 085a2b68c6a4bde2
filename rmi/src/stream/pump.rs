//! What takes the items of a stream from their source to the peer, driven by whoever waits for something of it.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;

use jstream::{Transportable, WriteError};
use jstream_transport::SendError;

use super::flow::{Flow, Room, Stop};
use super::line::{Line, length};
use super::source::{Made, Source};
use super::word::{Key, MOST_ITEMS, Why, Word};
use crate::message::written;
use crate::sync::lock;

/// What small items of one frame come to, in bytes.
const TOGETHER: usize = 32 << 10;

/// After how many frames others have their turn.
const FRAMES: usize = 16;

/// A stream on its way to the peer.
pub(crate) struct Pump<T: Transportable + Send + 'static> {
    line: Arc<dyn Line>,
    key: Key,
    flow: Arc<Flow>,
    state: Mutex<State<T>>,
    /// Whether the end of the stream is told by a frame.
    closes: bool,
}

struct State<T> {
    source: Option<Source<T>>,
    /// Items that are to go next.
    items: Vec<T>,
    /// How many bytes an item had last.
    item_bytes: usize,
    /// The source has no more.
    last: Option<Why>,
    ended: Option<Result<(), Ended>>,
}

/// Why items were not sent.
#[derive(Debug)]
pub(crate) enum Ended {
    /// The peer wants no more, or can't be reached.
    Stopped(Stop),
    /// Who makes them has panicked, or has none.
    Failed(Why),
    /// They come from a peer themselves.
    Received,
    Unwritten(WriteError),
    Unsent(SendError),
}

/// A stream that can be driven on, whatever its items.
pub(crate) trait Drive: Send + Sync {
    /// Sends what can be sent. Ready when there is no more to be sent, else `task` is woken when there may be.
    fn drive(&self, task: Option<&Waker>) -> Poll<()>;

    fn line(&self) -> &Arc<dyn Line>;
}

impl<T: Transportable + Send + 'static> Pump<T> {
    pub(super) fn new(
        line: Arc<dyn Line>,
        key: Key,
        flow: Arc<Flow>,
        source: Source<T>,
        closes: bool,
    ) -> Arc<Self> {
        let channel = match &source {
            Source::Channel(channel) => Some(channel.clone()),
            Source::Made(_) => None,
        };
        let pump = Arc::new(Self {
            line,
            key,
            flow,
            state: Mutex::new(State {
                source: Some(source),
                items: Vec::new(),
                item_bytes: 1,
                last: None,
                ended: None,
            }),
            closes,
        });
        if let Some(channel) = channel {
            let weak: Weak<Self> = Arc::downgrade(&pump);
            channel.attach(weak);
        }
        pump
    }

    /// Sends all items. How many frames they were.
    pub(super) async fn run(self: Arc<Self>) -> Result<u16, Ended> {
        std::future::poll_fn(|context| self.drive(Some(context.waker()))).await;
        let ended = lock(&self.state).ended.take();
        ended.unwrap_or(Ok(())).map(|()| self.flow.place())
    }

    fn poll(&self, state: &mut State<T>, context: &mut Context<'_>) -> Poll<Result<(), Ended>> {
        for _ in 0..FRAMES {
            let room = match self.flow.room() {
                Room::Items(room) => room,
                Room::Stop(stop) => return Poll::Ready(Err(Ended::Stopped(stop))),
            };
            if state.items.is_empty() {
                if let Some(why) = state.last {
                    return Poll::Ready(match why {
                        Why::Ended => Ok(()),
                        why => Err(Ended::Failed(why)),
                    });
                }
                let most = TOGETHER.checked_div(state.item_bytes).unwrap_or(TOGETHER);
                let most = most.clamp(1, MOST_ITEMS.into());
                let most = most.min(room);
                if most == 0 {
                    return Poll::Pending;
                }
                let Some(source) = &mut state.source else {
                    return Poll::Ready(Ok(()));
                };
                match source.poll_make(&mut state.items, most, context) {
                    Poll::Ready(Made::Some) => {}
                    Poll::Ready(Made::Last) => state.last = Some(Why::Ended),
                    Poll::Ready(Made::Failed) => state.last = Some(Why::Panicked),
                    Poll::Ready(Made::Gone) => state.last = Some(Why::GivenUp),
                    Poll::Pending => return Poll::Pending,
                }
                if state.items.is_empty() {
                    continue;
                }
            }
            match self.send(state, context.waker()) {
                Poll::Ready(Ok(())) => {}
                other => return other,
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// Sends the items that are made, for which there is room.
    fn send(&self, state: &mut State<T>, task: &Waker) -> Poll<Result<(), Ended>> {
        let items = state.items.as_slice();
        let count = u16::try_from(items.len()).unwrap_or(MOST_ITEMS);
        let word = Word::Data {
            place: self.flow.place(),
            items: count,
        };
        let mut bytes = 0;
        let sent = written(&items, |segments| {
            bytes = length(segments);
            // The grant may come before the sending returns.
            self.flow.sends(count, bytes as u64);
            self.line.poll_send(word.pack(self.key), segments, task)
        });
        if !matches!(sent, Ok(Poll::Ready(Ok(())))) {
            self.flow.takes_back();
        }
        match sent {
            Ok(Poll::Ready(Ok(()))) => {
                state.item_bytes = bytes.checked_div(count.into()).unwrap_or(bytes);
                state.items.clear();
                Poll::Ready(Ok(()))
            }
            Ok(Poll::Ready(Err(error))) => Poll::Ready(Err(Ended::Unsent(error))),
            Ok(Poll::Pending) => Poll::Pending,
            Err(error) => Poll::Ready(Err(Ended::Unwritten(error))),
        }
    }

    fn close(&self, why: Why) {
        if self.closes {
            let frames = self.flow.place();
            self.line.post(Word::Close { why, frames }.pack(self.key));
        }
    }
}

impl<T: Transportable + Send + 'static> Drive for Pump<T> {
    fn drive(&self, task: Option<&Waker>) -> Poll<()> {
        if let Some(task) = task {
            self.flow.tasks.register(task);
        }
        let mut state = lock(&self.state);
        if state.source.is_none() {
            return Poll::Ready(());
        }
        let waker = Waker::from(self.flow.tasks.clone());
        let polled = self.poll(&mut state, &mut Context::from_waker(&waker));
        let Poll::Ready(ended) = polled else {
            return Poll::Pending;
        };
        self.close(match &ended {
            Ok(()) => Why::Ended,
            Err(Ended::Stopped(_)) => Why::GivenUp,
            Err(Ended::Failed(why)) => *why,
            Err(_) => Why::Unsent,
        });
        state.ended = Some(ended);
        let rest = (state.source.take(), std::mem::take(&mut state.items));
        drop(state);
        drop(rest);
        self.flow.tasks.wake_all();
        Poll::Ready(())
    }

    fn line(&self) -> &Arc<dyn Line> {
        &self.line
    }
}

impl<T: Transportable + Send + 'static> Drop for Pump<T> {
    fn drop(&mut self) {
        let is_open = lock(&self.state).source.is_some();
        if is_open {
            self.close(if thread::panicking() {
                Why::Panicked
            } else {
                Why::GivenUp
            });
        }
        self.line.streams().remove(self.key);
    }
}

impl<T: Transportable + Send + 'static> fmt::Debug for Pump<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pump")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

/// Streams that a call takes along: they go on while it is waited for.
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

    /// Drives all of them on. Those that have ended are done with.
    pub(crate) fn drive(&mut self, task: &Waker) {
        self.pumps
            .retain(|pump| pump.drive(Some(task)).is_pending());
    }
}
