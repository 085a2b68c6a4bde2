//! Handshakes of connections, from which sessions begin.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jstream_active::{Handlers, Peer, Settings};
use jstream_base::{Address, Options};
use jstream_endpoint::Endpoint;

use crate::frame::{CALLS, REFERENCES, STREAMS};
use crate::session::auth;
use crate::session::connection::Connection;
use crate::session::exports::Exports;
use crate::session::lane::{ConnectLane, Lane};
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
    if let Some(secret) = &terms.secret {
        auth::prove(&endpoint, secret, settings.handshake_timeout)?;
    }
    Ok(endpoint)
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
            home: Arc::default(),
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
            home: Arc::default(),
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
            home: session.home.clone(),
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
            home: parts.home,
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
}
