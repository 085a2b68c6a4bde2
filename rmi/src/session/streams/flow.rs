//! Flow control on the sending side of a stream.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use crate::frame::{MOST_ITEMS, Window};
use crate::session::streams::tasks::Tasks;
use crate::support::lock;

/// Maximum number of frames in flight. Far below the range of frame numbers (65,536).
const MOST_FRAMES: usize = 1 << 14;

/// The sending side of a stream, shared by the sender and the thread that receives for the
/// connection.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    state: Mutex<FlowState>,
    /// Tasks that are woken when more may be sent, or when the stream has stopped.
    pub(crate) tasks: Arc<Tasks>,
}

/// INVARIANT: `items` and `bytes` are the sums over `unfinished`.
#[derive(Debug, Default)]
struct FlowState {
    /// Window of the receiver. `None` before it has announced the window.
    window: Option<Window>,
    /// Items and bytes of each frame that the receiver has not finished.
    unfinished: VecDeque<(u16, u64)>,
    items: u64,
    bytes: u64,
    /// Number of sent frames, modulo 65,536.
    sent: u16,
    stop: Option<Stop>,
}

/// The reason why no more items may be sent.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    /// The receiver does not want more items.
    Unwanted,
    Lost(Arc<str>),
    /// The receiver has violated the protocol.
    Broken(&'static str),
}

/// Permission to send.
#[derive(Debug)]
pub(crate) enum Room {
    /// Up to this many items. Zero before the receiver has announced its window.
    Items(usize),
    Stop(Stop),
}

impl Flow {
    /// Creates the flow of a stream whose window is already known.
    pub(crate) fn opened(window: Window) -> Self {
        let flow = Self::default();
        flow.open(window);
        flow
    }

    /// Handles the announcement of the receiver's window, which is sent once.
    pub(crate) fn open(&self, window: Window) {
        let mut state = lock(&self.state);
        if state.window.replace(window).is_some() {
            state.stop(Stop::Broken("it has opened a stream twice"));
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Returns the number of items that may be sent now.
    pub(crate) fn room(&self) -> Room {
        let state = lock(&self.state);
        if let Some(stop) = &state.stop {
            return Room::Stop(stop.clone());
        }
        let Some(window) = state.window else {
            return Room::Items(0);
        };
        // A frame may exceed the window once, since its size is not known before it is encoded. So
        // sending stops when the window is full, not when the next frame would not fit.
        if state.bytes >= window.bytes() || state.unfinished.len() >= MOST_FRAMES {
            return Room::Items(0);
        }
        let items = u64::from(window.items).saturating_sub(state.items);
        Room::Items(usize::try_from(items).unwrap_or(0))
    }

    /// Returns the item limit of the receiver's window, if it is known.
    pub(crate) fn takes(&self) -> Option<u16> {
        Some(lock(&self.state).window?.items)
    }

    /// Returns the number of the next frame.
    pub(crate) fn next_frame(&self) -> u16 {
        lock(&self.state).sent
    }

    /// Counts a frame that is about to be sent.
    pub(crate) fn sends(&self, items: u16, bytes: u64) {
        let mut state = lock(&self.state);
        state.unfinished.push_back((items, bytes));
        state.items = state.items.saturating_add(items.into());
        state.bytes = state.bytes.saturating_add(bytes);
        state.sent = state.sent.wrapping_add(1);
    }

    /// Reverts [`sends`](Self::sends) for the last frame, which was not sent.
    pub(crate) fn takes_back(&self) {
        let mut state = lock(&self.state);
        if let Some((items, bytes)) = state.unfinished.pop_back() {
            state.items = state.items.saturating_sub(items.into());
            state.bytes = state.bytes.saturating_sub(bytes);
            state.sent = state.sent.wrapping_sub(1);
        }
    }

    /// Handles a grant: the receiver has finished this many frames in total.
    pub(crate) fn grant(&self, frames: u16) {
        let mut state = lock(&self.state);
        // At most `MOST_FRAMES` are unfinished, so the difference to a number modulo 65,536 is
        // unambiguous.
        let open = u16::try_from(state.unfinished.len()).unwrap_or(u16::MAX);
        let done = frames.wrapping_sub(state.sent.wrapping_sub(open));
        if done > open {
            // Grants may be reordered. This one is older than the last one.
            // Unless it is less than half of the range ahead: then it is for frames that were not
            // sent.
            if done < u16::MAX / 2 {
                state.stop(Stop::Broken("it has finished more frames than were sent"));
                // Tasks are woken without the lock: a waker is code of the program, and may poll
                // this stream.
                drop(state);
                self.tasks.wake_all();
            }
            return;
        }
        for _ in 0..done {
            if let Some((items, bytes)) = state.unfinished.pop_front() {
                state.items = state.items.saturating_sub(items.into());
                state.bytes = state.bytes.saturating_sub(bytes);
            }
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Stops the stream.
    pub(crate) fn stop(&self, why: Stop) {
        lock(&self.state).stop(why);
        self.tasks.wake_all();
    }
}

impl FlowState {
    /// Records why the stream stops. The first reason is kept.
    fn stop(&mut self, why: Stop) {
        self.stop.get_or_insert(why);
    }
}

const _: () = assert!(MOST_FRAMES > MOST_ITEMS as usize && MOST_FRAMES < u16::MAX as usize / 2);

#[cfg(test)]
mod tests {
    use super::*;

    fn items(of: &Flow) -> usize {
        match of.room() {
            Room::Items(items) => items,
            Room::Stop(stop) => panic!("{stop:?}"),
        }
    }

    #[test]
    fn nothing_goes_before_the_other_side_is_ready() {
        let flow = Flow::default();
        assert_eq!(items(&flow), 0);
        flow.open(Window::new(8, 2048));
        assert_eq!(items(&flow), 8);
        flow.open(Window::new(8, 2048));
        assert!(matches!(flow.room(), Room::Stop(Stop::Broken(_))));
    }

    #[test]
    fn items_and_bytes_are_bounded() {
        let flow = Flow::opened(Window::new(8, 2048));
        flow.sends(3, 2047);
        assert_eq!(items(&flow), 5);
        flow.sends(1, 1 << 30);
        assert_eq!(items(&flow), 0);
        flow.grant(1);
        assert_eq!(items(&flow), 0);
        flow.grant(2);
        assert_eq!(items(&flow), 8);
        // A late grant has no effect.
        flow.grant(1);
        assert_eq!(items(&flow), 8);
        flow.sends(8, 8);
        assert_eq!(items(&flow), 0);
        flow.takes_back();
        assert_eq!((items(&flow), flow.next_frame()), (8, 2));
        flow.grant(3);
        assert!(matches!(flow.room(), Room::Stop(Stop::Broken(_))));
    }
}
