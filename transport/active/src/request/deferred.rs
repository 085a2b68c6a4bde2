//! A queued request.

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Instant;

use jstream::buffer::Filled;

use super::{Replier, Request};
use crate::budget::Tick;
use crate::ledger::Number;
use crate::link::Link;

/// A request in a queue. It holds its connection weakly, because the connection may own the queue.
/// If no other handle of the connection is left, both are dropped.
pub(crate) struct DeferredRequest {
    /// Identifier of the connection in poll groups.
    pub(crate) id: u64,
    link: Weak<Link>,
    kept: Option<Box<dyn Any + Send>>,
    payload: Option<Filled>,
    word: u64,
    handler: u16,
    number: Number,
    length: u64,
    since: Option<Instant>,
    has_waited: bool,
}

impl Request {
    /// Converts the request into its queued form.
    pub(crate) fn park(self) -> DeferredRequest {
        let Self {
            kept,
            payload,
            mut replier,
            since,
            begun: _,
            has_waited,
        } = self;
        // The request is answered after it is taken from the queue.
        replier.is_open = false;
        DeferredRequest {
            id: replier.link.id,
            link: Arc::downgrade(&replier.link),
            kept,
            payload,
            word: replier.word,
            handler: replier.handler,
            number: replier.number,
            length: replier.length,
            since,
            has_waited,
        }
    }
}

impl DeferredRequest {
    /// Restores the request; `None` if its connection is gone.
    pub(crate) fn unpark(self) -> Option<Request> {
        let link = self.link.upgrade()?;
        Some(Request {
            kept: self.kept,
            payload: self.payload,
            replier: Replier {
                link,
                word: self.word,
                handler: self.handler,
                number: self.number,
                length: self.length,
                is_open: true,
            },
            since: self.since,
            begun: Tick::default(),
            has_waited: self.has_waited,
        })
    }
}
