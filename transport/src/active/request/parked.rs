//! A request that waits for its turn.

use std::any::Any;
use std::sync::{Arc, Weak};
use std::time::Instant;

use jstream::buffer::Filled;

use super::{Replier, Request};
use crate::active::budget::Tick;
use crate::active::ledger::Number;
use crate::active::link::Link;

/// A request as it is kept until its turn comes. It does not keep its connection, which may be what has it: where nobody
/// else is left who could bring its turn about, both end.
pub(in crate::active) struct Parked {
    /// By which bundles know the connection.
    pub(in crate::active) id: u64,
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
    /// Leaves it until its turn comes.
    pub(in crate::active) fn park(self) -> Parked {
        let Self {
            kept,
            payload,
            mut replier,
            since,
            begun: _,
            has_waited,
        } = self;
        // It is answered when it goes on.
        replier.is_open = false;
        Parked {
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

impl Parked {
    /// The request; none when its connection is gone.
    pub(in crate::active) fn unpark(self) -> Option<Request> {
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
