//! Handshakes of connections, from which sessions begin.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jstream_active::{Handlers, Peer, Settings};
use jstream_base::{Address, Options};
use jstream_endpoint::Endpoint;
use jstream_endpoint::acceptor::Candidate;

use crate::frame::{CALLS, MOVING, REFERENCES, STREAMS};
use crate::session::auth;
use crate::session::capture::Tape;
use crate::session::connection::Connection;
use crate::session::exports::Exports;
use crate::session::lane::{ConnectLane, Lane};
use crate::session::moving::Moving;
use crate::session::objects::Home;
use crate::session::pipelining::Promises;
use crate::session::references::References;
use crate::session::state::Session;
use crate::session::streams::Wire;
use crate::session::terms::Terms;
use crate::session::waiting::{CallCounts, Waiting};
use crate::support::ConnectError;

/// Components of a session.
struct Parts {
    exports: Arc<OnceLock<Arc<Exports>>>,
    home: Arc<OnceLock<Arc<Home>>>,
    references: Arc<References>,
    lane: Option<Lane>,
    /// True if the connection shares the references of another one.
    is_lane: bool,
    waiting: Arc<Waiting>,
}

/// Connects to a server, and authenticates if a secret is set.
fn connect(
    address: &Address,
    options: &Options,
    settings: &Settings,
    terms: &Terms,
) -> Result<Endpoint, ConnectError> {
    let endpoint = jstream_endpoint::connect(address, options)?;
    // Before the exchange of handlers, so that a stranger learns nothing of the server but that it
    // asks for a secret, and a server without the secret gets nothing of the client.
    if let Some(secret) = &terms.secret {
        auth::prove(&endpoint, secret, settings.handshake_timeout)?;
    }
    Ok(endpoint)
}

impl Connection {
    /// Performs the handshake with a client.
    pub(crate) async fn accept(
        candidate: Candidate,
        handlers: &Handlers,
        settings: Settings,
        terms: Terms,
        exports: Arc<Exports>,
        waiting: Arc<Waiting>,
    ) -> Result<Self, ConnectError> {
        if let Some(secret) = &terms.secret {
            auth::admit(&candidate, secret).await?;
        }
        let parts = Parts {
            exports: Arc::new(OnceLock::from(exports)),
            home: Arc::default(),
            references: terms.references(None),
            // The client alone opens connections, so a server has no lane to a client.
            lane: None,
            is_lane: false,
            waiting,
        };
        let peer = candidate.peer().to_string();
        let (opening, settings) = Opening::new(&peer, settings, terms, parts);
        let peer = Peer::admit(candidate, handlers, settings).await?;
        opening.finish(peer)
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
            home: Arc::default(),
            references: terms.references(Some(address)),
            lane: Some(lane),
            is_lane: false,
            // Only the shutdown of a listener waits for these counts, and a client has none.
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
            home: session.home.clone(),
            references: session.references().clone(),
            // A lane has no lane of its own: its large calls delay only other large calls.
            lane: None,
            is_lane: true,
            waiting: Arc::default(),
        };
        Self::join(endpoint, handlers, settings.clone(), terms, parts).ok()
    }

    fn join(
        endpoint: Endpoint,
        handlers: &Handlers,
        settings: Settings,
        terms: Terms,
        parts: Parts,
    ) -> Result<Self, ConnectError> {
        let peer = endpoint.peer().to_string();
        let (opening, settings) = Opening::new(&peer, settings, terms, parts);
        let peer = Peer::join(endpoint, handlers, settings)?;
        opening.finish(peer)
    }
}

/// A session whose handler tables are not exchanged yet.
struct Opening {
    terms: Terms,
    parts: Parts,
    tape: Option<Arc<Tape>>,
    counts: Arc<CallCounts>,
    promises: Arc<Promises>,
}

impl Opening {
    /// Begins a session with `peer`. Returns it, and the settings of its connection.
    fn new(peer: &str, mut settings: Settings, terms: Terms, parts: Parts) -> (Self, Settings) {
        // One-way calls that come back are not inspected, so the transport need not keep them.
        settings.kept_returns = 0;
        let capture = terms.capture.as_ref();
        let tape = capture.map(|to| to.tape(peer.to_owned()));
        // Set before the handshake, so that the capture contains the tables of handlers. Without
        // these, no later message could be told to be a call.
        settings.tap = tape.clone().map(|tape| tape as _).or(settings.tap);
        let counts = CallCounts::new(parts.waiting.clone());
        let clock = terms.clock.clone();
        let promises = Arc::new(Promises::new(&settings, clock, counts.clone()));
        let opening = Self {
            terms,
            parts,
            tape,
            counts,
            promises,
        };
        (opening, settings)
    }

    fn finish(self, peer: Peer) -> Result<Connection, ConnectError> {
        let Self {
            terms,
            parts,
            tape,
            counts,
            promises,
        } = self;
        let references = parts.references.clone();
        let open = promises.clone();
        static SESSIONS: AtomicU64 = AtomicU64::new(0);
        // Only uniqueness counts: the number tells sessions apart in the cache of recent objects,
        // which outlives them.
        let id = SESSIONS.fetch_add(1, Ordering::Relaxed);
        let control = terms.admission.as_ref();
        let admission = control.map(|control| control.connect(&peer, id));
        let caller = admission.clone();
        let session = Session {
            id,
            calls: peer.handler(CALLS)?,
            streams: peer.handler(STREAMS)?,
            referenced: peer.handler(REFERENCES)?,
            wire: Wire::new(&peer),
            tape,
            exports: parts.exports,
            home: parts.home,
            references: parts.references,
            joined: OnceLock::new(),
            lane: parts.lane,
            is_plain: terms.are_plain(),
            terms,
            promises,
            // The peer may be of a version without this handler. It is then neither told to move
            // nor waited for.
            moving: Moving::new(peer.handler(MOVING).ok()),
            counts,
            admission,
        };
        // The callback holds parts of the session instead of the peer. With a handle of the
        // connection, the connection would own itself and never end.
        peer.on_end(move || {
            if let Some(caller) = caller {
                caller.end_queued();
            }
            open.end();
            // The references of a lane are those of the first connection, which goes on without its
            // lane.
            if !parts.is_lane {
                references.end();
            }
        });
        // The callback above does not need the session, so it does not matter if the connection has
        // ended already and has run it before this line.
        peer.attach(Arc::new(session));
        Ok(Connection { peer })
    }
}
