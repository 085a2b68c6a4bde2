//! Receive sink of a connection to a rank.
//!
//! Decisions 070 and 114 have the reasons.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::credit::Passed;
use super::inbox::Inbox;
use super::outbound::{outbound, without_payload};
use super::state::RankState;
use super::table::Number;
use super::transfer::Violation;
use super::transfer::connection::RequestedPayload;
use super::wire::{ANNOUNCEMENT, Frame, Label, strange};
use super::work_queue::{DeferredTask, DeferredWork};
use jstream::buffer::Pool;
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Body, Payload};
use jstream_endpoint::gate::Credit;
use jstream_endpoint::ops::{Notify, Sink};
use jstream_endpoint::receiving::{Choice, ReceiveSink, Replies};

/// The receive sink for the messages of one rank.
///
/// The methods are called under the lock of the receive direction, so there is one call at a time.
pub(super) struct RankSink {
    pub(super) inbox: Arc<Inbox>,
    pub(super) rank: u32,
    /// Maximum length in bytes of an eager message, and of a payload that waits until the pool of
    /// the connection has room for it.
    pub(super) max_receive: u64,
    /// True if the device moves buffers, so that payloads need no memory.
    pub(super) moves: bool,
    pub(super) pool: Pool,
    /// Receives the outcomes of payloads that the other rank has requested.
    pub(super) requested: Arc<dyn Sink>,
    /// True if nothing more arrives. Set after the inbox has been notified.
    pub(super) gone: Arc<AtomicBool>,
    /// Counter of messages that bypassed this sink.
    pub(super) passed: Arc<Passed>,
    /// True once the peer has sent its hello frame.
    pub(super) greeted: AtomicBool,
}

impl RankSink {
    fn with<R>(
        &self,
        replies: &mut Replies,
        work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R,
    ) -> R {
        let mut deferred = DeferredWork::default();
        let mut state = self.inbox.lock();
        let result = work(&mut state, &mut deferred);
        state.release();
        if !deferred.is_empty() {
            self.carry_out(deferred, replies);
        }
        result
    }

    #[cold]
    fn carry_out(&self, deferred: DeferredWork, replies: &mut Replies) {
        self.inbox.carry_out(deferred, |task| {
            let DeferredTask::SendFrame { to, frame } = task else {
                return;
            };
            if to == self.rank {
                // A thread that waits drives the replies itself.
                replies.alone |= !self.inbox.somebody_waits();
                // The number of pending answers is limited, so that a peer that asks and does not
                // read can't exhaust the memory.
                let notify = match frame {
                    Frame::Withdrawn { .. } => Notify::Answer,
                    _ => Notify::Request,
                };
                replies.push(without_payload(frame), notify);
            } else {
                // Another connection must not be used here, under the lock of this one.
                self.inbox
                    .defer_frame(DeferredTask::SendFrame { to, frame });
            }
        });
    }

    /// Like [`with`](Self::with), for a message that uses credit. Messages that bypassed this sink
    /// used theirs before.
    #[inline]
    fn with_message<R>(
        &self,
        replies: &mut Replies,
        work: impl FnOnce(&mut RankState, &mut DeferredWork) -> R,
    ) -> R {
        self.with(replies, |state, deferred| {
            // Taken with the next message that is charged, so that the account never shows less
            // than what the peer has used.
            let passed = self.passed.take();
            if passed != Credit::FREE {
                state.release_bypassed(self.rank, passed, deferred);
            }
            work(state, deferred)
        })
    }

    #[inline]
    fn eager(
        &self,
        header: &Header,
        label: Label,
        offer: Option<Number>,
        replies: &mut Replies,
    ) -> Choice {
        let (rank, length) = (self.rank, header.length);
        // The device accepts any length since the sink was set, so the limit is checked here.
        if length > self.max_receive {
            return Choice::Refuse(strange(header.kind));
        }
        let chosen = self.with_message(replies, |state, deferred| {
            state.begin_message(rank, label, offer, length, deferred)
        });
        chosen.unwrap_or_else(|Violation| Choice::Refuse(strange(header.kind)))
    }

    /// Directs a payload that was requested to its destination.
    fn data(&self, header: &Header, want: Number, replies: &mut Replies) -> Choice {
        let (rank, length) = (self.rank, header.length);
        self.with(replies, |state, deferred| {
            let choice = match state.begin_payload(rank, want, length, deferred) {
                Ok(choice) => choice,
                Err(Violation) => return Choice::Refuse(strange(header.kind)),
            };
            let is_long = length > self.max_receive && !self.moves;
            match choice {
                // A payload beyond the limit does not wait for room. All other messages of the
                // connection would wait, too.
                Choice::Pool if is_long => {
                    let capacity = usize::try_from(length).unwrap_or(usize::MAX);
                    match self.pool.take(capacity) {
                        Ok(empty) => Choice::Jbuf(empty),
                        Err(source) => {
                            state.drop_payload(rank, length, source, deferred);
                            Choice::Discard
                        }
                    }
                }
                choice => choice,
            }
        })
    }

    /// Handles a frame of a transfer.
    fn transfer(
        &self,
        frame: Frame,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), Violation> {
        let requested = self.with_message(replies, |state, deferred| {
            state.handle_frame(self.rank, frame, payload, deferred)
        })?;
        if let Some(RequestedPayload { want, offer }) = requested {
            let body = offer.body.unwrap_or(Body::Taken);
            let mut message = outbound(Frame::Data { want }, offer.length, body);
            message.is_exchange = offer.is_exchange;
            let notify = Notify::Sink(self.requested.clone(), offer.request.number());
            replies.alone |= !self.inbox.somebody_waits();
            replies.push(message, notify);
        }
        Ok(())
    }
}

impl ReceiveSink for RankSink {
    #[inline]
    fn choose(&self, header: &Header, replies: &mut Replies) -> Choice {
        let refused = || Choice::Refuse(strange(header.kind));
        let frame = Frame::parse(header);
        if let Ok(Some((label, offer))) = frame.map(Frame::eager) {
            return self.eager(header, label, offer, replies);
        }
        match frame {
            Ok(Frame::Data { want }) => self.data(header, want, replies),
            Ok(Frame::Announced { .. }) if header.length == ANNOUNCEMENT => Choice::Brief,
            Ok(Frame::Announced { .. }) => refused(),
            Ok(_) if header.length == 0 => Choice::Brief,
            Ok(_) => refused(),
            Err(error) => Choice::Refuse(error),
        }
    }

    #[inline]
    fn take(&self, _: &Header, payload: Payload, replies: &mut Replies) -> Result<(), HeaderError> {
        self.with(replies, |state, deferred| {
            state.complete_payload(self.rank, payload, deferred);
        });
        Ok(())
    }

    fn take_brief(
        &self,
        header: &Header,
        payload: &[u8],
        replies: &mut Replies,
    ) -> Result<(), HeaderError> {
        let strange = strange(header.kind);
        match Frame::parse(header)? {
            Frame::Revoked { context, rank } => {
                let mut state = self.inbox.lock();
                match state.record_revocation(context, rank, self.rank) {
                    true => Ok(()),
                    false => Err(strange),
                }
            }
            // A second window would be added to the first one.
            Frame::Hello { .. } if self.greeted.swap(true, Ordering::Relaxed) => Err(strange),
            Frame::Hello {
                messages, bytes, ..
            } => {
                replies.open(Credit { messages, bytes }, strange);
                replies.alone |= !self.inbox.somebody_waits();
                Ok(())
            }
            Frame::Credit { messages, bytes } => {
                replies.restore(Credit { messages, bytes }, strange);
                replies.alone |= !self.inbox.somebody_waits();
                Ok(())
            }
            frame => {
                let handled = self.transfer(frame, payload, replies);
                handled.map_err(|Violation| strange)
            }
        }
    }

    fn starve(&self) {
        self.inbox.set_starved();
    }

    fn lose(&self, error: RecvError) {
        let reason = Arc::from(error.to_string());
        let mut deferred = DeferredWork::default();
        self.inbox.lock().lose(self.rank, &reason, &mut deferred);
        // Set after the requests have failed: a thread that finds the flag set also finds the
        // reason in the inbox.
        self.gone.store(true, Ordering::Release);
        self.inbox
            .carry_out(deferred, |task| self.inbox.defer_frame(task));
    }
}
