//! Delivery of queued messages to the inbox, under its lock.

use std::sync::atomic::Ordering;

use super::{Content, Entry, Exit, SHORT, SLOTS, queue};
use crate::inbox::Inbox;
use crate::letter::{Ack, Letter};
use crate::state::{Peer, RankState};
use crate::work_queue::DeferredWork;
use jstream_device::connection::Payload;
use jstream_matching::{Arrival, Heading, Matched};

impl Inbox {
    /// Opens the queue for messages of a rank. `None` if it has one already.
    #[cold]
    pub(crate) fn open_queue(&self, source: u32) -> Option<Entry> {
        let mut state = self.lock();
        let peer = state.peer(source).filter(|peer| peer.exit.is_none())?;
        let (entry, exit, viewer) = queue();
        // The view is set only here, once, because there was no queue before.
        let _ = self.views.get(source as usize)?.set(viewer);
        peer.exit = Some(exit);
        self.settle(&mut state, source);
        Some(entry)
    }

    /// Returns true if the queue of a rank seems to have a message.
    #[inline]
    pub(crate) fn has_queued(&self, source: u32) -> bool {
        let view = self.views.get(source as usize);
        view.and_then(|view| view.get())
            .is_some_and(|view| view.is_filled())
    }

    /// Drains the queue of a rank.
    #[inline]
    pub(crate) fn take_in(&self, state: &mut RankState, source: u32, deferred: &mut DeferredWork) {
        let exit = state.peer(source).map(|peer| &mut peer.exit);
        if let Some(exit) = exit.and_then(|exit| exit.take_if(|exit| exit.is_filled())) {
            self.take_all(state, source, exit, deferred);
        }
    }

    /// Drains all queues.
    pub(crate) fn take_in_all(&self, state: &mut RankState, deferred: &mut DeferredWork) {
        for source in 0..self.size {
            self.take_in(state, source, deferred);
        }
    }

    fn take_all(
        &self,
        state: &mut RankState,
        source: u32,
        mut exit: Exit,
        deferred: &mut DeferredWork,
    ) {
        let all = |_: &Heading| true;
        while exit
            .take(source, all, |heading, content| {
                self.admit(state, heading, content, deferred);
            })
            .is_some()
        {}
        if let Some(peer) = state.peer(source) {
            peer.exit = Some(exit);
        }
        self.settle(state, source);
    }

    /// Gives a message that was sent already to the receive that matches it, or adds it to the
    /// unexpected messages.
    fn admit(
        &self,
        state: &mut RankState,
        heading: Heading,
        content: Content<'_>,
        deferred: &mut DeferredWork,
    ) {
        if state.is_dropped(&heading, deferred) {
            if let Content::Jbuf(filled) = content {
                deferred.drop_later(Payload::Bytes(filled));
            }
            return;
        }
        match state.matcher.arrive_beyond(heading, Letter::Lost) {
            Ok(Arrival::Matched(Matched { receive, .. })) => match content {
                Content::Bytes(bytes) => self.bring(state, receive, &heading, bytes, deferred),
                Content::Jbuf(filled) => {
                    let payload = Payload::Bytes(filled);
                    let accepted = match &payload {
                        Payload::Bytes(filled) => {
                            state.accept_with(receive, &heading, filled.as_bytes(), deferred)
                        }
                        Payload::Object(_) => state.accept(receive, &heading, deferred),
                    };
                    if accepted {
                        state.hand_over(receive, &heading, payload, deferred);
                    } else {
                        deferred.drop_later(payload);
                    }
                }
            },
            Ok(Arrival::Waits(id)) => {
                let payload = Payload::Bytes(content.into_jbuf(self.pool()));
                let ack = Ack::Nobody;
                if let Some(letter) = state.matcher.message_mut(id) {
                    *letter = Letter::Here { payload, ack };
                }
                state.record_arrival();
            }
            Ok(Arrival::Full(_)) => unreachable!("the bounds do not apply to queued messages"),
            // The rank has ended.
            Err(_) => {
                if let Content::Jbuf(filled) = content {
                    deferred.drop_later(Payload::Bytes(filled));
                }
            }
        }
    }

    /// Opens or closes the queue of a rank, depending on how many of its messages are unexpected.
    /// Must be called after the last change to the state of a rank.
    #[inline]
    pub(crate) fn settle(&self, state: &mut RankState, source: u32) {
        let RankState { matcher, peers, .. } = state;
        let Some(Peer {
            exit: Some(exit),
            backlog,
            ..
        }) = peers.get(source as usize)
        else {
            return;
        };
        let (messages, bytes) = matcher.held(source).unwrap_or((usize::MAX, 0));
        let bounds = self.options.bounds;
        // Messages that are in the queue now, and those that may arrive before it is drained next.
        let messages = messages.saturating_add(2 * SLOTS);
        let bytes = bytes.saturating_add((2 * SLOTS * SHORT) as u64);
        let is_open = backlog.is_empty() && messages <= bounds.messages && bytes <= bounds.bytes;
        if exit.is_open.0.load(Ordering::Relaxed) != is_open {
            exit.is_open.0.store(is_open, Ordering::Relaxed);
        }
    }

    /// Closes all queues. The caller must drop the result without holding the lock.
    pub(crate) fn close_queues(state: &mut RankState) -> impl Sized + use<> {
        let exits = state.peers.iter_mut().filter_map(|peer| peer.exit.take());
        Cleared(exits.collect())
    }
}

/// Queues that were closed, with the messages in them.
struct Cleared(Vec<Exit>);

impl Drop for Cleared {
    fn drop(&mut self) {
        for exit in &mut self.0 {
            while exit.take(0, |_| true, |_, content| drop(content)).is_some() {}
        }
    }
}
