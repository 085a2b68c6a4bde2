//! Calls and one-way messages of objects.

use jstream::{Limits, Transportable};

use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::local_call;
use crate::call::outgoing::retry::RetryState;
use crate::frame::{written, written_copy};
use crate::interface::{Interface, Method};
use crate::reference::{Giving, Object, ObjectPlace, Retries};
use crate::session::Node;
use crate::support::CallError;

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
        let mut going = match self.going(interface, index) {
            Ok(going) => going,
            Err(error) => return Call::failed(error),
        };
        // `Sent` is large, so it is constructed in its final place.
        let mut call = Call::empty();
        let sent = written(arguments, going.limits(), |segments| {
            call.put(going.send(segments));
        });
        if let Err(source) = sent {
            call.put(Err(going.not_written(source)));
        }
        call
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
        let again = RetryState::new(self.clone(), interface, index, message, terms, retries);
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
        let mut going = self.going(interface, index)?;
        let sent = written(arguments, going.limits(), |segments| {
            going.send_one_way(segments)
        });
        sent.unwrap_or_else(|source| Err(going.not_written(source)))
    }
}
