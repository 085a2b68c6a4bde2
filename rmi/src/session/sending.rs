//! What goes over a connection: calls, what is said of references, and parts of streams.

use std::io::IoSlice;
use std::time::Instant;

use jstream_transport::active::{RequestError, Ticket};

use super::{Connection, Lane, MUCH, Session};
use crate::frame::{Word, names_a_call};

impl Connection {
    /// Where a call with so many bytes of arguments goes.
    fn road(&self, word: u64, segments: &[IoSlice<'_>]) -> Option<Self> {
        if length(segments) < MUCH || names_a_call(word) {
            return None;
        }
        self.session().lane.as_ref()?.open(self)
    }

    /// Makes a call, which goes at its turn. One with many bytes waits for that, until then at most.
    #[inline]
    pub(crate) fn call(
        &self,
        session: &Session,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        if length(segments) < MUCH {
            return self.peer.request_in_turn(session.calls, word, segments);
        }
        self.call_with_much(word, segments, until)
    }

    #[cold]
    fn call_with_much(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let road = self.road(word, segments);
        road.as_ref()
            .unwrap_or(self)
            .call_here(word, segments, until)
    }

    /// Makes a call over this very connection, which its streams belong to.
    pub(crate) fn call_here(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let (handler, until) = (self.session().calls, self.system(until));
        if length(segments) < MUCH {
            return self.peer.request_in_turn(handler, word, segments);
        }
        self.peer.request_segments(handler, word, segments, until)
    }

    /// Asks for the result of a call that the other side keeps.
    pub(crate) fn fetch(&self, number: [u8; 4]) -> Result<Ticket, RequestError> {
        let lane = self.session().lane.as_ref().and_then(Lane::current);
        let on = lane.as_ref().unwrap_or(self);
        let word = Word::results().to_wire();
        on.call_here(word, &[IoSlice::new(&number)], None)
    }

    /// A large result has come. Further ones go by the lane, where others would have to wait for them.
    #[cold]
    pub(crate) fn note_large_result(&self) {
        if let Some(lane) = &self.session().lane {
            if self.peer.outstanding() > 0 && lane.is_closed() {
                let main = self.clone();
                // Who waits for the result does not wait for that; where there is no thread, there is no lane.
                let opened = std::thread::Builder::new().name("jstream-lane".to_owned());
                let opened = opened.spawn(move || {
                    let lane = main.session().lane.as_ref();
                    drop(lane.and_then(|lane| lane.open(&main)));
                });
                drop(opened);
            }
        }
    }

    /// Makes a call that nobody answers.
    pub(crate) fn call_one_way(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        let road = self.road(word, segments);
        let on = road.as_ref().unwrap_or(self);
        let (handler, until) = (on.session().calls, on.system(until));
        on.peer.send_segments(handler, word, segments, until)
    }

    /// A moment of its clock by that of the system, where it goes by that.
    fn system(&self, moment: Option<Instant>) -> Option<Instant> {
        moment.filter(|_| !self.clock().is_paused())
    }

    /// Says something of references, without waiting.
    pub(crate) fn tell(&self, word: u64, segments: &[IoSlice<'_>]) -> Result<(), RequestError> {
        let handler = self.session().referenced;
        self.peer.try_send_segments(handler, word, segments)
    }

    /// The same, as soon as the other side takes it.
    pub(crate) fn tell_waiting(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().referenced;
        self.peer.send_segments(handler, word, segments, None)
    }

    /// Sends a part of a stream, without waiting.
    pub(crate) fn send_part(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().streams;
        self.peer.try_send_segments(handler, word, segments)
    }
}

#[inline]
pub(crate) fn length(segments: &[IoSlice<'_>]) -> usize {
    if let [only] = segments {
        return only.len();
    }
    let lengths = segments.iter().map(|segment| segment.len());
    lengths.fold(0, usize::saturating_add)
}
