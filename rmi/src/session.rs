//! A connection over which both sides call objects of the other side.

mod lane;
mod results;
mod sending;
mod terms;
mod waiting;

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jstream_transport::active::{Executor, Handler, Handlers, Outcome, Peer, Settings};
use jstream_transport::{Address, Endpoint, Options};

pub(crate) use self::lane::{ConnectLane, Lane};
pub(crate) use self::results::{RESULTS, Results, fetched, keep_result, number_of};
pub(crate) use self::sending::length;
pub(crate) use self::terms::{Claim, Terms, max_result_streams};
pub(crate) use self::waiting::{CallCounts, IsHeld, ServerCounters, Waiting, Waits};
use crate::auth;
use crate::capture::Tape;
use crate::clock::Clock;
use crate::error::ConnectError;
use crate::exports::{Callable, Exports, changed, recent};
use crate::frame::{PROMISED, PROMISES};
use crate::pipelining::{Promises, admit};
use crate::reference::{References, referenced};
use crate::server::called;
use crate::stream::{Wire, streamed};

/// Name of the handler of calls.
pub(crate) const CALLS: &str = "jstream.calls";
const STREAMS: &str = "jstream.streams";
const REFERENCES: &str = "jstream.references";

/// Size in bytes from which on arguments and results use the lane.
pub(crate) const MUCH: usize = 256 << 10;

/// State of a connection, which is attached to it.
pub(crate) struct Session {
    /// Unique number.
    id: u64,
    calls: Handler,
    streams: Handler,
    referenced: Handler,
    /// Objects that the other side may call. Set when there are some.
    exports: Arc<OnceLock<Arc<Exports>>>,
    references: Arc<References>,
    /// References of the connection that this one has joined, if it is a lane.
    joined: OnceLock<Arc<References>>,
    /// Second connection for large calls, so that other calls need not wait for them.
    lane: Option<Lane>,
    pub(crate) terms: Terms,
    /// True if calls are not intercepted and use the system clock.
    pub(crate) is_plain: bool,
    pub(crate) wire: Wire,
    pub(crate) tape: Option<Arc<Tape>>,
    /// Pipelined calls.
    pub(crate) promises: Arc<Promises>,
    /// Suspended methods of calls from the other side.
    counts: Arc<CallCounts>,
}

/// Components of a session.
struct Parts {
    exports: Arc<OnceLock<Arc<Exports>>>,
    references: Arc<References>,
    lane: Option<Lane>,
    /// True if the connection shares the references of another one.
    is_lane: bool,
    waiting: Arc<Waiting>,
}

/// Handle of a connection, by which calls are made.
#[derive(Clone)]
pub(crate) struct Connection {
    peer: Peer,
}

/// Creates the handlers of one side. Calls that are nested too deeply run on `executor`.
pub(crate) fn handlers(executor: Arc<dyn Executor>) -> Handlers {
    Handlers::builder()
        .on_lent(CALLS, |request| {
            called(request);
            Outcome::Done
        })
        .in_order(u64::from(PROMISED | PROMISES), admit)
        .on(STREAMS, streamed)
        .short()
        .on(REFERENCES, referenced)
        .short()
        .executor(executor)
        .build()
}

/// Connects to a server, and authenticates if a secret is set.
fn connect(
    address: &Address,
    options: &Options,
    settings: &Settings,
    terms: &Terms,
) -> Result<Endpoint, ConnectError> {
    let endpoint = jstream_transport::connect(address, options)?;
    if let Some(secret) = &terms.secret {
        auth::prove(&endpoint, secret, settings.handshake_timeout)?;
    }
    Ok(endpoint)
}

impl Session {
    pub(crate) fn exports(&self) -> Option<&Arc<Exports>> {
        self.exports.get()
    }

    /// Returns the handler of calls at the other side.
    pub(crate) fn calls(&self) -> Handler {
        self.calls
    }

    /// Returns the table of references in both directions.
    pub(crate) fn references(&self) -> &Arc<References> {
        self.joined.get().unwrap_or(&self.references)
    }

    /// Returns the object that the other side calls by this number, if it has access to it.
    #[inline]
    pub(crate) fn object(&self, number: u32) -> Option<Callable> {
        recent(self.id, number, || self.look_up(number))
    }

    fn look_up(&self, number: u32) -> Option<Callable> {
        let own = self.exports().and_then(|exports| exports.own(number));
        let node = match own {
            Some(node) => node.clone(),
            None => self.references().object(number)?,
        };
        Some((node.interface(), node.callee()?))
    }

    /// Shares the references of another connection with the same peer. Returns `None` if the
    /// connection has joined before.
    pub(crate) fn join(&self, references: Arc<References>) -> Option<()> {
        let joined = self.joined.set(references);
        changed();
        joined.ok()
    }

    /// Returns true unless the connection is a lane, which has joined another one.
    pub(crate) fn is_first(&self) -> bool {
        self.joined.get().is_none()
    }
}

impl Connection {
    /// Performs the handshake with a client.
    pub(crate) fn accept(
        endpoint: Endpoint,
        handlers: &Handlers,
        settings: Settings,
        terms: Terms,
        exports: Arc<Exports>,
        waiting: Arc<Waiting>,
    ) -> Result<Self, ConnectError> {
        if let Some(secret) = &terms.secret {
            auth::admit(&endpoint, secret, settings.handshake_timeout)?;
        }
        let parts = Parts {
            exports: Arc::new(OnceLock::from(exports)),
            references: terms.references(None),
            lane: None,
            is_lane: false,
            waiting,
        };
        Self::join(endpoint, handlers, settings, terms, parts)
    }

    /// Connects to a server. `connect_lane` opens the lane when it is needed.
    pub(crate) fn connect(
        (address, options, settings): (&Address, &Options, &Settings),
        terms: Terms,
        handlers: &Handlers,
        connect_lane: ConnectLane,
    ) -> Result<Self, ConnectError> {
        let lane = Lane::new(address, options, settings, connect_lane);
        let endpoint = connect(address, options, settings, &terms)?;
        let parts = Parts {
            exports: Arc::default(),
            references: terms.references(Some(address)),
            lane: Some(lane),
            is_lane: false,
            waiting: Arc::default(),
        };
        Self::join(endpoint, handlers, settings.clone(), terms, parts)
    }

    /// Connects to the server of this connection once more, for the lane.
    pub(crate) fn connect_lane(&self, lane: &Lane, handlers: &Handlers) -> Option<Self> {
        let session = self.session();
        let (address, options, settings) = lane.route();
        let terms = session.terms.clone();
        let endpoint = connect(address, options, settings, &terms).ok()?;
        let parts = Parts {
            exports: session.exports.clone(),
            references: session.references().clone(),
            lane: None,
            is_lane: true,
            waiting: Arc::default(),
        };
        Self::join(endpoint, handlers, settings.clone(), terms, parts).ok()
    }

    fn join(
        endpoint: Endpoint,
        handlers: &Handlers,
        mut settings: Settings,
        terms: Terms,
        parts: Parts,
    ) -> Result<Self, ConnectError> {
        // One-way calls that come back are not inspected, so the transport need not keep them.
        settings.kept_returns = 0;
        let capture = terms.capture.as_ref();
        let tape = capture.map(|to| to.tape(endpoint.peer().to_string()));
        settings.tap = tape.clone().map(|tape| tape as _).or(settings.tap);
        let counts = CallCounts::new(parts.waiting);
        let promises = Arc::new(Promises::new(
            &settings,
            terms.clock.clone(),
            counts.clone(),
        ));
        let peer = Peer::join(endpoint, handlers, settings)?;
        let references = parts.references.clone();
        let open = promises.clone();
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        let session = Session {
            id: SESSIONS.fetch_add(1, Ordering::Relaxed),
            calls: peer.handler(CALLS)?,
            streams: peer.handler(STREAMS)?,
            referenced: peer.handler(REFERENCES)?,
            wire: Wire::new(&peer),
            tape,
            exports: parts.exports,
            references: parts.references,
            joined: OnceLock::new(),
            lane: parts.lane,
            is_plain: terms.are_plain(),
            terms,
            promises,
            counts,
        };
        peer.on_end(move || {
            open.end();
            if !parts.is_lane {
                references.end();
            }
        });
        peer.attach(Arc::new(session));
        Ok(Self { peer })
    }

    /// Ends the connection and its lane.
    pub(crate) fn close(&self) {
        self.peer.close();
        if let Some(lane) = &self.session().lane {
            lane.close();
        }
    }

    /// Returns the connection of a peer whose handshake is complete.
    pub(crate) fn of(peer: Peer) -> Self {
        Self { peer }
    }

    #[inline]
    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    #[inline]
    pub(crate) fn session(&self) -> &Session {
        match self.peer.attached() {
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

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.peer).finish()
    }
}
