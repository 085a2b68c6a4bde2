//! Waking of threads and tasks that wait for sockets of a ring.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::Waker;

use super::ring::{Issuer, ReceiveRing};
use super::state::RingState;
use jstream_sync::watcher::Watcher;

impl ReceiveRing {
    /// Arranges that `waker` is called once when data can be taken. It is called by `watcher`
    /// unless there is a single issuer, and in any case by a thread that processes completions.
    /// Returns false if the caller has to watch the socket itself.
    pub(super) fn watch(
        &self,
        number: usize,
        waker: &Waker,
        watcher: &Arc<Watcher>,
    ) -> io::Result<bool> {
        let mut state = self.state();
        let looked = self.process_completions(&mut state);
        state.disarm(number);
        let watched = looked.and_then(|()| self.watch_locked(&mut state, number, waker, watcher));
        self.unlock(state);
        watched
    }

    fn watch_locked(
        &self,
        state: &mut RingState,
        number: usize,
        waker: &Waker,
        watcher: &Arc<Watcher>,
    ) -> io::Result<bool> {
        let RingState {
            receivers,
            places,
            to_wake,
            ..
        } = state;
        let receiver = receivers.get_mut(number).and_then(Option::as_mut);
        let Some(receiver) = receiver.filter(|it| it.receiving || it.has_some()) else {
            return Ok(false);
        };
        if receiver.has_some() {
            to_wake.push(waker.clone());
            return Ok(true);
        }
        let told = self.issuer == Issuer::Any;
        let place = if told {
            places.rely(watcher, self.uring.as_fd(), &self.bell)?
        } else {
            0
        };
        receiver.armed = Some(place);
        match &mut receiver.waker {
            Some(known) => known.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
        Ok(told)
    }
}
