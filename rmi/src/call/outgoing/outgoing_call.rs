//! Calls that are about to be sent: their destination and header.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;

use jstream::WriteError;
use jstream_transport::active::{RequestError, Ticket};

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::sent::{KeptReferences, Rest, Sent};
use crate::frame::{CallHeader, CallTrailer, PROMISES};
use crate::interface::{Interface, Method};
use crate::reference::{Ahead, Became, Object, ObjectPlace};
use crate::session::{CallInfo, Connection, Denied, Import, Session, Side, Watched};
use crate::support::CallError;

/// A call that is about to be sent.
pub(super) struct OutgoingCall<'o> {
    object: &'o Object,
    connection: &'o Connection,
    session: &'o Session,
    method: &'static Method,
    word: u64,
    deadline: Option<Instant>,
    watched: Option<Arc<Watched>>,
}

impl Object {
    /// Prepares a call of the method at `index` of `interface`.
    pub(super) fn going(
        &self,
        interface: &'static Interface,
        index: usize,
    ) -> Result<OutgoingCall<'_>, CallError> {
        let (Some((connection, plain)), Ok(place)) = (self.plain_way(), u16::try_from(index))
        else {
            return self.going_anyhow(interface, index);
        };
        Ok(OutgoingCall {
            object: self,
            connection,
            session: connection.session(),
            method: interface.method(index),
            deadline: self.span.deadline(),
            word: plain.word(place),
            watched: None,
        })
    }

    #[inline(never)]
    fn going_anyhow(
        &self,
        interface: &'static Interface,
        index: usize,
    ) -> Result<OutgoingCall<'_>, CallError> {
        let method = interface.method(index);
        self.note(interface, index);
        let (deadline, word) = self.word(method, index)?;
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        // A pipelined object may have become known since then.
        let Some((connection, number)) = self.way() else {
            let here = CallError::Here {
                method: method.name(),
            };
            return Err(ended(watched.as_ref(), here));
        };
        Ok(OutgoingCall {
            object: self,
            connection,
            session: connection.session(),
            method,
            word: CallHeader::aimed(word, number),
            deadline,
            watched,
        })
    }

    /// If the connection is captured, records the interface of the object's number.
    pub(super) fn note(&self, interface: &'static Interface, index: usize) {
        if let Some((connection, number)) = self.way() {
            if let Some(capture) = &connection.session().terms.capture {
                capture.note(number, index, interface);
            }
        }
    }

    /// Reports a call that is about to be sent to the interceptors. Returns `None` if there are
    /// none.
    pub(super) fn watched(
        &self,
        interface: &'static str,
        method: &'static Method,
        deadline: Option<Instant>,
        bytes: u64,
    ) -> Result<Option<Arc<Watched>>, CallError> {
        let Some((connection, number)) = self.way() else {
            return Ok(None);
        };
        let interceptors = &connection.session().terms.interceptors;
        let watched = interceptors.before(|| CallInfo {
            side: Side::Caller,
            object: number.into(),
            interface,
            method: method.name(),
            deadline,
            peer: connection.peer().endpoint().peer().clone(),
            bytes,
        });
        watched.map_err(|Denied(reason)| CallError::Denied {
            method: method.name(),
            reason,
        })
    }

    #[inline(always)]
    pub(super) fn sent(
        &self,
        ticket: Ticket,
        session: &Session,
        method: &'static Method,
        deadline: Option<Instant>,
        watched: Option<Arc<Watched>>,
    ) -> Sent {
        let (import, ahead) = match &self.place {
            ObjectPlace::Import(import) => (Some(import.clone()), None),
            ObjectPlace::Ahead(ahead) => self.kept_ahead(ahead),
            ObjectPlace::Own(..) | ObjectPlace::Here(_) => (None, None),
        };
        Sent {
            ticket,
            method,
            deadline,
            by_system: !session.terms.clock.is_paused(),
            _import: import,
            _ahead: ahead,
            rest: watched.map(Rest::watched).into(),
        }
    }

    /// Returns the handles that a call of a pipelined object keeps until it is over.
    #[cold]
    fn kept_ahead(&self, ahead: &Ahead) -> (Option<Arc<Import>>, Option<Arc<Became>>) {
        let import = match self.place() {
            ObjectPlace::Import(import) => Some(import.clone()),
            ObjectPlace::Own(..) | ObjectPlace::Here(_) | ObjectPlace::Ahead(_) => None,
        };
        (import, Some(ahead.called()))
    }
}

impl OutgoingCall<'_> {
    /// Sends the arguments.
    pub(super) fn send(&mut self, segments: &[IoSlice<'_>]) -> Result<Sent, CallError> {
        let (session, word, deadline) = (self.session, self.word, self.deadline);
        match self.connection.call(session, word, segments, deadline) {
            Ok(ticket) => Ok(self.sent(ticket)),
            Err(error) => Err(self.not_sent(error)),
        }
    }

    /// Sends the arguments over this connection, with references, and with the number by which
    /// pipelined calls name this call.
    pub(super) fn send_carrying(
        &mut self,
        segments: &[IoSlice<'_>],
        kept: Option<KeptReferences>,
        made: Option<CallTrailer>,
    ) -> Result<Sent, CallError> {
        let (connection, deadline) = (self.connection, self.deadline);
        let sent = match made.map(CallTrailer::to_wire) {
            Some(made) => {
                let segments = segments.iter().copied().chain([IoSlice::new(&made)]);
                let segments: Vec<_> = segments.collect();
                let word = self.word | u64::from(PROMISES);
                connection.call_here(word, &segments, deadline)
            }
            None => connection.call_here(self.word, segments, deadline),
        };
        match sent {
            Ok(ticket) => {
                let mut sent = self.sent(ticket);
                if let Some(kept) = kept {
                    sent.keep(kept);
                }
                Ok(sent)
            }
            Err(error) => Err(self.not_sent(error)),
        }
    }

    /// Sends the arguments of a one-way call.
    pub(super) fn send_one_way(&mut self, segments: &[IoSlice<'_>]) -> Result<(), CallError> {
        let sent = self
            .connection
            .call_one_way(self.word, segments, self.deadline);
        if let Err(error) = sent {
            return Err(self.not_sent(error));
        }
        if let ObjectPlace::Ahead(ahead) = &self.object.place {
            ahead.called_one_way();
        }
        sent_one_way(self.watched.as_ref());
        Ok(())
    }

    #[inline(always)]
    fn sent(&mut self, ticket: Ticket) -> Sent {
        let (session, watched) = (self.session, self.watched.take());
        self.object
            .sent(ticket, session, self.method, self.deadline, watched)
    }

    #[cold]
    fn not_sent(&self, error: RequestError) -> CallError {
        ended(self.watched.as_ref(), unsent(self.method, error))
    }

    /// Returns the error of a call whose arguments could not be written.
    #[cold]
    pub(super) fn not_written(&self, source: WriteError) -> CallError {
        let method = self.method.name();
        let error = CallError::Arguments { method, source };
        ended(self.watched.as_ref(), error)
    }
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
