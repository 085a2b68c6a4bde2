//! The side of a stream that takes: what has come and was not taken yet, and what the other side may send.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::Waker;

use jstream::Filled;

use super::flow::Stop;
use super::tasks::Tasks;
use super::word::{CloseReason, Window};
use crate::sync::lock;

/// A stream, as who takes its items and who receives for the connection share it.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    tasks: Tasks,
}

/// Invariant: `items` and `bytes` are those of all frames that came and were not granted.
#[derive(Debug)]
struct InboxState {
    window: Window,
    /// From the frame at `next` on. One that is not here yet was overtaken.
    frames: VecDeque<Option<Frame>>,
    /// The place of the frame to be taken next.
    next: u16,
    items: u64,
    bytes: u64,
    /// The one at the highest place so far: how far it is from `next`, and its bytes. It may exceed the window.
    last: Option<(u16, u64)>,
    /// Of the frames that are done with and were not granted.
    done_items: u64,
    done_bytes: u64,
    /// How many frames there are in all, where that is known.
    end: Option<u16>,
    why: CloseReason,
    stop: Option<Stop>,
}

/// A frame that nobody has read yet.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) items: u16,
    pub(crate) payload: Filled,
}

/// What is to be taken next.
#[derive(Debug)]
pub(crate) enum Taken {
    Frame(Frame),
    /// There is nothing yet.
    Nothing,
    End(CloseReason),
    Stop(Stop),
}

impl Inbox {
    pub(crate) fn new(window: Window) -> Self {
        Self {
            state: Mutex::new(InboxState {
                window,
                frames: VecDeque::new(),
                next: 0,
                items: 0,
                bytes: 0,
                last: None,
                done_items: 0,
                done_bytes: 0,
                end: None,
                why: CloseReason::Ended,
                stop: None,
            }),
            tasks: Tasks::default(),
        }
    }

    /// A frame has come. One that the peer may not send ends the stream.
    pub(crate) fn arrive(&self, place: u16, items: u16, payload: Filled) {
        let mut state = lock(&self.state);
        if state.stop.is_some() {
            return;
        }
        match state.arrive(place, Frame { items, payload }) {
            // Who waits waits for the one at `next`.
            Ok(false) => return,
            Ok(true) => {}
            Err(rule) => state.break_off(rule),
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// The other side says how many frames there were.
    pub(crate) fn close(&self, why: CloseReason, frames: u16) {
        let mut state = lock(&self.state);
        // An answer that came before the connection ended is read after it.
        if !matches!(state.stop, None | Some(Stop::Lost(_))) {
            return;
        }
        let here = u16::try_from(state.frames.len()).unwrap_or(u16::MAX);
        if state.end.is_some() {
            state.break_off("it ends a stream twice");
        } else if state.is_before(frames, here) {
            state.break_off("it has sent more than it says");
        } else {
            state.end = Some(frames);
            state.why = why;
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Nothing more comes.
    pub(crate) fn stop(&self, why: Stop) {
        lock(&self.state).stop.get_or_insert(why);
        self.tasks.wake_all();
    }

    /// What is next. If that is nothing, `task` is woken when there may be something.
    pub(crate) fn take(&self, task: &Waker) -> Taken {
        let mut state = lock(&self.state);
        if let Some(frame) = state.frames.front_mut().and_then(Option::take) {
            state.frames.pop_front();
            state.next = state.next.wrapping_add(1);
            state.last = state
                .last
                .and_then(|(far, bytes)| Some((far.checked_sub(1)?, bytes)));
            return Taken::Frame(frame);
        }
        if state.end == Some(state.next) {
            return Taken::End(state.why);
        }
        if let Some(stop) = &state.stop {
            return Taken::Stop(stop.clone());
        }
        self.tasks.register(task);
        Taken::Nothing
    }

    /// The frame that was taken last is done with. What is to be told the other side: that it may send more.
    pub(crate) fn done(&self, items: u16, bytes: u64) -> Option<u16> {
        let mut state = lock(&self.state);
        state.done_items = state.done_items.saturating_add(items.into());
        state.done_bytes = state.done_bytes.saturating_add(bytes);
        let is_time = state.done_items.saturating_mul(2) >= u64::from(state.window.items)
            || state.done_bytes.saturating_mul(2) >= state.window.bytes();
        if !is_time || state.end.is_some() || state.stop.is_some() {
            return None;
        }
        state.items = state.items.saturating_sub(state.done_items);
        state.bytes = state.bytes.saturating_sub(state.done_bytes);
        (state.done_items, state.done_bytes) = (0, 0);
        Some(state.next)
    }

    /// Whether the other side has said that there is no more, or can't any more.
    pub(crate) fn is_closed(&self) -> bool {
        let state = lock(&self.state);
        state.end.is_some() || state.stop.is_some()
    }
}

impl InboxState {
    /// Whether something is there that was waited for.
    fn arrive(&mut self, place: u16, frame: Frame) -> Result<bool, &'static str> {
        let far = place.wrapping_sub(self.next);
        let (items, bytes) = (u64::from(frame.items), frame.payload.len() as u64);
        self.items = self.items.saturating_add(items);
        // Each frame has an item at least.
        if far >= self.window.items || self.items > u64::from(self.window.items) {
            return Err("it sends more items than it may");
        }
        let (last, others) = match self.last {
            Some((last, of_last)) if last > far => (
                of_last,
                self.bytes.saturating_sub(of_last).saturating_add(bytes),
            ),
            _ => (bytes, self.bytes),
        };
        // What was sent when the window was full already.
        if others >= self.window.bytes() {
            return Err("it sends more bytes than it may");
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.last.is_none_or(|(known, _)| known <= far) {
            self.last = Some((far, last));
        }
        if self
            .end
            .is_some_and(|end| far >= end.wrapping_sub(self.next))
        {
            return Err("it sends items after the end");
        }
        let index = usize::from(far);
        if self.frames.len() <= index {
            self.frames.resize_with(index.saturating_add(1), || None);
        }
        match self.frames.get_mut(index) {
            Some(free @ None) => *free = Some(frame),
            _ => return Err("it sends a frame twice"),
        }
        Ok(far == 0)
    }

    /// Whether a number of frames is less than those that are known to have been sent, of which `here` are ahead.
    fn is_before(&self, frames: u16, here: u16) -> bool {
        let far = frames.wrapping_sub(self.next);
        far < here || far > u16::MAX / 2
    }

    /// What has come meanwhile is dropped.
    fn break_off(&mut self, rule: &'static str) {
        self.frames.clear();
        self.stop = Some(Stop::Broken(rule));
    }
}
