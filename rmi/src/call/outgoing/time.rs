//! Deadlines and headers of calls.

use std::time::{Duration, Instant};

use crate::frame::{CallHeader, MOST_METHODS, Metadata, REGISTRY};
use crate::interface::Method;
use crate::reference::{Object, ObjectPlace};
use crate::session::{Clock, Connection, has_deadline, inherited_deadline, inherited_metadata};
use crate::support::{CallError, Outcome};

impl Object {
    /// Returns an error if the object is the result of a call that has failed.
    pub(super) fn is_there(&self, method: &'static Method) -> Result<(), CallError> {
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
    /// its own deadline is an upper limit.
    pub(super) fn header(
        &self,
        method: &'static Method,
        index: usize,
    ) -> Result<(Option<Instant>, CallHeader), CallError> {
        let clock = self.clock();
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
        self.is_there(method)?;
        let time = deadline.map(|then| then.saturating_duration_since(now));
        if time == Some(Duration::ZERO) {
            return Err(too_late(method));
        }
        let object = self.way().map_or(REGISTRY, |(_, number)| number);
        let method = u16::try_from(index.min(MOST_METHODS.saturating_sub(1))).unwrap_or_default();
        Ok(CallHeader::within(object, method, time))
    }
}

fn too_late(method: &'static Method) -> CallError {
    CallError::Deadline {
        method: method.name(),
        outcome: Outcome::DidNotRun,
        idempotent: method.is_idempotent(),
    }
}
