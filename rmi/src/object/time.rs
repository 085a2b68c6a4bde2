//! Until when calls of an object wait, and what their words say.

use std::time::{Duration, Instant};

use super::{Object, ObjectPlace};
use crate::clock::Clock;
use crate::context;
use crate::error::{CallError, Outcome};
use crate::frame::Word;
use crate::interface::Method;
use crate::registry::REGISTRY;
use crate::session::Connection;

impl Object {
    /// Whether it is there, or is going to be.
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

    /// Until when a call that is made now waits, and what is said of it: no longer than the call that it is made for,
    /// if it is made by a method.
    pub(super) fn word(
        &self,
        method: &'static Method,
        index: usize,
    ) -> Result<(Option<Instant>, u64), CallError> {
        let clock = self.clock();
        // What is left of an inherited time is to be known exactly.
        let now = clock.begin((!context::has_deadline()).then_some(self.span.time()));
        let deadline = self.until(clock, now);
        let word = self.word_at(now, method, index, deadline)?;
        Ok((deadline, word))
    }

    /// What the deadlines of its calls go by.
    pub(crate) fn clock(&self) -> &Clock {
        self.connection().map_or(&Clock::SYSTEM, Connection::clock)
    }

    fn until(&self, clock: &Clock, now: Instant) -> Option<Instant> {
        let own = now.checked_add(self.span.time());
        let inherited = context::deadline(clock, now);
        match (own, inherited) {
            (Some(own), Some(inherited)) => Some(own.min(inherited)),
            (one, other) => one.or(other),
        }
    }

    /// The same, unless it has passed.
    pub(super) fn deadline(&self, method: &'static Method) -> Result<Option<Instant>, CallError> {
        let clock = self.clock();
        let now = clock.now();
        let deadline = self.until(clock, now);
        if deadline.is_some_and(|then| then <= now) {
            return Err(too_late(method));
        }
        Ok(deadline)
    }

    pub(super) fn word_until(
        &self,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        self.word_at(self.clock().now(), method, index, deadline)
    }

    pub(super) fn word_at(
        &self,
        now: Instant,
        method: &'static Method,
        index: usize,
        deadline: Option<Instant>,
    ) -> Result<u64, CallError> {
        self.is_there(method)?;
        let time = deadline.map(|then| then.saturating_duration_since(now));
        if time == Some(Duration::ZERO) {
            return Err(too_late(method));
        }
        let word = Word {
            object: self.way().map_or(REGISTRY, |(_, number)| number),
            method: u16::try_from(index).unwrap_or(u16::MAX),
            time,
        };
        Ok(word.to_wire())
    }
}

fn too_late(method: &'static Method) -> CallError {
    CallError::Deadline {
        method: method.name(),
        outcome: Outcome::DidNotRun,
        idempotent: method.is_idempotent(),
    }
}
