//! Calls and one-way messages of objects.

use std::io::IoSlice;

use jstream::{EmptyBuffer, Limits, MessageBuffer, Transportable};

use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::local_call;
use crate::call::outgoing::outgoing_call::OutgoingCall;
use crate::call::outgoing::retry::RetryState;
use crate::call::outgoing::sent::Sent;
use crate::frame::{length, written, written_copy};
use crate::interface::{Interface, Method};
use crate::reference::{Giving, Object, ObjectPlace, Retries};
use crate::session::Node;
use crate::support::CallError;

/// Maximum length of the arguments of an idempotent call that are kept until the call is over, so
/// that it can be repeated over another connection.
const KEPT_BYTES: usize = 64 << 10;

impl Object {
    /// Calls the method at `index` of `interface`.
    #[doc(hidden)]
    pub fn call<A, R>(&self, interface: &'static Interface, index: usize, arguments: &A) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        if let ObjectPlace::Here(node) = self.place() {
            return self.begin_here(node, (index, method), arguments, Giving::none());
        }
        if let (Some(retries), true) = (self.retries, method.is_idempotent()) {
            self.note(interface, index);
            return self.begin_again(interface, index, arguments, retries);
        }
        if let Some(renewed) = self.renewed_handle() {
            return renewed.call(interface, index, arguments);
        }
        let mut going = match self.going(interface, index) {
            Ok(going) => going,
            Err(error) => return Call::failed(error),
        };
        // `Sent` is large, so it is constructed in its final place.
        let mut call = Call::empty();
        let sent = written(arguments, going.limits(), |segments| {
            let sent = going.send(segments);
            // A call that may have run is repeated only if that is harmless. One that the peer
            // returns comes back with its arguments.
            if (sent.is_err() || method.is_idempotent()) && self.renewal.is_some() {
                call.keep(self.kept_call((interface, index), segments, &going, &sent));
            }
            call.put(sent);
        });
        if let Err(source) = sent {
            call.put(Err(going.not_written(source)));
        }
        call
    }

    /// Returns the state for repeating a call of an object which can be found again. There is none
    /// for long arguments that were sent: copying them would take longer than the call.
    #[cold]
    fn kept_call(
        &self,
        (interface, index): (&'static Interface, usize),
        segments: &[IoSlice<'_>],
        going: &OutgoingCall<'_>,
        sent: &Result<Sent, CallError>,
    ) -> Option<RetryState> {
        let len = length(segments);
        if sent.is_ok() && len > KEPT_BYTES {
            return None;
        }
        let message = match len {
            0 => MessageBuffer::nothing(),
            _ => {
                let mut writer = EmptyBuffer::heap(len).writer();
                let is_complete = segments.iter().all(|segment| writer.extend(segment));
                is_complete.then(|| writer.finish())?
            }
        };
        let named = (interface.name(), interface.method(index), index);
        let terms = going.terms();
        Some(RetryState::new(self.clone(), named, message, terms, None))
    }

    /// Sends a call and keeps the state for retrying it.
    #[cold]
    fn begin_again<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        retries: Retries,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let kept = self.header(method, index).and_then(|(deadline, _)| {
            let metadata = self.metadata(method)?;
            let session = self
                .place
                .at_peer()
                .map(|(connection, _)| connection.session());
            let limits = session.map_or_else(Limits::default, |session| session.terms.limits);
            match written_copy(arguments, limits) {
                Ok(message) => Ok(((deadline, metadata), message)),
                Err(source) => Err(CallError::Arguments {
                    method: method.name(),
                    source,
                }),
            }
        });
        let (terms, message) = match kept {
            Ok(kept) => kept,
            Err(error) => return Call::failed(error),
        };
        let retries = Some(retries);
        let named = (interface.name(), method, index);
        let again = RetryState::new(self.clone(), named, message, terms, retries);
        Call::again(again)
    }

    /// Calls a method of a local object.
    #[cold]
    pub(super) fn begin_here<A, R>(
        &self,
        node: &Node,
        (index, method): (usize, &'static Method),
        arguments: &A,
        giving: Giving,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let begun = self.deadline(method).and_then(|deadline| {
            let metadata = self.metadata(method)?;
            let payload = written_copy(arguments, Limits::default());
            let payload = payload.map_err(|source| CallError::Arguments {
                method: method.name(),
                source,
            })?;
            let terms = (deadline, metadata);
            local_call::begin(node, (index, method), payload, giving.passing(), terms)
        });
        match begun {
            Ok(running) => Call::here(running),
            Err(error) => Call::failed(error),
        }
    }

    /// Sends the arguments of the one-way method at `index` of `interface`, without waiting for an
    /// answer.
    ///
    /// # Errors
    ///
    /// The reason why the message was not sent.
    #[doc(hidden)]
    pub fn send<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
    ) -> Result<(), CallError> {
        let method = interface.method(index);
        if let ObjectPlace::Here(node) = self.place() {
            let call = self.begin_here::<A, ()>(node, (index, method), arguments, Giving::none());
            return call.end_here(method);
        }
        if let Some(renewed) = self.renewed_handle() {
            return renewed.send(interface, index, arguments);
        }
        let mut going = self.going(interface, index)?;
        let sent = written(arguments, going.limits(), |segments| {
            going.send_one_way(segments)
        });
        sent.unwrap_or_else(|source| Err(going.not_written(source)))
    }
}
