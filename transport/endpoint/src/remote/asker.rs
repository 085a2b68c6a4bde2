//! Requests of this side, and their answers.

use std::collections::VecDeque;
use std::task::Waker;

use jstream::buffer::{BufferWriter, MessageBuffer};

use super::error::RemoteError;
use super::frame::{MOST_REQUESTS, PIECE, RemoteFrame, RemoteVerdict, Target};
use crate::ops::{Notify, OpId, Ops};
use jstream_base::Address;
use jstream_base::Header;

/// Outcome of a put, or of a get, which returns a buffer.
pub(super) type Answer = Result<Option<MessageBuffer>, RemoteError>;

/// A put or a get.
pub(super) struct Ask {
    target: Target,
    /// Length, in bytes.
    length: u64,
    work: AskerWork,
    /// Number of requests without an answer.
    flying: usize,
    error: Option<RemoteError>,
    answer: Option<Answer>,
    notify: Notify,
}

enum AskerWork {
    /// A put whose request is sent by the caller.
    Sent,
    Put {
        payload: Option<MessageBuffer>,
        notice: Option<Header>,
    },
    Get {
        /// Maximum length of a piece, in bytes.
        piece: u32,
        /// Number of bytes that were requested.
        asked: u64,
        into: Got,
    },
}

enum Got {
    /// All bytes arrive in one piece.
    Whole(Option<MessageBuffer>),
    Pieces(BufferWriter),
}

impl Ask {
    fn new(target: Target, length: u64, work: AskerWork) -> Self {
        Self {
            target,
            length,
            work,
            flying: 0,
            error: None,
            answer: None,
            notify: Notify::Ticket,
        }
    }

    /// Creates a put of a buffer, with the notice that follows it.
    pub(super) fn put(target: Target, payload: MessageBuffer, notice: Option<Header>) -> Self {
        let length = payload.len() as u64;
        let payload = Some(payload);
        Self::new(target, length, AskerWork::Put { payload, notice })
    }

    /// Creates a get in pieces of up to `piece` bytes. If there are several, `filling` has room for
    /// all of them.
    pub(super) fn get(
        target: Target,
        length: u64,
        piece: u32,
        filling: Option<BufferWriter>,
    ) -> Self {
        let into = filling.map_or(Got::Whole(None), Got::Pieces);
        let asked = 0;
        Self::new(target, length, AskerWork::Get { piece, asked, into })
    }
}

/// A request to be sent.
pub(super) struct PendingRequest {
    pub(super) header: Header,
    pub(super) payload: Option<MessageBuffer>,
    /// Message that is sent directly behind the request.
    pub(super) notice: Option<Header>,
}

/// A request without an answer.
struct Flight {
    request: u64,
    op: OpId,
    /// Expected length of the data; `None` for a put.
    data: Option<u32>,
}

/// All requests of one endpoint.
#[derive(Default)]
pub(super) struct Asks {
    ops: Ops<Ask>,
    /// Operations with requests that were not sent, in order.
    waiting: VecDeque<OpId>,
    /// Requests without an answer, in sending order; at most [`MOST_REQUESTS`].
    flying: VecDeque<Flight>,
    /// Number of the next request.
    next: u64,
    /// True if an answer has arrived for a blocked caller.
    pub(super) news: bool,
    /// Tasks whose answers have arrived.
    pub(super) to_wake: Vec<Waker>,
}

impl Asks {
    /// Returns true if no answer is due.
    pub(super) fn is_empty(&self) -> bool {
        self.flying.is_empty() && self.waiting.is_empty()
    }

    /// Appends a put or a get. [`next_request`](Self::next_request) returns its requests.
    pub(super) fn post(&mut self, ask: Ask) -> OpId {
        let id = self.ops.insert(ask);
        self.waiting.push_back(id);
        id
    }

    /// Returns the next request to send, unless the maximum number of requests is reached.
    pub(super) fn next_request(&mut self) -> Option<PendingRequest> {
        // The owner ends a connection with more requests than this, and the limit bounds its memory
        // for answers.
        if self.flying.len() >= MOST_REQUESTS {
            return None;
        }
        let op = *self.waiting.front()?;
        let request = self.next;
        let Some(ask) = self.ops.get_mut(op) else {
            unreachable!("a waiting operation exists");
        };
        let (frame, payload, notice, data) = match &mut ask.work {
            AskerWork::Get { piece, asked, .. } => {
                let rest = ask.length.saturating_sub(*asked);
                let length = u32::try_from(rest).map_or(*piece, |rest| rest.min(*piece));
                let target = Target {
                    // The range was checked against the length in the key, so the sum does not
                    // wrap.
                    offset: ask.target.offset.wrapping_add(*asked),
                    ..ask.target
                };
                *asked = asked.saturating_add(length.into());
                if *asked == ask.length {
                    self.waiting.pop_front();
                }
                let frame = RemoteFrame::Get {
                    request,
                    target,
                    length,
                };
                (frame, None, None, Some(length))
            }
            AskerWork::Put { payload, notice } => {
                self.waiting.pop_front();
                let frame = RemoteFrame::Put {
                    request,
                    target: ask.target,
                    notices: notice.is_some().into(),
                };
                (frame, payload.take(), notice.take(), None)
            }
            AskerWork::Sent => unreachable!("such an operation does not wait"),
        };
        ask.flying = ask.flying.saturating_add(1);
        self.take_off(op, data);
        Some(PendingRequest {
            header: frame.header(),
            payload,
            notice,
        })
    }

    /// Begins a put whose request the caller sends with the returned header. Returns `None` if the
    /// maximum number of requests is reached, or if others wait.
    pub(super) fn begin(&mut self, target: Target, length: u64) -> Option<(OpId, Header)> {
        // The caller sends the request itself, at once, so it must not pass requests that wait.
        if self.flying.len() >= MOST_REQUESTS || !self.waiting.is_empty() {
            return None;
        }
        let request = self.next;
        let mut ask = Ask::new(target, length, AskerWork::Sent);
        ask.flying = 1;
        let op = self.ops.insert(ask);
        self.take_off(op, None);
        let frame = RemoteFrame::Put {
            request,
            target,
            notices: 0,
        };
        Some((op, frame.header()))
    }

    fn take_off(&mut self, op: OpId, data: Option<u32>) {
        let request = self.next;
        self.next = request.wrapping_add(1);
        self.flying.push_back(Flight { request, op, data });
    }

    /// Removes a put whose request the caller could not send.
    pub(super) fn abort(&mut self, id: OpId) {
        self.flying.retain(|flight| flight.op != id);
        drop(self.ops.remove(id));
    }

    /// Returns true if a request expects data of this length.
    pub(super) fn expects(&self, request: u64, length: u64) -> bool {
        let mut flying = self.flying.iter();
        let flight = flying.find(|flight| flight.request == request);
        flight.is_some_and(|flight| flight.data.is_some_and(|data| u64::from(data) == length))
    }

    /// Handles a verdict of the owner. Returns false if the verdict is not valid for the request.
    pub(super) fn judge(&mut self, request: u64, verdict: RemoteVerdict, peer: &Address) -> bool {
        let mut flying = self.flying.iter();
        let is_get = |flight: &Flight| flight.request == request && flight.data.is_some();
        // A get that succeeds is answered by its data. A verdict instead would complete it without
        // any.
        if verdict == RemoteVerdict::Done && flying.any(is_get) {
            return false;
        }
        let Some((op, _)) = self.land(request) else {
            return false;
        };
        // The owner has answered an operation that was forgotten, which is no error of the peer.
        let Some(ask) = self.ops.get_mut(op) else {
            return true;
        };
        let error = RemoteError::new(verdict, ask.target.offset, ask.length, peer);
        if let Some(error) = error {
            // The first error is reported. Other pieces that are under way may fail, too.
            ask.error.get_or_insert(error);
            // The remaining pieces are not requested.
            self.waiting.retain(|waiting| *waiting != op);
        }
        self.advance(op);
        true
    }

    /// Handles data of the owner that were [expected](Self::expects). Returns false if they are not
    /// the next piece.
    pub(super) fn take_data(&mut self, request: u64, data: MessageBuffer) -> bool {
        let Some((op, Some(_))) = self.land(request) else {
            return false;
        };
        let Some(ask) = self.ops.get_mut(op) else {
            return true;
        };
        match &mut ask.work {
            AskerWork::Get { into, .. } => match into {
                Got::Whole(place) => *place = Some(data),
                // The buffer has room for all requested pieces.
                Got::Pieces(filling) => drop(filling.extend(data.as_bytes())),
            },
            AskerWork::Sent | AskerWork::Put { .. } => return false,
        }
        self.advance(op);
        true
    }

    /// Removes a request that was answered. The pieces of one get must arrive in order.
    fn land(&mut self, request: u64) -> Option<(OpId, Option<u32>)> {
        let place = self
            .flying
            .iter()
            .position(|flight| flight.request == request)?;
        let op = self.flying.get(place)?.op;
        // Pieces are appended in the order of their answers, so an answer out of order would be put
        // at the wrong place.
        if self.flying.iter().position(|flight| flight.op == op) != Some(place) {
            return None;
        }
        let flight = self.flying.remove(place)?;
        if let Some(ask) = self.ops.get_mut(op) {
            ask.flying = ask.flying.saturating_sub(1);
        }
        Some((op, flight.data))
    }

    /// Completes an operation if all its requests were sent and answered.
    fn advance(&mut self, op: OpId) {
        let waits = self.waiting.contains(&op);
        let Some(ask) = self.ops.get_mut(op).filter(|ask| ask.flying == 0 && !waits) else {
            return;
        };
        let got = match &mut ask.work {
            AskerWork::Sent | AskerWork::Put { .. } => None,
            AskerWork::Get { into, .. } => match std::mem::replace(into, Got::Whole(None)) {
                Got::Whole(filled) => filled,
                Got::Pieces(filling) => Some(filling.finish()),
            },
        };
        let answer = ask.error.take().map_or(Ok(got), Err);
        self.complete(op, answer);
    }

    fn complete(&mut self, op: OpId, answer: Answer) {
        let Some(ask) = self.ops.get_mut(op) else {
            return;
        };
        ask.answer = Some(answer);
        match std::mem::replace(&mut ask.notify, Notify::Ticket) {
            Notify::Task(task) => self.to_wake.push(task),
            Notify::Nobody => drop(self.ops.remove(op)),
            _ => self.news = true,
        }
    }

    /// Completes all operations with an error, because the connection has ended.
    pub(super) fn end(&mut self, mut error: impl FnMut() -> RemoteError) {
        while let Some(op) = self
            .flying
            .pop_front()
            .map(|flight| flight.op)
            .or_else(|| self.waiting.pop_front())
        {
            // One operation may have several requests in both lists, and completes once.
            let ended = self.ops.get_mut(op).is_none_or(|ask| ask.answer.is_some());
            if !ended {
                self.complete(op, Err(error()));
            }
        }
    }

    /// Returns the outcome of an operation once.
    pub(super) fn take_answer(&mut self, id: OpId) -> Option<Answer> {
        self.ops.get_mut(id)?.answer.as_ref()?;
        self.ops.remove(id)?.answer
    }

    /// Registers `task` to be woken when the operation completes. Returns the task that it
    /// replaces.
    pub(super) fn notify(&mut self, id: OpId, task: &Waker) -> Option<Waker> {
        self.ops.get_mut(id)?.notify.set_task(task)
    }

    /// Returns true if `task` waits for an operation.
    pub(super) fn is_awaited_by(&self, task: &Waker) -> bool {
        self.ops.iter().any(|ask| ask.notify.is_task(task))
    }

    /// Detaches an operation from its owner. A put is still carried out; a get sends no more
    /// requests.
    pub(super) fn forget(&mut self, id: OpId) -> (Option<Answer>, Option<Waker>) {
        let Some(ask) = self.ops.get_mut(id) else {
            return (None, None);
        };
        if ask.answer.is_some() {
            return (self.take_answer(id), None);
        }
        let task = match std::mem::replace(&mut ask.notify, Notify::Nobody) {
            Notify::Task(task) => Some(task),
            _ => None,
        };
        // The data would go nowhere. A put that was posted has been promised to happen.
        if matches!(ask.work, AskerWork::Get { .. }) {
            self.waiting.retain(|waiting| *waiting != id);
            self.advance(id);
        }
        (None, task)
    }
}

/// Returns the maximum length of a piece of a get, if messages of up to `max_receive` bytes are
/// received.
pub(super) fn piece(max_receive: u64) -> u32 {
    u32::try_from(max_receive).map_or(PIECE, |max| max.clamp(1, PIECE))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::arithmetic_side_effects, reason = "test code")]

    use super::*;
    use jstream::buffer::EmptyBuffer;

    const TARGET: Target = Target { key: 1, offset: 10 };

    fn jbuf(bytes: &[u8]) -> MessageBuffer {
        EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap()
    }

    fn get(asks: &mut Asks, length: usize, piece: u32) -> OpId {
        let filling = Some(EmptyBuffer::heap(length).writer());
        asks.post(Ask::get(TARGET, length as u64, piece, filling))
    }

    fn peer() -> Address {
        "inproc://peer".parse().unwrap()
    }

    #[test]
    fn a_get_is_asked_for_in_pieces() {
        let mut asks = Asks::default();
        let id = get(&mut asks, 10, 4);
        let mut offsets = Vec::new();
        while let Some(request) = asks.next_request() {
            offsets.push((request.header.words[1], request.header.kind));
        }
        assert_eq!(offsets, [(10, 4), (14, 4), (18, 2)]);
        assert!(asks.expects(0, 4) && asks.expects(2, 2));
        assert!(!asks.expects(2, 4) && !asks.expects(3, 4));
        for (request, bytes) in [(0, &[1; 4][..]), (1, &[2; 4]), (2, &[3; 2])] {
            assert!(asks.take_answer(id).is_none());
            assert!(asks.take_data(request, jbuf(bytes)));
        }
        let got = asks.take_answer(id).unwrap().unwrap().unwrap();
        assert_eq!(got.as_bytes(), [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        assert!(asks.is_empty() && asks.take_answer(id).is_none());
    }

    #[test]
    fn numbers_of_requests_wrap() {
        let mut asks = Asks {
            next: u64::MAX - 1,
            ..Asks::default()
        };
        let id = get(&mut asks, 4, 1);
        let mut numbers = Vec::new();
        while let Some(request) = asks.next_request() {
            numbers.push(request.header.words[2]);
        }
        assert_eq!(numbers, [u64::MAX - 1, u64::MAX, 0, 1]);
        for (byte, request) in (1..).zip(numbers) {
            assert!(asks.expects(request, 1) && asks.take_data(request, jbuf(&[byte])));
        }
        let got = asks.take_answer(id).unwrap().unwrap().unwrap();
        assert_eq!(got.as_bytes(), [1, 2, 3, 4]);
    }

    #[test]
    fn answers_that_make_no_sense_are_refused() {
        let mut asks = Asks::default();
        let id = get(&mut asks, 8, 4);
        while asks.next_request().is_some() {}
        // Not the next piece, and a piece that was not requested.
        assert!(!asks.take_data(1, jbuf(&[1; 4])));
        assert!(!asks.take_data(2, jbuf(&[1; 4])));
        assert!(!asks.judge(7, RemoteVerdict::Done, &peer()));
        // A get is not answered by `Done`.
        assert!(!asks.judge(0, RemoteVerdict::Done, &peer()));
        // The get still completes when the connection ends.
        asks.end(|| RemoteError::NoRoom { peer: peer() });
        assert!(matches!(asks.take_answer(id), Some(Err(_))));
        asks.post(Ask::put(TARGET, jbuf(&[1]), None));
        let request = asks.next_request().unwrap().header.words[2];
        assert!(!asks.expects(request, 1));
        assert!(!asks.take_data(request, jbuf(&[1])));
    }

    #[test]
    fn only_so_many_fly() {
        let mut asks = Asks::default();
        let ids: Vec<_> = (0..2 * MOST_REQUESTS)
            .map(|_| asks.post(Ask::put(TARGET, jbuf(&[1]), None)))
            .collect();
        let mut sent = 0;
        while asks.next_request().is_some() {
            sent += 1;
        }
        assert_eq!(sent, MOST_REQUESTS);
        assert!(asks.begin(TARGET, 1).is_none());
        assert!(asks.judge(5, RemoteVerdict::Done, &peer()));
        assert!(matches!(asks.take_answer(ids[5]), Some(Ok(None))));
        assert!(asks.next_request().is_some() && asks.next_request().is_none());
        let ended = || RemoteError::NoRoom { peer: peer() };
        asks.end(ended);
        assert!(asks.is_empty());
        assert!(matches!(asks.take_answer(ids[6]), Some(Err(_))));
        assert!(matches!(asks.take_answer(ids[63]), Some(Err(_))));
    }

    #[test]
    fn forgotten_requests_leave_no_state() {
        let mut asks = Asks::default();
        let id = get(&mut asks, 100, 1);
        while asks.next_request().is_some() {}
        asks.forget(id);
        for request in 0..MOST_REQUESTS as u64 {
            assert!(asks.expects(request, 1) && asks.take_data(request, jbuf(&[1])));
        }
        assert!(asks.is_empty() && asks.ops.get(id).is_none());
        let id = get(&mut asks, 4, 4);
        asks.forget(id);
        assert!(asks.is_empty() && asks.ops.get(id).is_none());
    }

    #[test]
    fn a_refused_piece_ends_the_get() {
        let mut asks = Asks::default();
        let id = get(&mut asks, 100, 1);
        while asks.next_request().is_some() {}
        for request in 0..MOST_REQUESTS as u64 {
            assert!(asks.judge(request, RemoteVerdict::NoSuchKey, &peer()));
            assert!(asks.next_request().is_none());
        }
        assert!(matches!(
            asks.take_answer(id),
            Some(Err(RemoteError::NoSuchKey { .. }))
        ));
    }
}
