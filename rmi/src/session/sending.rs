//! Sending over a connection: calls, messages about references, and parts of streams.

use std::io::IoSlice;
use std::time::Instant;

use jstream_active::{Backpressure, RequestError, Ticket};

use crate::frame::{CallHeader, MovingMessage, ReferenceMessage, length, names_a_call};
use crate::session::attending;
use crate::session::connection::Connection;
use crate::session::lane::Lane;

/// Size in bytes from which on arguments and results use the lane.
pub(crate) const MUCH: usize = 256 << 10;

impl Connection {
    /// Returns the lane if a call with these arguments is to use it.
    fn lane_for(&self, word: u64, segments: &[IoSlice<'_>]) -> Option<Self> {
        // Pipelined calls are ordered by their arrival, and calls over two connections have no
        // order.
        if length(segments) < MUCH || names_a_call(word) {
            return None;
        }
        self.session().lane.as_ref()?.open(self)
    }

    /// Makes a call. Small calls are queued if there is no credit. Large calls block until there is
    /// credit, at most until `until`.
    pub(crate) fn call(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let lane = self.lane_for(word, segments);
        lane.as_ref()
            .unwrap_or(self)
            .call_on_main(word, segments, until)
    }

    /// Makes a call over this connection and never over the lane. Calls with streams or references
    /// require it.
    pub(crate) fn call_on_main(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let (peer, handler) = (&self.peer, self.session().calls);
        let until = self.system(until);
        // A small call is copied into a queue until there is credit. A large one blocks instead: a
        // queue of copies of large arguments would take memory without a limit.
        if length(segments) < MUCH {
            return peer.request_with(handler, word, segments, Backpressure::QueueInPlace);
        }
        peer.request_with(handler, word, segments, Backpressure::Wait(until))
    }

    /// Requests the result of a call that the other side keeps.
    pub(crate) fn fetch(&self, number: [u8; 4]) -> Result<Ticket, RequestError> {
        // The lane is not opened for this. The result may come over the first connection as well,
        // and a caller with a deadline waits for it.
        let lane = self.session().lane.as_ref().and_then(Lane::current);
        let on = lane.as_ref().unwrap_or(self);
        let word = CallHeader::results().to_word();
        on.call_on_main(word, &[IoSlice::new(&number)], None)
    }

    /// Returns true if this side has references to objects of the other one.
    pub(crate) fn has_references(&self) -> bool {
        self.session().references.has_leased_imports()
    }

    /// Returns true if the other side may keep results of calls that this side makes.
    pub(crate) fn fetches(&self) -> bool {
        let lane = self.session().lane.as_ref();
        lane.is_some_and(Lane::is_known)
    }

    /// Opens a lane in the background after a large result has arrived, if other calls are in
    /// flight. Further large results then use the lane.
    pub(crate) fn record_large_result(&self) {
        // A server has no lane, nor does the lane itself: the client alone opens connections.
        if let Some(lane) = &self.session().lane {
            if self.peer.status().outstanding > 0 && lane.is_closed() {
                let main = self.clone();
                // The caller that waits for the result does not wait for the lane. If no thread can
                // be started, there is no lane.
                let opened = jstream_sync::threads::spawn("jstream-lane", move || {
                    let lane = main.session().lane.as_ref();
                    drop(lane.and_then(|lane| lane.open(&main)));
                });
                drop(opened);
            }
        }
    }

    /// Makes a one-way call.
    pub(crate) fn call_one_way(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        let lane = self.lane_for(word, segments);
        let on = lane.as_ref().unwrap_or(self);
        let (handler, until) = (on.session().calls, on.system(until));
        let wait = Backpressure::Wait(until);
        on.peer.send_with(handler, word, segments, wait).map(drop)
    }

    /// Returns the time limit for blocking in the transport: `None` if the connection uses a manual
    /// clock.
    fn system(&self, moment: Option<Instant>) -> Option<Instant> {
        // The transport measures by the system clock. A deadline of a paused clock would be a
        // moment without a meaning there, so the paused clock ends the wait by its own alarm.
        moment.filter(|_| !self.clock().is_paused())
    }

    /// Sends a message about references, without blocking.
    pub(crate) fn send_reference(
        &self,
        message: ReferenceMessage,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let (peer, handler) = (&self.peer, self.session().referenced);
        let word = message.to_word();
        // Timers call this, in a thread that all connections share, so it never waits for a peer.
        let sent = peer.send_with(handler, word, segments, Backpressure::Fail);
        sent.map(drop)
    }

    /// Sends a message about references. Blocks until there is credit.
    pub(crate) fn send_reference_waiting(
        &self,
        message: ReferenceMessage,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().referenced;
        let (word, wait) = (message.to_word(), Backpressure::Wait(None));
        self.peer.send_with(handler, word, segments, wait).map(drop)
    }

    /// Sends a part of a stream, without blocking.
    pub(crate) fn send_part(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let (peer, handler) = (&self.peer, self.session().streams);
        let sent = peer.send_with(handler, word, segments, Backpressure::Fail);
        sent.map(drop)
    }
}

/// The end of a server.
impl Connection {
    /// Tells the other side, a server, that this side will answer when it is told to move.
    pub(super) fn announce_attendance(&self) {
        self.send_moving(MovingMessage::Attend);
    }

    /// Records that the other side accepts no more calls.
    pub(crate) fn retire(&self) {
        self.peer.attendant().retire();
        attending::hurry();
    }

    /// Returns true if a call of this side is in flight, over this connection or its lane.
    pub(super) fn has_calls(&self) -> bool {
        let lane = self.session().lane.as_ref().and_then(Lane::current);
        let mut all = [Some(self), lane.as_ref()].into_iter().flatten();
        all.any(|connection| connection.peer.status().outstanding > 0)
    }

    /// Tells the other side, once, that this side accepts no more calls.
    pub(crate) fn tell_to_move(&self) {
        let moving = &self.session().moving;
        if !moving.is_told() && self.send_moving(MovingMessage::Move) {
            // Recorded after it was sent: without credit, the next look of the shutdown tries
            // again.
            moving.record_told();
        }
    }

    /// Answers that this side makes no more calls. Returns false if that has to be repeated.
    pub(super) fn answer_move(&self) -> bool {
        self.send_moving(MovingMessage::Moved)
    }

    /// Returns false if there is no credit. After the end of the connection, there is nothing to
    /// say.
    fn send_moving(&self, message: MovingMessage) -> bool {
        // A peer that does not know such messages counts as told, since repeating it would not
        // help.
        let Some(handler) = self.session().moving.handler() else {
            return true;
        };
        let word = message.to_word();
        let said = self
            .peer()
            .send_with(handler, word, &[], Backpressure::Fail);
        // Any other failure means that the connection is ending. The answer would reach nobody.
        said.is_ok() || self.peer().has_ended()
    }
}
