//! Frames in the receive direction.

use jstream::buffer::{EmptyBuffer, MessageBuffer};

use super::asker::Ask;
use super::error::RemoteError;
use super::frame::{MOST_REQUESTS, RemoteFrame, RemoteVerdict};
use super::key::Rights;
use super::window::Window;
use crate::connection_info::EndReason;
use crate::direction_lock::Direction;
use crate::ops::{Notify, OpId};
use crate::receiving::{Arrived, Destination, Receiving, SCRATCH};
use jstream_base::Header;
use jstream_base::{HeaderError, RecvError};
use jstream_device::connection::{Body, Outbound, Payload};
use jstream_sync::callbacks;

/// Result of serving the next frame.
pub(crate) enum ServeOutcome {
    Done,
    /// The frame is incomplete.
    Partly,
    /// The frame was a notice, which is delivered as a message.
    Arrived(Arrived),
    Failed(RecvError),
}

impl Receiving {
    /// Returns the next message of the device, after serving the frames before it.
    pub(crate) fn next_behind_frames(
        &mut self,
        place: Destination<'_>,
    ) -> Option<Result<Arrived, RecvError>> {
        loop {
            let header = match self.half.as_mut()?.header() {
                Ok(Some(header)) => header,
                Ok(None) => return None,
                Err(fault) => return self.handle_fault(fault).map(Err),
            };
            if header.op() == 0 {
                return self.next_new(place);
            }
            match self.serve(header) {
                ServeOutcome::Done => {}
                ServeOutcome::Partly => return None,
                ServeOutcome::Arrived(arrived) => return Some(Ok(arrived)),
                ServeOutcome::Failed(error) => return Some(Err(error)),
            }
        }
    }

    /// Receives frames although no receive waits for a message. Messages before them are kept.
    pub(crate) fn drive_remote(&mut self) {
        self.remote.stuck = false;
        while self.end.is_none() && self.half.is_some() {
            // Frames and messages arrive in one order. To get at a frame, the messages before it
            // have to be kept, and the peer decides how many these are.
            if self.kept.len() >= self.info.kept_messages
                || self.remote.kept_bytes >= self.info.kept_bytes
            {
                // No message can be taken, so frames behind it are not visible.
                self.remote.stuck = true;
                break;
            }
            match self.next_new(Destination::Pool) {
                None => break,
                Some(Ok(arrived)) => {
                    self.remote.kept_bytes =
                        self.remote.kept_bytes.saturating_add(arrived.header.length);
                    self.kept.push_back(arrived);
                    self.common.duties.record_change();
                    self.report();
                }
                // The connection has ended, or the pool has no room at the moment.
                Some(Err(_)) => {
                    self.remote.stuck = true;
                    break;
                }
            }
        }
        if let Some(end) = &self.end {
            let info = &self.info;
            self.remote.asks.end(|| RemoteError::Unanswered {
                source: info.recv_error(end),
            });
            self.tell_answers();
        }
    }

    /// Returns the oldest kept message.
    pub(crate) fn take_kept(&mut self) -> Option<Arrived> {
        let arrived = self.kept.pop_front()?;
        self.remote.kept_bytes = self.remote.kept_bytes.saturating_sub(arrived.header.length);
        if self.remote.stuck {
            // Wakes the callers that wait for an answer, so that they poll again.
            self.remote.stuck = false;
            self.common.duties.record_change();
        }
        Some(arrived)
    }

    /// Receives a frame, whose header has arrived, and carries it out.
    pub(crate) fn serve(&mut self, header: Header) -> ServeOutcome {
        let frame = match RemoteFrame::from_header(&header) {
            Ok(frame) => frame,
            Err(error) => return self.refuse(error),
        };
        if let RemoteFrame::Data { request } = frame {
            // Check before a buffer is taken for the data.
            if !self.remote.asks.expects(request, header.length) {
                return self.refuse(HeaderError::Unexpected { op: header.op() });
            }
        }
        if !self.begun {
            self.begun = true;
            // Data are passed to the requester in a buffer of the pool.
            let lends = !matches!(frame, RemoteFrame::Data { .. }) && !self.info.limits.moves;
            if lends && header.length <= SCRATCH as u64 {
                let scratch = self.scratch.take();
                let scratch = scratch.unwrap_or_else(|| EmptyBuffer::heap(SCRATCH));
                self.into = Some(scratch.writer());
                self.remote.scratched = true;
            }
        }
        let Some(half) = &mut self.half else {
            return ServeOutcome::Partly;
        };
        let payload = match half.payload(&mut self.into) {
            Ok(Some(payload)) => payload,
            Ok(None) => return ServeOutcome::Partly,
            Err(fault) => {
                return self
                    .handle_fault(fault)
                    .map_or(ServeOutcome::Partly, ServeOutcome::Failed);
            }
        };
        let number = self.end_message(&header);
        // An object can only arrive from a peer in this process. No frame carries one.
        let Payload::Bytes(filled) = payload else {
            return self.refuse(HeaderError::Unexpected { op: header.op() });
        };
        let served = self.carry_out(frame, &header, filled, number);
        // An answer may have made room for a further request.
        self.ask_more();
        self.tell_answers();
        served
    }

    fn carry_out(
        &mut self,
        frame: RemoteFrame,
        header: &Header,
        filled: MessageBuffer,
        number: u64,
    ) -> ServeOutcome {
        let unexpected = HeaderError::Unexpected { op: header.op() };
        let makes_sense = match frame {
            RemoteFrame::Put {
                request,
                target,
                notices,
            } => {
                let verdict = self.remote.exposed.put(target, filled.as_bytes());
                self.recycle(filled);
                let is_done = verdict == RemoteVerdict::Done;
                if notices > 0 && !self.remote.exposed.expect_notice(is_done) {
                    return self.refuse(unexpected);
                }
                return self.answer(RemoteFrame::Done { request, verdict }, None);
            }
            RemoteFrame::Get {
                request,
                target,
                length,
            } => {
                self.recycle(filled);
                let got = if u64::from(length) > self.info.limits.max_send {
                    Err(RemoteVerdict::NoRoom)
                } else {
                    let pool = &self.info.pool;
                    self.remote.exposed.get(target, length, pool)
                };
                return match got {
                    Ok(data) => self.answer(RemoteFrame::Data { request }, Some(data)),
                    Err(verdict) => self.answer(RemoteFrame::Done { request, verdict }, None),
                };
            }
            RemoteFrame::Done { request, verdict } => {
                self.recycle(filled);
                let peer = &self.info.peer;
                self.remote.asks.judge(request, verdict, peer)
            }
            RemoteFrame::Data { request } => self.remote.asks.take_data(request, filled),
            RemoteFrame::Notice { .. } => {
                let is_done = self.remote.exposed.notice();
                if is_done == Some(true) {
                    // From here on it is a message of the program.
                    let header = header.with_op(0);
                    let payload = self.info.pool.take(0).map(|empty| empty.writer().finish());
                    self.recycle(filled);
                    let payload =
                        payload.unwrap_or_else(|_| EmptyBuffer::heap(0).writer().finish());
                    return ServeOutcome::Arrived(Arrived {
                        header,
                        payload: Payload::Bytes(payload),
                        number,
                    });
                }
                self.recycle(filled);
                is_done.is_some()
            }
        };
        if makes_sense {
            ServeOutcome::Done
        } else {
            self.refuse(unexpected)
        }
    }

    /// Returns the buffer of a frame's payload to the scratch slot if it came from there.
    fn recycle(&mut self, filled: MessageBuffer) {
        if std::mem::take(&mut self.remote.scratched) {
            self.scratch = Some(filled.into_empty());
        }
    }

    /// Ends the connection because the peer violates the protocol.
    fn refuse(&mut self, error: HeaderError) -> ServeOutcome {
        let end = EndReason::Malformed(error);
        let failed = ServeOutcome::Failed(self.info.recv_error(&end));
        self.end_with(end);
        failed
    }

    /// Posts an answer behind all posted messages.
    fn answer(&mut self, frame: RemoteFrame, data: Option<MessageBuffer>) -> ServeOutcome {
        let sent = match self.shared.upgrade() {
            // The receive direction may lock the send direction, never the other way round.
            Some(shared) => shared.sending().post_answer(outbound(frame.header(), data)),
            // The connection is being dropped, so nobody is left to be answered.
            None => true,
        };
        if sent {
            ServeOutcome::Done
        } else {
            self.refuse(HeaderError::TooManyRequests { max: MOST_REQUESTS })
        }
    }

    /// Sends requests up to the maximum number.
    fn ask_more(&mut self) {
        while let Some(request) = self.remote.asks.next_request() {
            let Some(shared) = self.shared.upgrade() else {
                return;
            };
            let notice = request.notice.map(|header| outbound(header, None));
            let message = outbound(request.header, request.payload);
            let messages = [Some(message), notice].into_iter().flatten();
            let requests = messages.map(|message| (message, Notify::Request));
            // They contain no answers, so the limit of answers does not apply.
            let _ = shared.sending().post_replies(requests);
        }
    }

    /// Wakes the callers and tasks whose answers have arrived.
    fn tell_answers(&mut self) {
        let asks = &mut self.remote.asks;
        if std::mem::take(&mut asks.news) {
            self.common.duties.record_change();
        }
        for task in asks.to_wake.drain(..) {
            self.alarm.forget(&task);
            callbacks::wake(task);
        }
    }

    /// Exposes a window. Returns false if the key exists.
    pub(super) fn expose(&mut self, key: u64, window: Window, rights: Rights) -> bool {
        self.is_driven = true;
        self.remote.exposed.insert(key, window, rights)
    }

    pub(super) fn withdraw(&mut self, key: u64) -> Option<Window> {
        self.remote.exposed.remove(key)
    }

    /// Appends a put or a get.
    pub(super) fn post_ask(&mut self, ask: Ask) -> OpId {
        self.is_driven = true;
        let id = self.remote.asks.post(ask);
        if self.end.is_none() {
            self.ask_more();
        }
        // An answer may have arrived already that no thread has looked for.
        self.drive();
        id
    }

    /// Begins a put whose request the caller sends. Returns an error if the connection has ended.
    pub(super) fn begin_put(
        &mut self,
        target: super::frame::Target,
        length: u64,
    ) -> Option<Result<(OpId, Header), RemoteError>> {
        if let Some(end) = &self.end {
            let source = self.info.recv_error(end);
            return Some(Err(RemoteError::Unanswered { source }));
        }
        self.is_driven = true;
        self.remote.asks.begin(target, length).map(Ok)
    }

    /// Aborts a put whose request could not be sent.
    pub(super) fn abort_put(&mut self, id: OpId) {
        self.remote.asks.abort(id);
        self.ask_more();
    }

    pub(super) fn take_answer(&mut self, id: OpId) -> Option<super::asker::Answer> {
        self.remote.asks.take_answer(id)
    }

    /// Returns the number of kept messages if no more can be kept. A caller that waits for an
    /// answer then has to wait until messages are received.
    pub(super) fn blocked_by(&self) -> Option<usize> {
        (self.remote.stuck && self.end.is_none()).then_some(self.kept.len())
    }

    pub(super) fn notify_answer(&mut self, id: OpId, task: &std::task::Waker) {
        if let Some(other) = self.remote.asks.notify(id, task) {
            self.release(other);
        }
    }

    pub(super) fn forget_answer(&mut self, id: OpId) -> Option<super::asker::Answer> {
        let (answer, task) = self.remote.asks.forget(id);
        if let Some(task) = task {
            self.release(task);
        }
        answer
    }
}

fn outbound(header: Header, payload: Option<MessageBuffer>) -> Outbound<'static> {
    let length = payload.as_ref().map_or(0, |filled| filled.len() as u64);
    Outbound {
        header: header.with_length(length),
        body: payload.map_or(Body::Borrowed(&[]), Body::Owned),
        is_exchange: false,
        taken: 0,
    }
}
