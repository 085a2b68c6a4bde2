//! Calls with streams or references among their arguments, or as their results.

use std::io::IoSlice;
use std::sync::Arc;

use jstream::Transportable;

use crate::call::outgoing::calls::not_written;
use crate::call::outgoing::fetched::{RemoteCall, drop_result};
use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::layered_call::{CallTerms, CarryingCall, LayeredCall};
use crate::call::outgoing::outgoing_call::NotPrepared;
use crate::call::outgoing::resumed_stream::{self, RequestItems};
use crate::call::outgoing::sent::{DropResult, KeptReferences, Rest};
use crate::frame::{CallTrailer, REFLECTION, written, written_copy};
use crate::interface::{Interface, Method};
use crate::reference::{Between, GiveError, Giving, Object, ObjectPlace, Passed};
use crate::session::{As, CallLayers};
use crate::stream::{Carried, Pumps, Stream, StreamError, Taken};
use crate::support::CallError;

/// Returns the error of a call whose references can't be passed.
fn not_given(method: &'static Method, why: &GiveError) -> CallError {
    let method = method.name();
    match *why {
        GiveError::Refused(reason) => CallError::Reference {
            method,
            reason: reason.to_owned(),
        },
        GiveError::Failed(reason) => CallError::NotGiven {
            method,
            reason: reason.to_owned(),
        },
    }
}

impl Object {
    /// Creates an empty set of streams and references for a new call.
    #[doc(hidden)]
    #[must_use]
    pub fn carried(&self) -> Carried {
        let between = match self.destination() {
            Some((connection, _)) => Between::Peers(connection.clone()),
            None => Between::Here(Arc::default()),
        };
        let giving = Giving::new(between, As::Argument);
        Carried::new(giving.with_versions(self.versions()))
    }

    /// Calls a method with streams or references among its arguments. See [`call`](Self::call).
    #[doc(hidden)]
    pub fn call_with<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        self.call_carrying(interface, index, arguments, carried, None, &mut None)
    }

    /// Calls a method with streams or references. Pipelined calls name the call by `made`, which is
    /// set to `None` if they can't.
    fn call_carrying<A, R>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
        drop_result: Option<DropResult>,
        made: &mut Option<CallTrailer>,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let (pumps, mut giving, has_streams) = carried.into_parts();
        // Arguments were converted one after the other, and the first failure is reported here,
        // before anything is sent.
        if let Some(why) = giving.take_failure() {
            return Call::failed(not_given(method, &why));
        }
        if let ObjectPlace::Here(node) = self.place() {
            // Both ends of the stream would be in this program, without a connection whose flow
            // control they could use.
            if has_streams {
                let method = method.name();
                return Call::failed(CallError::Here { method });
            }
            return self.begin_local(node, (index, method), arguments, giving);
        }
        let rest = (drop_result.is_some() || !giving.is_empty()).then(|| {
            Rest::with_references(KeptReferences {
                giving,
                result: drop_result,
            })
        });
        let mut outgoing_call = match self.prepare(interface, index) {
            Ok(outgoing_call) => outgoing_call,
            Err(NotPrepared::Failed(error)) => return Call::failed(error),
            Err(NotPrepared::Layered(layers)) => {
                let carrying = (rest, pumps);
                return self.begin_carrying((interface, index), arguments, carrying, made, &layers);
            }
        };
        let mut call = Call::carrying(pumps);
        // Over the connection of the object, and never over the lane.
        let sent = written(arguments, outgoing_call.limits(), |segments| {
            call.put(outgoing_call.send_carrying(segments, rest, *made));
        });
        if let Err(source) = sent {
            call.put(Err(outgoing_call.not_written(source)));
        }
        call
    }

    /// Makes a call within layers. If they are not ready at once, pipelined calls can't name it.
    #[cold]
    fn begin_carrying<A, R>(
        &self,
        (interface, index): (&'static Interface, usize),
        arguments: &A,
        (rest, pumps): (Option<Box<Rest>>, Pumps),
        made: &mut Option<CallTrailer>,
        layers: &CallLayers,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        let named = (interface.name(), method);
        let drop_result = rest.as_ref().and_then(|rest| rest.drop_result());
        let drop_result = drop_result.zip(self.connection().cloned());
        let begun = self.deadline(method).and_then(|deadline| {
            self.check_known(method)?;
            let terms = (deadline, self.metadata(method)?);
            let mut layered = LayeredCall::new(self, named, index, terms, layers, drop_result);
            let limits = self.argument_limits();
            match layered.begin()? {
                Some(terms) => {
                    let mut call = Call::carrying(pumps);
                    let sent = written(arguments, limits, |segments| {
                        let prepared = self.prepare_within(interface, index, terms);
                        call.put(prepared.and_then(|mut outgoing_call| {
                            outgoing_call.send_carrying(segments, rest, *made)
                        }));
                    });
                    sent.map_err(|source| not_written(method, source))?;
                    layered.start(call);
                }
                None => {
                    *made = None;
                    let message = written_copy(arguments, limits);
                    layered.keep_carrying(CarryingCall {
                        interface,
                        message: message.map_err(|source| not_written(method, source))?,
                        rest,
                        pumps,
                    });
                }
            }
            Ok(layered)
        });
        begun.map_or_else(Call::failed, Call::layered)
    }

    /// Sends a call with streams or references whose arguments were encoded.
    pub(super) fn send_kept(&self, kept: CarryingCall, index: usize, terms: CallTerms) -> Call<()> {
        let mut call = Call::carrying(kept.pumps);
        let prepared = self.prepare_within(kept.interface, index, terms);
        call.put(prepared.and_then(|mut outgoing_call| {
            let segments = [IoSlice::new(kept.message.as_bytes())];
            outgoing_call.send_carrying(&segments, kept.rest, None)
        }));
        call
    }

    /// Calls a method whose result contains references. See [`call_with`](Self::call_with).
    #[doc(hidden)]
    pub fn fetch<A, P>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
    ) -> RemoteCall<P>
    where
        A: Transportable,
        P: Passed,
    {
        let method = interface.method(index);
        let between = carried.between().clone();
        let drop_result = drop_result::<P>;
        let mut made = match (self.destination(), P::interface()) {
            (Some((connection, number)), Some(leads_to)) if number != REFLECTION => {
                let versions = self.methods.as_ref().map(|methods| methods.pairs());
                let theirs = versions.and_then(|versions| versions.their_id(leads_to));
                let interface = theirs.unwrap_or_else(|| leads_to.id());
                // Each call with a reference as its result gets a number, because the program may
                // ask for a pipelined stub only after it was sent.
                Some(connection.session().promises.number_call(interface))
            }
            _ => None,
        };
        let call = self.call_carrying(
            interface,
            index,
            arguments,
            carried,
            Some(drop_result),
            &mut made,
        );
        RemoteCall::new(call, (between, self.versions()), method, made)
    }

    /// Calls a method whose result is a stream that is resumed. The arguments are kept as a message
    /// of type `M`.
    #[doc(hidden)]
    pub fn resumed_stream<A, M, T>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        request: RequestItems<M, T>,
    ) -> Stream<T>
    where
        A: Transportable,
        M: Transportable + 'static,
        T: Transportable + 'static,
    {
        resumed_stream::begin(self, interface, index, arguments, request)
    }

    /// Calls a method whose result is a stream. See [`call_with`](Self::call_with).
    #[doc(hidden)]
    pub fn stream<A, T>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Carried,
        mut taken: Taken<T>,
    ) -> Stream<T>
    where
        A: Transportable,
        T: Transportable + 'static,
    {
        let method = interface.method(index);
        let deadline = match self.deadline(method) {
            Ok(deadline) => deadline,
            Err(error) => return Stream::failed(StreamError::Call(error)),
        };
        if let Some(methods) = &self.methods {
            taken.convert(methods.frames_of(method));
        }
        let call: Call<u64> =
            self.call_carrying(interface, index, arguments, carried, None, &mut None);
        match call.into_failure() {
            Ok(call) => {
                let ending = Box::pin(async move { Ok(*call.await?.get()) });
                taken.stream(ending, (method, deadline), self.clock())
            }
            Err(error) => Stream::failed(StreamError::Call(error)),
        }
    }
}
