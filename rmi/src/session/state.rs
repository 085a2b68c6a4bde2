//! State of a connection over which both sides call objects of the other side.

use std::sync::{Arc, OnceLock};

use jstream_active::{Executor, Handler, Mark};

use crate::session::admission::CallerHandle;
use crate::session::capture::Tape;
use crate::session::clock::Clock;
use crate::session::connection::Connection;
use crate::session::exports::Exports;
use crate::session::lane::Lane;
use crate::session::moving::Moving;
use crate::session::objects::{Callable, Context, Home, changed, recent};
use crate::session::pipelining::Promises;
use crate::session::references::References;
use crate::session::streams::Wire;
use crate::session::terms::Terms;
use crate::session::waiting::CallCounts;

/// State of a connection, which is attached to it.
pub(crate) struct Session {
    /// Unique number.
    pub(super) id: u64,
    pub(crate) calls: Handler,
    pub(super) streams: Handler,
    pub(super) referenced: Handler,
    /// Objects that the other side may call. Set when there are some.
    pub(super) exports: Arc<OnceLock<Arc<Exports>>>,
    /// State of the objects that this side exports without a server. Shared with the lane.
    pub(super) home: Arc<OnceLock<Arc<Home>>>,
    pub(super) references: Arc<References>,
    /// References of the connection that this one has joined, if it is a lane.
    pub(super) joined: OnceLock<Arc<References>>,
    /// Second connection for large calls, so that other calls need not wait for them.
    pub(super) lane: Option<Lane>,
    pub(crate) terms: Terms,
    /// True if calls are not limited or intercepted, and use the system clock.
    pub(crate) is_plain: bool,
    pub(crate) wire: Wire,
    pub(crate) tape: Option<Arc<Tape>>,
    /// Pipelined calls.
    pub(crate) promises: Arc<Promises>,
    /// The end of the server, before the connection ends.
    pub(crate) moving: Moving,
    /// Suspended methods of calls from the other side.
    pub(crate) counts: Arc<CallCounts>,
    /// The caller, at a server that limits its calls.
    pub(crate) admission: Option<Arc<CallerHandle>>,
}

impl Session {
    pub(crate) fn exports(&self) -> Option<&Arc<Exports>> {
        self.exports.get()
    }

    /// Returns the state that objects exported over this connection share. If the connection
    /// exports a server, it is the state of the server's objects.
    pub(crate) fn home(&self, executor: impl FnOnce() -> Arc<dyn Executor>) -> &Arc<Home> {
        match self.exports() {
            // A server that was exported after objects without a server keeps the state that these
            // have, since nodes hold their home themselves.
            Some(exports) => exports.home(),
            None => self.home.get_or_init(|| Arc::new(Home::new(executor()))),
        }
    }

    /// Returns the state that objects exported over this connection share, if there are some.
    pub(crate) fn known_home(&self) -> Option<&Arc<Home>> {
        match self.exports() {
            Some(exports) => Some(exports.home()),
            None => self.home.get(),
        }
    }

    /// Returns the table of references in both directions.
    pub(crate) fn references(&self) -> &Arc<References> {
        // A lane begins with an empty table, and uses that of the first connection from the join
        // on. The empty one stays, because the end of the connection releases it.
        self.joined.get().unwrap_or(&self.references)
    }

    /// Returns the object that the other side calls by this number, if it has access to it.
    #[inline]
    pub(crate) fn object(&self, number: u32) -> Option<Callable> {
        recent(self.id, number, || self.look_up(number))
    }

    fn look_up(&self, number: u32) -> Option<Callable> {
        // The table never gives the numbers of the fixed objects, so none of its objects is hidden.
        let own = self.exports().and_then(|exports| exports.own(number));
        let node = match own {
            Some(node) => node.clone(),
            None => self.references().called(number)?,
        };
        Some((node.interface(), node.callee()?))
    }

    /// Returns true if neither side holds a reference, a stream, a kept result or a suspended call.
    pub(crate) fn is_idle(&self) -> bool {
        let calls = self.counts.methods().saturating_add(self.counts.held());
        // An idle connection may be closed for another one, so everything that a peer would notice
        // counts here, also objects that it only looked up.
        calls == 0 && self.wire.streams.is_empty() && self.references().are_none()
    }

    /// Shares the references of another connection with the same peer. Returns `None` if the
    /// connection has joined before.
    pub(crate) fn join(&self, references: Arc<References>) -> Option<()> {
        let joined = self.joined.set(references);
        // A thread may remember an object of the empty table under this session, with a number that
        // means another object in the joined table.
        changed();
        joined.ok()
    }

    /// Returns true if both are the session of the same connection.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.id == other.id
    }

    /// Returns true unless the connection is a lane, which has joined another one.
    pub(crate) fn is_first(&self) -> bool {
        self.joined.get().is_none()
    }
}

/// The session of the connection.
impl Connection {
    /// Ends the connection and its lane.
    pub(crate) fn close(&self) {
        // The first connection ends before its lane: from then on it opens no other lane.
        self.peer.close();
        if let Some(lane) = &self.session().lane {
            lane.close();
        }
    }

    #[inline]
    pub(crate) fn session(&self) -> &Session {
        match self.peer.attached() {
            // Handles of a connection exist only after `finish` has attached the session. The
            // requests that arrive before that have no such handle and ask `attached` themselves.
            Some(session) => session,
            None => unreachable!("each connection has its session before it is used"),
        }
    }

    /// Exports objects to the other side. Returns false if objects were exported before.
    pub(crate) fn export(&self, exports: Arc<Exports>) -> bool {
        self.session().exports.set(exports).is_ok()
    }

    /// Returns the clock of its calls.
    pub(crate) fn clock(&self) -> &Clock {
        &self.session().terms.clock
    }

    /// Returns the table of references in both directions.
    pub(crate) fn references(&self) -> &Arc<References> {
        self.session().references()
    }
}

/// The clock of the connection.
impl Context {
    /// Returns the clock of the deadline.
    pub(crate) fn clock(&self) -> &Clock {
        let session = self.call.as_ref().and_then(Mark::attached::<Session>);
        session.map_or(&Clock::SYSTEM, |session| &session.terms.clock)
    }
}
