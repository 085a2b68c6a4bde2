//! Calls and one-way messages of objects, also with arguments that are already encoded.

use std::io::IoSlice;
use std::sync::OnceLock;
use std::time::Instant;

use jstream::{EmptyBuffer, Limits, MessageBuffer, Transportable, WriteError};

use crate::call::outgoing::failure::unsent;
use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::layered_call::{CallTerms, LayeredCall};
use crate::call::outgoing::local_call;
use crate::call::outgoing::outgoing_call::{
    NotPrepared, ended, record_interface, sent_one_way, watched, with_metadata,
};
use crate::call::outgoing::retry::RetryState;
use crate::call::outgoing::sent::{Rest, Sent};
use crate::frame::{Metadata, length, written, written_copy};
use crate::interface::{Interface, Method};
use crate::reference::{Giving, Object, ObjectPlace, Retries};
use crate::session::{CallLayers, Connection, Node};
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
        // An object of this program has no connection to be lost, so it is asked for before
        // retries.
        if let ObjectPlace::Here(node) = self.place() {
            return self.begin_local(node, (index, method), arguments, Giving::none());
        }
        if let Some(retries) = self.retries {
            if let Some(layers) = self.layers() {
                return self.begin_layered(interface, index, arguments, &layers);
            }
            if self.methods.is_none() {
                record_interface(self.destination(), interface, index);
            }
            return self.begin_retrying(interface, index, arguments, Some(retries));
        }
        // One load: the connection has a flag that is set when it ends or its server is moving.
        if self.needs_renewal() {
            return match self.renew_handle() {
                Some(renewed) => renewed.call(interface, index, arguments),
                None => match self.layers() {
                    Some(layers) => self.begin_layered(interface, index, arguments, &layers),
                    None => self.begin_retrying(interface, index, arguments, None),
                },
            };
        }
        let mut outgoing_call = match self.prepare(interface, index) {
            Ok(outgoing_call) => outgoing_call,
            Err(NotPrepared::Failed(error)) => return Call::failed(error),
            Err(NotPrepared::Layered(layers)) => {
                return self.begin_layered(interface, index, arguments, &layers);
            }
        };
        // `Sent` is large, so it is constructed in its final place.
        let mut call = Call::empty();
        let sent = written(arguments, outgoing_call.limits(), |segments| {
            let sent = outgoing_call.send(segments);
            // A call that may have run is repeated only if that is harmless. One that the peer
            // returns comes back with its arguments.
            if (sent.is_err() || method.is_idempotent()) && self.renewal().is_some() {
                let named = (interface.name(), method, index);
                call.keep(self.kept_call(named, segments, outgoing_call.terms(), sent.is_ok()));
            }
            call.put(sent);
        });
        // The closure was not called, so there is no outcome yet.
        if let Err(source) = sent {
            call.put(Err(outgoing_call.not_written(source)));
        }
        call
    }

    /// Returns the state for repeating a call of an object which can be found again. There is none
    /// for long arguments that were sent: copying them would take longer than the call.
    fn kept_call(
        &self,
        named: (&'static str, &'static Method, usize),
        segments: &[IoSlice<'_>],
        terms: CallTerms,
        was_sent: bool,
    ) -> Option<RetryState> {
        let len = length(segments);
        if was_sent && len > KEPT_BYTES {
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
        let kept = RetryState::new(self.clone(), named, message, terms, None);
        Some(match was_sent {
            true => kept.with_hedge(),
            false => kept,
        })
    }

    /// Makes a call within layers. If they are ready at once, and the arguments need not be kept,
    /// it is sent without a copy of them.
    #[cold]
    fn begin_layered<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        layers: &CallLayers,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let named = (interface.name(), method);
        let limits = self.argument_limits();
        if self.methods.is_none() {
            record_interface(self.destination(), interface, index);
        }
        let begun = self
            .layered_call(named, index, layers)
            .and_then(|mut layered| {
                let requested = layered.begin()?;
                let is_kept =
                    layers.keeps_arguments() || self.retries.is_some() || self.needs_renewal();
                match requested.filter(|_| !is_kept) {
                    Some(terms) => {
                        let mut call = Call::empty();
                        let sent = written(arguments, limits, |segments| {
                            let sent = self.send_segments(named, index, segments, terms.clone());
                            if (sent.is_err() || method.is_idempotent()) && self.renewal().is_some()
                            {
                                let named = (interface.name(), method, index);
                                call.keep(self.kept_call(named, segments, terms, sent.is_ok()));
                            }
                            call.put(sent);
                        });
                        sent.map_err(|source| not_written(method, source))?;
                        layered.start(call);
                    }
                    None => {
                        let message = written_copy(arguments, limits);
                        layered.keep(message.map_err(|source| not_written(method, source))?);
                    }
                }
                Ok(layered)
            });
        begun.map_or_else(Call::failed, Call::layered)
    }

    /// Creates a call within layers, which were not polled.
    fn layered_call(
        &self,
        (interface, method): (&'static str, &'static Method),
        index: usize,
        layers: &CallLayers,
    ) -> Result<LayeredCall, CallError> {
        self.check_known(method)?;
        let terms = (self.deadline(method)?, self.metadata(method)?);
        let named = (interface, method);
        Ok(LayeredCall::new(self, named, index, terms, layers, None))
    }

    /// Returns the limits for arguments.
    pub(super) fn argument_limits(&self) -> Limits {
        let session = self.connection().map(Connection::session);
        session.map_or_else(Limits::default, |session| session.terms.limits)
    }

    /// Sends a call and keeps the state for retrying it. If the object is known over no connection
    /// that is open, the call waits for it.
    fn begin_retrying<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        retries: Option<Retries>,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let (terms, message) = match self.copy_arguments(method, arguments) {
            Ok(kept) => kept,
            Err(error) => return Call::failed(error),
        };
        let named = (interface.name(), method, index);
        let retry = RetryState::new(self.clone(), named, message, terms, retries);
        Call::retrying(retry)
    }

    /// Returns the deadline and the metadata of a call that is made now, and a copy of the
    /// arguments.
    pub(super) fn copy_arguments<A: Transportable>(
        &self,
        method: &'static Method,
        arguments: &A,
    ) -> Result<((Option<Instant>, Metadata), MessageBuffer), CallError> {
        let deadline = self.deadline(method)?;
        let metadata = self.metadata(method)?;
        match written_copy(arguments, self.argument_limits()) {
            Ok(message) => Ok(((deadline, metadata), message)),
            Err(source) => Err(not_written(method, source)),
        }
    }

    /// Calls a method of a local object.
    pub(super) fn begin_local<A, R>(
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
            // Limits of connections protect against peers.
            let payload = written_copy(arguments, Limits::default());
            let payload = payload.map_err(|source| not_written(method, source))?;
            let terms = (deadline, metadata);
            local_call::begin(node, (index, method), payload, giving.passing(), terms)
        });
        match begun {
            Ok(running) => Call::local(running),
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
            let call = self.begin_local::<A, ()>(node, (index, method), arguments, Giving::none());
            return call.end_local(method);
        }
        if let Some(renewed) = self.renewed_handle() {
            return renewed.send(interface, index, arguments);
        }
        let mut outgoing_call = match self.prepare(interface, index) {
            Ok(outgoing_call) => outgoing_call,
            Err(NotPrepared::Failed(error)) => return Err(error),
            Err(NotPrepared::Layered(layers)) => {
                return self.send_layered(interface, index, arguments, &layers);
            }
        };
        let sent = written(arguments, outgoing_call.limits(), |segments| {
            outgoing_call.send_one_way(segments)
        });
        sent.unwrap_or_else(|source| Err(outgoing_call.not_written(source)))
    }

    /// Sends the arguments of a one-way method within layers, which must be ready at once.
    #[cold]
    fn send_layered<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        layers: &CallLayers,
    ) -> Result<(), CallError> {
        let named = (interface.name(), interface.method(index));
        let mut layered = self.layered_call(named, index, layers)?;
        let Some(terms) = layered.begin()? else {
            return Err(layered.not_ready());
        };
        let sent = self
            .prepare_within(interface, index, terms)
            .and_then(|mut outgoing_call| {
                let limits = outgoing_call.limits();
                let sent = written(arguments, limits, |segments| {
                    outgoing_call.send_one_way(segments)
                });
                sent.unwrap_or_else(|source| Err(outgoing_call.not_written(source)))
            });
        layered.end_one_way(sent)
    }

    /// Sends a call with encoded arguments, this deadline and metadata. The method is named with
    /// its interface, which is empty if that is not known.
    pub(crate) fn send_message(
        &self,
        named: (&'static str, &'static Method),
        index: usize,
        message: &[u8],
        terms: (Option<Instant>, Metadata),
    ) -> Result<Sent, CallError> {
        self.send_segments(named, index, &[IoSlice::new(message)], terms)
    }

    fn send_segments(
        &self,
        (interface, method): (&'static str, &'static Method),
        index: usize,
        segments: &[IoSlice<'_>],
        (deadline, mut metadata): (Option<Instant>, Metadata),
    ) -> Result<Sent, CallError> {
        let header = self.header_until(method, index, deadline)?;
        let bytes = length(segments) as u64;
        let watched = watched(
            self.destination(),
            (interface, method),
            deadline,
            bytes,
            &mut metadata,
        )?;
        // A pipelined object may have become known since then.
        let Some((connection, number)) = self.destination() else {
            return Err(ended(watched.as_ref(), self.unplaced(method)));
        };
        let word = header.aimed(number).to_word();
        let session = connection.session();
        let ticket = with_metadata(word, segments, Vec::new(), &metadata, |word, segments| {
            connection.call(word, segments, deadline)
        });
        match ticket {
            Ok(ticket) => {
                let rest = Rest::with_interceptors(None, watched);
                Ok(self.sent(ticket, session, method, deadline, rest))
            }
            Err(error) => {
                let error = self.unsent((interface, method), error);
                Err(ended(watched.as_ref(), error))
            }
        }
    }

    /// Calls the method at `index` of any interface with encoded arguments. Returns the encoded
    /// result.
    pub(crate) fn call_described(
        &self,
        index: usize,
        message: &[u8],
        one_way: bool,
    ) -> Result<MessageBuffer, CallError> {
        static METHOD: OnceLock<Method> = OnceLock::new();
        let method = METHOD.get_or_init(|| Method::new::<(), ()>("the method", "its description"));
        let terms = (self.deadline(method)?, self.metadata(method)?);
        let layered = match self.layers() {
            Some(layers) => Some(self.layered_call(("", method), index, &layers)?),
            None => None,
        };
        match (layered, one_way) {
            (None, true) => self.send_described(method, index, message, terms)?,
            (Some(mut layered), true) => {
                let Some(terms) = layered.begin()? else {
                    return Err(layered.not_ready());
                };
                let sent = self.send_described(method, index, message, terms);
                layered.end_one_way(sent)?;
            }
            (None, false) => {
                let sent = self.send_message(("", method), index, message, terms)?;
                return sent.wait_for_message();
            }
            (Some(layered), false) => {
                let copy = EmptyBuffer::heap(message.len()).copy_from(message);
                layered.keep(copy.unwrap_or_else(|_| MessageBuffer::nothing()));
                let call = Call::<()>::layered(layered);
                return Ok(call.wait_for_unread()?.into_message());
            }
        }
        Ok(MessageBuffer::nothing())
    }

    /// Sends encoded arguments of a one-way method of any interface.
    fn send_described(
        &self,
        method: &'static Method,
        index: usize,
        message: &[u8],
        (deadline, mut metadata): CallTerms,
    ) -> Result<(), CallError> {
        let header = self.header_until(method, index, deadline)?;
        let Some((connection, number)) = self.destination() else {
            return Err(CallError::Here {
                method: method.name(),
            });
        };
        let segments = [IoSlice::new(message)];
        let word = header.aimed(number).to_word();
        let bytes = message.len() as u64;
        let destination = Some((connection, number));
        let watched = watched(destination, ("", method), deadline, bytes, &mut metadata)?;
        let sent = with_metadata(word, &segments, Vec::new(), &metadata, |word, segments| {
            connection.call_one_way(word, segments, deadline)
        });
        match sent {
            Ok(()) => {
                sent_one_way(watched.as_ref());
                Ok(())
            }
            Err(error) => Err(ended(watched.as_ref(), unsent(method, error))),
        }
    }
}

/// Returns the error of a call whose arguments could not be written.
pub(super) fn not_written(method: &'static Method, source: WriteError) -> CallError {
    CallError::Arguments {
        method: method.name(),
        source,
    }
}
