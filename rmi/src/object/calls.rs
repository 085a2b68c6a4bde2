//! Calls of objects, and messages that nobody answers.

use std::io::IoSlice;
use std::sync::Arc;
use std::time::Instant;

use jstream::{Transportable, WriteError};
use jstream_transport::active::{RequestError, Ticket};

use super::{Object, Place};
use crate::again::{Again, Retries};
use crate::call::{Call, Kept, Sent, unsent};
use crate::error::CallError;
use crate::exports::Node;
use crate::frame::{PROMISES, Word};
use crate::here;
use crate::intercept::{CallInfo, Denied, Side, Watched};
use crate::interface::{Interface, Method};
use crate::message::written;
use crate::promise::Made;
use crate::reference::Giving;
use crate::stream::Pumps;

impl Object {
    /// Calls the method at `index` of `interface`.
    #[doc(hidden)]
    pub fn call<A, R>(&self, interface: &'static Interface, index: usize, arguments: &A) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let method = interface.method(index);
        if let Place::Here(node) = self.place() {
            return self.begin_here(node, (index, method), arguments, Giving::none());
        }
        match self.retries {
            Some(retries) if method.is_idempotent() => {
                self.note(interface, index);
                self.begin_again(method, index, arguments, retries)
            }
            _ => Call::new(
                self.begin(interface, index, arguments, None),
                None,
                Pumps::default(),
            ),
        }
    }

    /// Makes a call, and keeps what is needed to make it again.
    #[cold]
    fn begin_again<A, R>(
        &self,
        method: &'static Method,
        index: usize,
        arguments: &A,
        retries: Retries,
    ) -> Call<R>
    where
        A: Transportable,
        R: Transportable + 'static,
    {
        let kept = self.word(method, index).and_then(|(deadline, _)| {
            let message = written(arguments, |segments| {
                let bytes = segments.iter().flat_map(|segment| segment.iter().copied());
                bytes.collect::<Vec<u8>>()
            });
            match message {
                Ok(message) => Ok((deadline, message)),
                Err(source) => Err(CallError::Arguments {
                    method: method.name(),
                    source,
                }),
            }
        });
        let (deadline, message) = match kept {
            Ok(kept) => kept,
            Err(error) => return Call::new(Err(error), None, Pumps::default()),
        };
        let again = Again::new(self.clone(), method, index, message, deadline, retries);
        Call::new(again.send(), Some(Box::new(again)), Pumps::default())
    }

    pub(super) fn sent(
        &self,
        ticket: Ticket,
        method: &'static Method,
        deadline: Option<Instant>,
        watched: Option<Arc<Watched>>,
    ) -> Sent {
        Sent {
            ticket,
            method,
            deadline,
            _import: match self.place() {
                Place::Import(import) => Some(import.clone()),
                Place::Own(..) | Place::Here(_) | Place::Ahead(_) => None,
            },
            _ahead: match &self.place {
                Place::Ahead(ahead) => Some(ahead.called()),
                _ => None,
            },
            kept: None,
            watched,
            fetching: None,
        }
    }

    /// Calls a method of an object of this program.
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
            let payload = written(arguments, here::copied);
            let payload = payload.map_err(|source| CallError::Arguments {
                method: method.name(),
                source,
            })?;
            here::begin(node, (index, method), payload, giving.passing(), deadline)
        });
        match begun {
            Ok(running) => Call::here(running),
            Err(error) => Call::new(Err(error), None, Pumps::default()),
        }
    }

    /// Makes a call over the object's connection; with `carried`, over no other one.
    pub(super) fn begin<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
        carried: Option<(Option<Kept>, Option<Made>)>,
    ) -> Result<Sent, CallError> {
        let method = interface.method(index);
        self.note(interface, index);
        let (deadline, word) = self.word(method, index)?;
        let made = carried.as_ref().and_then(|(_, made)| *made);
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        // What it leads to may have become known since.
        let Some((connection, number)) = self.way() else {
            return Err(CallError::Here {
                method: method.name(),
            });
        };
        let word = Word::aimed(word, number);
        let sent = written(arguments, |segments| {
            if let Some(made) = made {
                let made = made.to_wire();
                let segments = segments.iter().copied().chain([IoSlice::new(&made)]);
                let segments: Vec<_> = segments.collect();
                let word = word | u64::from(PROMISES);
                return connection.call_here(word, &segments, deadline);
            }
            if carried.is_some() {
                return connection.call_here(word, segments, deadline);
            }
            connection.call(word, segments, deadline)
        });
        match sent {
            Ok(Ok(ticket)) => {
                let mut sent = self.sent(ticket, method, deadline, watched);
                sent.kept = carried.and_then(|(kept, _)| kept).map(Box::new);
                Ok(sent)
            }
            failed => Err(ended(watched.as_ref(), not_sent(method, failed))),
        }
    }

    /// Sends what the method at `index` of `interface` takes, and waits for nothing.
    ///
    /// # Errors
    ///
    /// What prevented sending it.
    #[doc(hidden)]
    pub fn send<A: Transportable>(
        &self,
        interface: &'static Interface,
        index: usize,
        arguments: &A,
    ) -> Result<(), CallError> {
        let method = interface.method(index);
        if let Place::Here(node) = self.place() {
            let call = self.begin_here::<A, ()>(node, (index, method), arguments, Giving::none());
            return call.end_here(method);
        }
        self.note(interface, index);
        let (deadline, word) = self.word(method, index)?;
        let watched = self.watched(interface.name(), method, deadline, 0)?;
        let Some((connection, number)) = self.way() else {
            let here = CallError::Here {
                method: method.name(),
            };
            return Err(ended(watched.as_ref(), here));
        };
        let word = Word::aimed(word, number);
        let sent = written(arguments, |segments| {
            connection.call_one_way(word, segments, deadline)
        });
        match sent {
            Ok(Ok(())) => {
                if let Place::Ahead(ahead) = &self.place {
                    ahead.called_one_way();
                }
                sent_one_way(watched.as_ref());
                Ok(())
            }
            failed => Err(ended(watched.as_ref(), not_sent(method, failed))),
        }
    }

    /// Keeps what a number stands for with a connection that is captured.
    #[inline]
    fn note(&self, interface: &'static Interface, index: usize) {
        if let Some((connection, number)) = self.way() {
            if let Some(capture) = &connection.session().terms.capture {
                capture.note(number, index, interface);
            }
        }
    }

    /// A call is about to be made. Nothing where nobody sees it.
    #[inline]
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
}

/// A call has ended before it was under way.
pub(super) fn ended(watched: Option<&Arc<Watched>>, error: CallError) -> CallError {
    if let Some(watched) = watched {
        watched.end(Err(error.outcome()), 0);
    }
    error
}

/// There is nothing more to be known of a call.
pub(super) fn sent_one_way(watched: Option<&Arc<Watched>>) {
    if let Some(watched) = watched {
        watched.end(Ok(()), 0);
    }
}

/// Why a message of a call was not sent.
fn not_sent<T>(
    method: &'static Method,
    failed: Result<Result<T, RequestError>, WriteError>,
) -> CallError {
    match failed {
        Err(source) => CallError::Arguments {
            method: method.name(),
            source,
        },
        Ok(Err(error)) => unsent(method, error),
        Ok(Ok(_)) => unreachable!("it was sent"),
    }
}
