//! The side of a stream that sends: how much the other one takes.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::tasks::Tasks;
use super::word::{MOST_ITEMS, Window};
use crate::sync::lock;

/// The most frames that are on their way, far below what a frame's place can tell apart.
const MOST_FRAMES: usize = 1 << 14;

/// A stream, as who sends it and who receives for the connection share it.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    state: Mutex<FlowState>,
    /// Who is told when more may be sent, or no more is wanted.
    pub(crate) tasks: Arc<Tasks>,
}

/// Invariant: `items` and `bytes` are the sums over `on_their_way`.
#[derive(Debug, Default)]
struct FlowState {
    /// What the other side takes; nothing before it has said so.
    window: Option<Window>,
    /// Items and bytes of each frame that the other side is not done with.
    on_their_way: VecDeque<(u16, u64)>,
    items: u64,
    bytes: u64,
    /// How many frames were sent, modulo 65,536.
    sent: u16,
    stop: Option<Stop>,
}

/// Why nothing more is to be sent.
#[derive(Debug, Clone)]
pub(crate) enum Stop {
    /// The other side does not want any more.
    Unwanted,
    Lost(Arc<str>),
    /// The other side has broken the rules.
    Broken(&'static str),
}

/// What may be sent now.
#[derive(Debug)]
pub(crate) enum Room {
    /// So many items; none before there is a grant.
    Items(usize),
    Stop(Stop),
}

impl Flow {
    /// One that may begin at once.
    pub(crate) fn opened(window: Window) -> Self {
        let flow = Self::default();
        flow.open(window);
        flow
    }

    /// The other side has said what it takes. It says so once.
    pub(crate) fn open(&self, window: Window) {
        let mut state = lock(&self.state);
        if state.window.replace(window).is_some() {
            state.stop(Stop::Broken("it opens a stream twice"));
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// What may be sent now.
    pub(crate) fn room(&self) -> Room {
        let state = lock(&self.state);
        if let Some(stop) = &state.stop {
            return Room::Stop(stop.clone());
        }
        let Some(window) = state.window else {
            return Room::Items(0);
        };
        if state.bytes >= window.bytes() || state.on_their_way.len() >= MOST_FRAMES {
            return Room::Items(0);
        }
        let items = u64::from(window.items).saturating_sub(state.items);
        Room::Items(usize::try_from(items).unwrap_or(0))
    }

    /// How many items the other side takes at once, when it has said so.
    pub(crate) fn takes(&self) -> Option<u16> {
        Some(lock(&self.state).window?.items)
    }

    /// The place of the next frame.
    pub(crate) fn place(&self) -> u16 {
        lock(&self.state).sent
    }

    /// A frame goes, for which there was room.
    pub(crate) fn sends(&self, items: u16, bytes: u64) {
        let mut state = lock(&self.state);
        state.on_their_way.push_back((items, bytes));
        state.items = state.items.saturating_add(items.into());
        state.bytes = state.bytes.saturating_add(bytes);
        state.sent = state.sent.wrapping_add(1);
    }

    /// The frame that went last did not go after all.
    pub(crate) fn takes_back(&self) {
        let mut state = lock(&self.state);
        if let Some((items, bytes)) = state.on_their_way.pop_back() {
            state.items = state.items.saturating_sub(items.into());
            state.bytes = state.bytes.saturating_sub(bytes);
            state.sent = state.sent.wrapping_sub(1);
        }
    }

    /// The other side is done with so many frames.
    pub(crate) fn grant(&self, frames: u16) {
        let mut state = lock(&self.state);
        let open = u16::try_from(state.on_their_way.len()).unwrap_or(u16::MAX);
        let done = frames.wrapping_sub(state.sent.wrapping_sub(open));
        if done > open {
            // Grants may overtake each other; this one says less than one before.
            if done < u16::MAX / 2 {
                state.stop(Stop::Broken("it is done with more than was sent"));
                drop(state);
                self.tasks.wake_all();
            }
            return;
        }
        for _ in 0..done {
            if let Some((items, bytes)) = state.on_their_way.pop_front() {
                state.items = state.items.saturating_sub(items.into());
                state.bytes = state.bytes.saturating_sub(bytes);
            }
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Nothing more is to be sent.
    pub(crate) fn stop(&self, why: Stop) {
        lock(&self.state).stop(why);
        self.tasks.wake_all();
    }
}

impl FlowState {
    /// The first reason counts.
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
        flow.open(Window::of(8, 2048));
        assert_eq!(items(&flow), 8);
        flow.open(Window::of(8, 2048));
        assert!(matches!(flow.room(), Room::Stop(Stop::Broken(_))));
    }

    #[test]
    fn items_and_bytes_are_bounded() {
        let flow = Flow::opened(Window::of(8, 2048));
        flow.sends(3, 2047);
        assert_eq!(items(&flow), 5);
        flow.sends(1, 1 << 30);
        assert_eq!(items(&flow), 0);
        flow.grant(1);
        assert_eq!(items(&flow), 0);
        flow.grant(2);
        assert_eq!(items(&flow), 8);
        // Late, and of no use.
        flow.grant(1);
        assert_eq!(items(&flow), 8);
        flow.sends(8, 8);
        assert_eq!(items(&flow), 0);
        flow.takes_back();
        assert_eq!((items(&flow), flow.place()), (8, 2));
        flow.grant(3);
        assert!(matches!(flow.room(), Room::Stop(Stop::Broken(_))));
    }
}
