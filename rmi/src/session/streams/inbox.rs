//! Flow control and reordering on the receiving side of a stream.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::task::Waker;

use jstream::MessageBuffer;

use crate::frame::{CloseReason, Window};
use crate::session::streams::flow::Stop;
use crate::session::streams::tasks::Tasks;
use crate::support::lock;

/// The receiving side of a stream, shared by the consumer and the thread that receives for the
/// connection.
#[derive(Debug)]
pub(crate) struct Inbox {
    state: Mutex<InboxState>,
    tasks: Tasks,
}

/// INVARIANT: `items` and `bytes` are the sums over all frames that have arrived and were not
/// granted.
#[derive(Debug)]
struct InboxState {
    window: Window,
    /// Frames from number `next` on. `None` is a frame that was overtaken and has not arrived.
    frames: VecDeque<Option<Frame>>,
    /// Number of the next frame to be taken.
    next: u16,
    items: u64,
    bytes: u64,
    /// Distance from `next` and size of the frame with the highest number so far. This frame may
    /// exceed the window.
    last: Option<(u16, u64)>,
    /// Sums over the finished frames that were not granted.
    done_items: u64,
    done_bytes: u64,
    /// Total number of frames, once it is known.
    end: Option<u16>,
    reason: CloseReason,
    stop: Option<Stop>,
}

/// An encoded frame.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) items: u16,
    /// Length of the payload as it arrived, by which it is charged.
    pub(crate) bytes: u64,
    pub(crate) payload: MessageBuffer,
}

/// The next event of a stream.
#[derive(Debug)]
pub(crate) enum Taken {
    Frame(Frame),
    /// No frame is available yet.
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
                reason: CloseReason::Ended,
                stop: None,
            }),
            tasks: Tasks::default(),
        }
    }

    /// Handles a frame that has arrived. A frame that violates the protocol breaks the stream.
    pub(crate) fn arrive(&self, place: u16, items: u16, payload: MessageBuffer) {
        let mut state = lock(&self.state);
        // Frames that were in flight when the stream stopped are dropped, which frees their
        // buffers. If the connection is lost, those that were received before are handled after it.
        if !matches!(state.stop, None | Some(Stop::Lost(_))) {
            return;
        }
        let bytes = payload.len() as u64;
        let frame = Frame {
            items,
            bytes,
            payload,
        };
        match state.arrive(place, frame) {
            // Consumers wait for the frame at `next`, which has not arrived.
            Ok(false) => return,
            Ok(true) => {}
            Err(rule) => state.break_off(rule),
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Handles the end of the stream: the sender has sent this many frames.
    pub(crate) fn close(&self, reason: CloseReason, frames: u16) {
        let mut state = lock(&self.state);
        // If the connection is lost, an answer that arrived before may still be read after it.
        if !matches!(state.stop, None | Some(Stop::Lost(_))) {
            return;
        }
        let local = u16::try_from(state.frames.len()).unwrap_or(u16::MAX);
        if state.end.is_some() {
            state.break_off("it has ended a stream twice");
        } else if state.is_before(frames, local) {
            state.break_off("it has sent more frames than it states");
        } else {
            state.end = Some(frames);
            state.reason = reason;
        }
        drop(state);
        self.tasks.wake_all();
    }

    /// Stops the stream: no more frames arrive.
    pub(crate) fn stop(&self, reason: Stop) {
        lock(&self.state).stop.get_or_insert(reason);
        self.tasks.wake_all();
    }

    /// Takes the next event. If there is none, `task` is woken when there may be one.
    pub(crate) fn poll_frame(&self, task: &Waker) -> Taken {
        let mut state = lock(&self.state);
        if let Some(frame) = state.frames.front_mut().and_then(Option::take) {
            state.frames.pop_front();
            state.next = state.next.wrapping_add(1);
            state.last = state
                .last
                .and_then(|(far, bytes)| Some((far.checked_sub(1)?, bytes)));
            return Taken::Frame(frame);
        }
        // Asked before `stop`: an orderly end that has arrived is the outcome, also if the
        // connection was lost after it.
        if state.end == Some(state.next) {
            return Taken::End(state.reason);
        }
        if let Some(stop) = &state.stop {
            return Taken::Stop(stop.clone());
        }
        // Under the lock of the state. A frame that arrives next finds the task in the list.
        self.tasks.register(task);
        Taken::Nothing
    }

    /// Marks the last taken frame as finished. Returns the total number of finished frames if it is
    /// time to send a grant.
    pub(crate) fn done(&self, items: u16, bytes: u64) -> Option<u16> {
        let mut state = lock(&self.state);
        state.done_items = state.done_items.saturating_add(items.into());
        state.done_bytes = state.done_bytes.saturating_add(bytes);
        let is_time = state.done_items.saturating_mul(2) >= u64::from(state.window.items)
            || state.done_bytes.saturating_mul(2) >= state.window.bytes();
        // After the end the sender needs no grant.
        if !is_time || state.end.is_some() || state.stop.is_some() {
            return None;
        }
        state.items = state.items.saturating_sub(state.done_items);
        state.bytes = state.bytes.saturating_sub(state.done_bytes);
        (state.done_items, state.done_bytes) = (0, 0);
        // All frames before `next` were finished, because a consumer takes one frame at a time.
        Some(state.next)
    }

    /// Returns true if the stream has been ended by the sender or has stopped.
    pub(crate) fn is_closed(&self) -> bool {
        let state = lock(&self.state);
        state.end.is_some() || state.stop.is_some()
    }
}

impl InboxState {
    /// Stores a frame. Returns true if it is the next one to be taken.
    fn arrive(&mut self, place: u16, frame: Frame) -> Result<bool, &'static str> {
        let far = place.wrapping_sub(self.next);
        let (items, bytes) = (u64::from(frame.items), frame.bytes);
        // Added before the check, because an error breaks the stream and ends all accounting.
        self.items = self.items.saturating_add(items);
        // Each frame has at least one item.
        if far >= self.window.items || self.items > u64::from(self.window.items) {
            return Err("it has sent too many items for the window");
        }
        // The frame with the highest number was sent last and may exceed the window. It may also
        // arrive before others, so these must fit without it.
        let (last, others) = match self.last {
            Some((last, of_last)) if last > far => (
                of_last,
                self.bytes.saturating_sub(of_last).saturating_add(bytes),
            ),
            _ => (bytes, self.bytes),
        };
        // The last frame may exceed the window, but must have been sent before the window was full.
        if others >= self.window.bytes() {
            return Err("it has sent too many bytes for the window");
        }
        self.bytes = self.bytes.saturating_add(bytes);
        if self.last.is_none_or(|(known, _)| known <= far) {
            self.last = Some((far, last));
        }
        if self
            .end
            .is_some_and(|end| far >= end.wrapping_sub(self.next))
        {
            return Err("it has sent items after the end");
        }
        let index = usize::from(far);
        if self.frames.len() <= index {
            // Bounded by the window in items, which the distance was compared with above.
            self.frames.resize_with(index.saturating_add(1), || None);
        }
        match self.frames.get_mut(index) {
            Some(free @ None) => *free = Some(frame),
            _ => return Err("it has sent a frame twice"),
        }
        Ok(far == 0)
    }

    /// Returns true if `frames` is less than the number of frames that were sent for certain:
    /// `local` frames from `next` on.
    fn is_before(&self, frames: u16, local: u16) -> bool {
        let far = frames.wrapping_sub(self.next);
        far < local || far > u16::MAX / 2
    }

    /// Drops all frames and breaks the stream.
    fn break_off(&mut self, rule: &'static str) {
        // Frames of a peer that breaks the rules are not handed out, and their buffers return to
        // the pool at once.
        self.frames.clear();
        self.stop = Some(Stop::Broken(rule));
    }
}
