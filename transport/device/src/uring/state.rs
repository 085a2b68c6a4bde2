//! State of a ring under its lock.

use std::io;
use std::task::Waker;

use socket2::MaybeUninitSlice;

use super::buffers::Buffers;
use super::places::WatcherPlaces;
use super::receiver::{RingReceiver, TakeResult};

/// Kinds of operations. The kind is in the lowest bits of an operation's user data, and the number
/// of the receiver is above them. The completion has the same user data.
pub(super) const RECEIVE: u64 = 1;
pub(super) const CANCEL: u64 = 2;
pub(super) const KICK: u64 = 3;
const BITS: u32 = 2;

pub(super) struct RingState {
    pub(super) buffers: Buffers,
    /// The receivers, indexed by their numbers.
    pub(super) receivers: Vec<Option<RingReceiver>>,
    /// The receiver for which the owner sleeps or is about to sleep.
    pub(super) sleeper: Option<usize>,
    pub(super) places: WatcherPlaces,
    /// Wakers that are to be called after the lock was released.
    pub(super) to_wake: Vec<Waker>,
    /// True if the owner and all receives have ended.
    pub(super) over: bool,
}

impl RingState {
    pub(super) fn new(buffers: Buffers) -> Self {
        Self {
            buffers,
            receivers: Vec::new(),
            sleeper: None,
            places: WatcherPlaces::default(),
            to_wake: Vec::new(),
            over: false,
        }
    }

    /// Adds a receiver and returns its number.
    pub(super) fn add(&mut self, receiver: RingReceiver) -> usize {
        let receivers = &mut self.receivers;
        let number = receivers.iter().position(Option::is_none);
        let number = number.unwrap_or_else(|| {
            receivers.push(None);
            receivers.len().saturating_sub(1)
        });
        if let Some(place) = receivers.get_mut(number) {
            *place = Some(receiver);
        }
        number
    }
    pub(super) fn receiver(&mut self, number: usize) -> Option<&mut RingReceiver> {
        self.receivers.get_mut(number).and_then(Option::as_mut)
    }

    /// Cancels the wake-up of a receiver.
    pub(super) fn disarm(&mut self, number: usize) -> Option<&mut RingReceiver> {
        let receiver = self.receivers.get_mut(number).and_then(Option::as_mut)?;
        if let Some(place) = receiver.armed.take() {
            self.places.release(place);
        }
        Some(receiver)
    }

    pub(super) fn copy_out(
        &mut self,
        number: usize,
        slices: &mut [MaybeUninitSlice<'_>],
    ) -> io::Result<TakeResult> {
        let receiver = self.receivers.get_mut(number).and_then(Option::as_mut);
        receiver.map_or(Ok(TakeResult::Never), |it| {
            it.copy_out(slices, &mut self.buffers)
        })
    }

    /// Processes a completion. Returns true if a receiver has more than its share of the buffers.
    pub(super) fn complete(&mut self, data: u64, result: i32, flags: u32) -> io::Result<bool> {
        let number = usize::try_from(data >> BITS).unwrap_or(usize::MAX);
        let Some(place) = self.receivers.get_mut(number) else {
            return Ok(false);
        };
        let Some(receiver) = place else {
            return Ok(false);
        };
        match data & ((1 << BITS) - 1) {
            RECEIVE => receiver.received(result, flags, &mut self.buffers)?,
            // The cancellation came too late or too early, so another one may be submitted.
            CANCEL if result < 0 => receiver.cancelled = false,
            _ => return Ok(false),
        }
        if receiver.abandoned {
            receiver.forget(&mut self.buffers);
            if !receiver.receiving {
                *place = None;
            }
            return Ok(false);
        }
        let plenty = receiver.has_plenty();
        if receiver.is_ready() {
            if let Some(place) = receiver.armed.take() {
                self.places.release(place);
                self.to_wake.extend(receiver.waker.clone());
            }
        }
        Ok(plenty)
    }

    /// Wakes all waiting receivers.
    pub(super) fn wake_all(&mut self) {
        for receiver in self.receivers.iter_mut().flatten() {
            if let Some(place) = receiver.armed.take() {
                self.places.release(place);
                self.to_wake.extend(receiver.waker.clone());
            }
        }
    }
}

/// Returns the user data of an operation for a receiver.
pub(super) fn mark(number: usize, operation: u64) -> u64 {
    ((number as u64) << BITS) | operation
}
