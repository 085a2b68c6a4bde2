//! Conversion of requests to their queued form and back.

use std::sync::Arc;

use super::{DeferredRequest, Replier, Request};
use crate::budget::Tick;

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
