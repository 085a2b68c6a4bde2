//! Calls that are about to be sent: their destination, deadline and header.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream::{Limits, WriteError};
use jstream_active::{Backpressure, RequestError, Ticket};
use jstream_base::SendError;

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::layered_call::CallTerms;
use crate::call::outgoing::sent::{KeptObject, Rest, Sent};
use crate::frame::{
    CallHeader, CallTrailer, HAS_METADATA, MOST_METHODS, Metadata, REGISTRY, length,
    promised_to_wire,
};
use crate::interface::{Interface, Method};
use crate::reference::{Ahead, Became, Object, ObjectPlace};
use crate::session::{
    CallInfo, CallLayers, Clock, Connection, Denied, Import, MUCH, PeerInfo, Session, Side,
    Watched, has_deadline, inherited_deadline, inherited_metadata, passes_on,
};
use crate::support::{CallError, Outcome};

/// The reason why a call is not about to be sent.
pub(super) enum NotPrepared {
    Failed(CallError),
    /// Layers surround the call.
    Layered(CallLayers),
}

impl From<CallError> for NotPrepared {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

/// A call that is about to be sent.
pub(super) struct OutgoingCall<'o> {
    object: &'o Object,
    connection: &'o Connection,
    session: &'o Session,
    interface: &'static Interface,
    method: &'static Method,
    word: u64,
    deadline: Option<Instant>,
    watched: Option<Arc<Watched>>,
    metadata: Metadata,
}

impl Object {
    /// Prepares a call of the method at `index` of `interface`. A call is evaluated if it has
    /// metadata or a short timeout, or inherits something, if the interface has another version, or
    /// if interceptors, a capture or a clock of the program have to be asked.
    #[inline]
    pub(super) fn prepare(
        &self,
        interface: &'static Interface,
        index: usize,
    ) -> Result<OutgoingCall<'_>, NotPrepared> {
        let is_plain = self.methods.is_none()
            && self.metadata.is_empty()
            && self.span.is_long()
            && !passes_on();
        let at_peer = self.place.at_peer().filter(|_| is_plain);
        let destination = at_peer.filter(|(connection, _)| connection.session().is_plain);
        let (Some((connection, number)), Ok(place)) = (destination, u16::try_from(index)) else {
            return self.prepare_evaluated(interface, index);
        };
        Ok(OutgoingCall {
            object: self,
            connection,
            session: connection.session(),
            interface,
            method: interface.method(index),
            deadline: self.span.deadline(),
            word: CallHeader::spanning(number, place, &self.span).to_word(),
            watched: None,
            metadata: Metadata::default(),
        })
    }

    #[inline(never)]
    fn prepare_evaluated(
        &self,
        interface: &'static Interface,
        index: usize,
    ) -> Result<OutgoingCall<'_>, NotPrepared> {
        if let Some(layers) = self.layers() {
            return Err(NotPrepared::Layered(layers));
        }
        let method = interface.method(index);
        let clock = self.clock();
        let (deadline, header) = self.header(clock, method, index)?;
        let terms = (deadline, self.metadata(method)?);
        Ok(self.prepare_with(interface, index, header, terms)?)
    }

    /// Prepares a call with this deadline and metadata.
    pub(super) fn prepare_within(
        &self,
        interface: &'static Interface,
        index: usize,
        (deadline, metadata): CallTerms,
    ) -> Result<OutgoingCall<'_>, CallError> {
        let header = self.header_until(interface.method(index), index, deadline)?;
        self.prepare_with(interface, index, header, (deadline, metadata))
    }

    fn prepare_with(
        &self,
        interface: &'static Interface,
        index: usize,
        header: CallHeader,
        (deadline, mut metadata): CallTerms,
    ) -> Result<OutgoingCall<'_>, CallError> {
        let method = interface.method(index);
        let destination = self.destination();
        if self.methods.is_none() {
            record_interface(destination, interface, index);
        }
        let named = (interface.name(), method);
        let watched = watched(destination, named, deadline, 0, &mut metadata)?;
        let Some((connection, number)) = destination else {
            return Err(ended(watched.as_ref(), self.unplaced(method)));
        };
        Ok(OutgoingCall {
            object: self,
            connection,
            session: connection.session(),
            interface,
            method,
            word: header.aimed(number).to_word(),
            deadline,
            watched,
            metadata,
        })
    }

    /// Returns the layers that surround calls of the object, if there are any.
    pub(super) fn layers(&self) -> Option<CallLayers> {
        match self.destination() {
            Some((connection, _)) => {
                let interceptors = &connection.session().terms.interceptors;
                interceptors.layers().cloned()
            }
            None => self.renewal()?.layers(),
        }
    }

    /// Returns the error of a call of an object that is at no peer, or at no member of its set.
    pub(super) fn unplaced(&self, method: &'static Method) -> CallError {
        match self.renewal() {
            Some(renewal) if self.is_of_set() => renewal.failure().of_call(method.name()),
            _ => CallError::Here {
                method: method.name(),
            },
        }
    }

    /// Converts the error of a call that was not sent. The method is named with its interface. If
    /// the connection of a reference had ended before, the object is lost.
    pub(super) fn unsent(
        &self,
        (interface, method): (&'static str, &'static Method),
        error: RequestError,
    ) -> CallError {
        let error = unsent(method, error);
        let is_closed = matches!(
            &error,
            CallError::NotSent {
                source: SendError::Closed { .. },
                ..
            }
        );
        let has_ended =
            |import: &Arc<Import>| import.is_reference() && import.connection().peer().has_ended();
        if !is_closed || self.renewal().is_some() || !self.import().is_some_and(has_ended) {
            return error;
        }
        CallError::ObjectLost {
            method: method.name(),
            name: interface.to_owned(),
        }
    }

    /// Returns an error if the object is the result of a call that has failed.
    pub(super) fn check_known(&self, method: &'static Method) -> Result<(), CallError> {
        let failure = match self.place() {
            ObjectPlace::Ahead(ahead) => ahead.failure(),
            _ => None,
        };
        match failure {
            Some(reason) => Err(CallError::NotGiven {
                method: method.name(),
                reason: reason.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Returns the deadline and the header of a call that is made now. If a method makes the call,
    /// its own deadline is an upper limit. The header still has to be aimed at the object.
    pub(super) fn header(
        &self,
        clock: &Clock,
        method: &'static Method,
        index: usize,
    ) -> Result<(Option<Instant>, CallHeader), CallError> {
        // The remaining part of an inherited deadline is computed from the exact time.
        let now = clock.begin((!has_deadline()).then_some(self.span.time()));
        let deadline = self.until(clock, now);
        let header = self.header_at(now, method, index, deadline)?;
        Ok((deadline, header))
    }

    /// Returns the metadata of a call that is made now: that of the method that makes it, with that
    /// of the object.
    pub(super) fn metadata(&self, method: &'static Method) -> Result<Metadata, CallError> {
        let all = inherited_metadata().with(&self.metadata);
        all.map_err(|source| CallError::Metadata {
            method: method.name(),
            source,
        })
    }

    /// Returns the clock of the deadlines.
    pub(crate) fn clock(&self) -> &Clock {
        self.connection().map_or(&Clock::SYSTEM, Connection::clock)
    }

    fn until(&self, clock: &Clock, now: Instant) -> Option<Instant> {
        let own = now.checked_add(self.span.time());
        let inherited = inherited_deadline(clock, now);
        match (own, inherited) {
            // A method that has a second left must not make calls that outlast it.
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (one, other) => one.or(other),
        }
    }

    /// Returns the deadline of a call that is made now, or an error if it has passed.
    pub(super) fn deadline(&self, method: &'static Method) -> Result<Option<Instant>, CallError> {
        let clock = self.clock();
        let now = clock.now();
        let deadline = self.until(clock, now);
        if deadline.is_some_and(|then| then <= now) {
            return Err(too_late(method));
        }
        Ok(deadline)
    }

    pub(super) fn header_until(
        &self,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<CallHeader, CallError> {
        self.header_at(self.clock().now(), method, index, deadline)
    }

    pub(super) fn header_at(
        &self,
        now: Instant,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<CallHeader, CallError> {
        // First, so that a call of a failed promise is reported as such even if its deadline has
        // passed.
        self.check_known(method)?;
        let time = deadline.map(|then| then.saturating_duration_since(now));
        // 0 would mean in the header that there is no limit.
        if time == Some(Duration::ZERO) {
            return Err(too_late(method));
        }
        let index = match &self.methods {
            // The server at which the object is found again may have the method.
            Some(methods) if !self.is_renewed_first() => methods.get(method)?.index,
            _ => u16::try_from(index.min(MOST_METHODS.saturating_sub(1))).unwrap_or_default(),
        };
        // A stand-in: the object may be found again before the call is sent, and is then aimed at
        // its number.
        Ok(CallHeader::within(REGISTRY, index, time))
    }

    #[inline(always)]
    pub(super) fn sent(
        &self,
        ticket: Ticket,
        session: &Session,
        method: &'static Method,
        deadline: Option<Instant>,
        rest: Option<Box<Rest>>,
    ) -> Sent {
        let rest = match &self.methods {
            Some(methods) => Rest::with_methods(rest, (methods, method), self.renewal().is_some()),
            None => rest,
        };
        let (kept, ahead) = match &self.place {
            // Without this handle, the last stub could be dropped during the call, and the owner
            // would forget the object.
            ObjectPlace::Import(import) => (KeptObject::Import(import.clone()), None),
            ObjectPlace::Member(object, is_counted) => {
                (KeptObject::of_member(object, *is_counted), None)
            }
            ObjectPlace::Ahead(ahead) => self.kept_ahead(ahead),
            ObjectPlace::Own(..) | ObjectPlace::Here(_) | ObjectPlace::Set(_) => {
                (KeptObject::None, None)
            }
        };
        Sent {
            ticket,
            method,
            deadline,
            by_system: !session.terms.clock.is_paused(),
            kept,
            renewal: self.renewal.clone(),
            _ahead: ahead,
            rest: rest.into(),
        }
    }

    /// Returns the handles that a call of a pipelined object keeps until it is over.
    fn kept_ahead(&self, ahead: &Ahead) -> (KeptObject, Option<Arc<Became>>) {
        let kept = match self.place() {
            ObjectPlace::Import(import) => KeptObject::Import(import.clone()),
            _ => KeptObject::None,
        };
        (kept, Some(ahead.called()))
    }
}

impl OutgoingCall<'_> {
    /// Sends the arguments.
    pub(super) fn send(&mut self, segments: &[IoSlice<'_>]) -> Result<Sent, CallError> {
        self.record_arguments(segments);
        let (connection, word) = (self.connection, self.word);
        let ticket = if !self.metadata.is_empty() {
            self.with_tail(segments, &[], None, |word, segments| {
                connection.call(word, segments, self.deadline)
            })
        } else if length(segments) < MUCH {
            let (peer, handler) = (connection.peer(), self.session.calls);
            // Written out for the common call, whose length and session are known here.
            peer.request_with(handler, word, segments, Backpressure::QueueInPlace)
        } else {
            connection.call(word, segments, self.deadline)
        };
        match ticket {
            Ok(ticket) => Ok(self.sent(ticket, None)),
            Err(error) => Err(self.not_sent(error)),
        }
    }

    /// Sends the arguments over this connection, with references, and with the number by which
    /// pipelined calls name this call.
    pub(super) fn send_carrying(
        &mut self,
        segments: &[IoSlice<'_>],
        rest: Option<Box<Rest>>,
        made: Option<CallTrailer>,
    ) -> Result<Sent, CallError> {
        self.record_arguments(segments);
        let (connection, deadline) = (self.connection, self.deadline);
        let promised = rest.as_ref().map_or(&[][..], |rest| rest.promised());
        let sent = self.with_tail(segments, promised, made, |word, segments| {
            connection.call_on_main(word, segments, deadline)
        });
        match sent {
            Ok(ticket) => {
                let mut sent = self.sent(ticket, rest);
                sent.record_streams();
                Ok(sent)
            }
            Err(error) => Err(self.not_sent(error)),
        }
    }

    /// Sends the arguments of a one-way call.
    pub(super) fn send_one_way(&mut self, segments: &[IoSlice<'_>]) -> Result<(), CallError> {
        self.record_arguments(segments);
        let sent = self.with_tail(segments, &[], None, |word, segments| {
            self.connection.call_one_way(word, segments, self.deadline)
        });
        if let Err(error) = sent {
            return Err(self.not_sent(error));
        }
        // A one-way call has no ticket that would keep the placeholder until it is over. From now
        // on the stub can't know when all calls by the number have begun.
        if let ObjectPlace::Ahead(ahead) = &self.object.place {
            ahead.called_one_way();
        }
        sent_one_way(self.watched.as_ref());
        Ok(())
    }

    /// Tells the interceptors the length of the arguments, which have been written.
    #[inline]
    fn record_arguments(&self, segments: &[IoSlice<'_>]) {
        if let Some(watched) = &self.watched {
            watched.record_arguments(length(segments) as u64);
        }
    }

    /// Passes the word and the segments of the call to `send`, with the numbers of the calls whose
    /// results are among the arguments, the number by which other calls name it, and its metadata.
    fn with_tail<T>(
        &self,
        segments: &[IoSlice<'_>],
        promised: &[u32],
        made: Option<CallTrailer>,
        send: impl FnOnce(u64, &[IoSlice<'_>]) -> T,
    ) -> T {
        let (mut word, mut tail) = (self.word, Vec::new());
        if !promised.is_empty() {
            promised_to_wire(promised, &mut tail);
            word = CallHeader::from_word(word).passing_promised().to_word();
        }
        if let Some(made) = made {
            tail.extend(made.to_wire());
            word = CallHeader::from_word(word).promising().to_word();
        }
        with_metadata(word, segments, tail, &self.metadata, send)
    }

    #[inline(always)]
    fn sent(&mut self, ticket: Ticket, rest: Option<Box<Rest>>) -> Sent {
        let rest = Rest::with_interceptors(rest, self.watched.take());
        self.object
            .sent(ticket, self.session, self.method, self.deadline, rest)
    }

    #[cold]
    fn not_sent(&self, error: RequestError) -> CallError {
        let named = (self.interface.name(), self.method);
        ended(self.watched.as_ref(), self.object.unsent(named, error))
    }

    /// Returns the deadline and the metadata.
    pub(super) fn terms(&self) -> (Option<Instant>, Metadata) {
        (self.deadline, self.metadata.clone())
    }

    /// Returns the limits for the arguments.
    pub(super) fn limits(&self) -> Limits {
        self.session.terms.limits
    }

    /// Returns the error of a call whose arguments could not be written.
    pub(super) fn not_written(&self, source: WriteError) -> CallError {
        let method = self.method.name();
        let error = CallError::Arguments { method, source };
        ended(self.watched.as_ref(), error)
    }
}

/// If the connection is captured, records the interface of the object's number.
pub(super) fn record_interface(
    destination: Option<(&Connection, u32)>,
    interface: &'static Interface,
    index: usize,
) {
    if let Some((connection, number)) = destination {
        if let Some(capture) = &connection.session().terms.capture {
            capture.record(number, index, interface);
        }
    }
}

/// Reports a call that is about to be sent to the interceptors, which may change its metadata.
/// Returns `None` if there are none.
pub(super) fn watched(
    destination: Option<(&Connection, u32)>,
    (interface, method): (&'static str, &'static Method),
    deadline: Option<Instant>,
    bytes: u64,
    metadata: &mut Metadata,
) -> Result<Option<Arc<Watched>>, CallError> {
    let Some((connection, number)) = destination else {
        return Ok(None);
    };
    let interceptors = &connection.session().terms.interceptors;
    let watched = interceptors.before(|| CallInfo {
        side: Side::Caller,
        object: number.into(),
        interface,
        method: method.name(),
        deadline,
        peer: PeerInfo::from_peer(connection.peer()),
        bytes,
        metadata: metadata.clone(),
    });
    let watched = watched.map_err(|Denied(reason)| CallError::Denied {
        method: method.name(),
        reason,
    })?;
    if let Some(watched) = &watched {
        metadata.clone_from(watched.metadata());
    }
    Ok(watched)
}

/// Passes the word and the segments of a call to `send`, followed by `tail` and the metadata.
pub(super) fn with_metadata<T>(
    mut word: u64,
    segments: &[IoSlice<'_>],
    mut tail: Vec<u8>,
    metadata: &Metadata,
    send: impl FnOnce(u64, &[IoSlice<'_>]) -> T,
) -> T {
    if !metadata.is_empty() {
        metadata.append_to(&mut tail);
        word |= HAS_METADATA;
    }
    if tail.is_empty() {
        return send(word, segments);
    }
    let segments = segments.iter().copied().chain([IoSlice::new(&tail)]);
    send(word, &segments.collect::<Vec<_>>())
}

/// Reports to the interceptors that a call has failed before it was sent.
pub(super) fn ended(watched: Option<&Arc<Watched>>, error: CallError) -> CallError {
    if let Some(watched) = watched {
        watched.end(Err(error.outcome()), 0);
    }
    error
}

/// Reports to the interceptors that a one-way call was sent.
pub(super) fn sent_one_way(watched: Option<&Arc<Watched>>) {
    if let Some(watched) = watched {
        watched.end(Ok(()), 0);
    }
}

fn too_late(method: &'static Method) -> CallError {
    CallError::Deadline {
        method: method.name(),
        outcome: Outcome::DidNotRun,
        idempotent: method.is_idempotent(),
    }
}
