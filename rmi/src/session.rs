//! A connection whose both sides call objects of the other one.

mod lane;

use std::fmt;
use std::io::IoSlice;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jstream::Limits;
use jstream_transport::active::{
    Executor, Handler, Handlers, Mark, Peer, Request, RequestError, Settings, ThreadPool, Ticket,
};
use jstream_transport::{Address, Endpoint, Options};

use self::lane::Lane;
use crate::error::ConnectError;
use crate::exports::Exports;
use crate::server::called;

/// The handlers of each side, by name.
const CALLS: &str = "jstream.calls";
const STREAMS: &str = "jstream.streams";

/// From so many bytes of arguments on, a call goes by the lane.
const MUCH: usize = 256 << 10;

/// How many plain methods may wait at other threads than those that receive.
pub(crate) const MOST_WAITING: usize = 16;

/// What belongs to a connection, and is kept with it.
pub(crate) struct Session {
    calls: Handler,
    streams: Handler,
    /// What the other side may call, once there is something.
    exports: Arc<OnceLock<Arc<Exports>>>,
    /// Where calls with much go, which others would have to wait for.
    lane: Option<Lane>,
    pub(crate) terms: Terms,
    /// How many methods wait for which the other side waits.
    waiting: AtomicUsize,
}

/// What a side accepts of the other one, and how it calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    /// How long calls wait that say nothing else.
    pub(crate) time: Duration,
    /// How many methods may wait at once.
    pub(crate) max_waiting: usize,
}

/// A connection, as those have it who call over it.
#[derive(Clone)]
pub(crate) struct Connection {
    peer: Peer,
}

/// The handlers of a side. Those that can't be nested deeper run at `executor`.
pub(crate) fn handlers(executor: Arc<dyn Executor>) -> Handlers {
    Handlers::builder()
        .on(CALLS, called)
        .on(STREAMS, streamed)
        .executor(executor)
        .build()
}

/// Threads for plain methods that can't be nested deeper where calls are received.
pub(crate) fn spare_threads() -> Arc<dyn Executor> {
    Arc::new(ThreadPool::new(MOST_WAITING))
}

/// The handlers of all clients of this process.
fn of_clients() -> &'static Handlers {
    static HANDLERS: OnceLock<Handlers> = OnceLock::new();
    HANDLERS.get_or_init(|| handlers(spare_threads()))
}

/// A part of a stream has come.
fn streamed(request: Request) {
    drop(request);
}

impl Session {
    pub(crate) fn exports(&self) -> Option<&Arc<Exports>> {
        self.exports.get()
    }

    /// Whether one more method may wait.
    pub(crate) fn may_wait(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < self.terms.max_waiting
    }
}

/// A method that waits, and counts as long as it does.
pub(crate) struct Waits(Mark);

impl Waits {
    pub(crate) fn new(mark: Mark) -> Self {
        if let Some(session) = mark.attached::<Session>() {
            session.waiting.fetch_add(1, Ordering::Relaxed);
        }
        Self(mark)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(session) = self.0.attached::<Session>() {
            session.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Connection {
    /// Agrees with a client, which does the same.
    pub(crate) fn accept(
        endpoint: Endpoint,
        handlers: &Handlers,
        settings: Settings,
        terms: Terms,
        exports: Arc<Exports>,
    ) -> Result<Self, ConnectError> {
        let exports = Arc::new(OnceLock::from(exports));
        Self::join(endpoint, handlers, settings, terms, exports, None)
    }

    /// Connects to a server.
    pub(crate) fn connect(
        address: &Address,
        options: &Options,
        settings: &Settings,
        terms: Terms,
    ) -> Result<Self, ConnectError> {
        let lane = Lane::new(address, options, settings);
        let endpoint = jstream_transport::connect(address, options)?;
        let (settings, exports) = (settings.clone(), Arc::default());
        Self::join(endpoint, of_clients(), settings, terms, exports, Some(lane))
    }

    fn join(
        endpoint: Endpoint,
        handlers: &Handlers,
        mut settings: Settings,
        terms: Terms,
        exports: Arc<OnceLock<Arc<Exports>>>,
        lane: Option<Lane>,
    ) -> Result<Self, ConnectError> {
        // Calls that nobody waits for are not asked about.
        settings.kept_returns = 0;
        let peer = Peer::join(endpoint, handlers, settings)?;
        let session = Session {
            calls: peer.handler(CALLS)?,
            streams: peer.handler(STREAMS)?,
            exports,
            lane,
            terms,
            waiting: AtomicUsize::new(0),
        };
        peer.attach(Arc::new(session));
        Ok(Self { peer })
    }

    /// Where a call with so many bytes of arguments goes.
    fn road(&self, segments: &[IoSlice<'_>]) -> Option<Self> {
        let lengths = segments.iter().map(|segment| segment.len());
        let length = lengths.fold(0, usize::saturating_add);
        if length < MUCH {
            return None;
        }
        let session = self.session();
        session.lane.as_ref()?.open(session)
    }

    /// That of a peer which has been joined.
    pub(crate) fn of(peer: Peer) -> Self {
        Self { peer }
    }

    pub(crate) fn peer(&self) -> &Peer {
        &self.peer
    }

    pub(crate) fn session(&self) -> &Session {
        match self.peer.attached() {
            Some(session) => session,
            None => unreachable!("each connection has its session before it is used"),
        }
    }

    /// Exports objects to the other side. False when it has some.
    pub(crate) fn export(&self, exports: Arc<Exports>) -> bool {
        self.session().exports.set(exports).is_ok()
    }

    /// Makes a call. Waits for its turn until then at most.
    pub(crate) fn call(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let road = self.road(segments);
        let on = road.as_ref().unwrap_or(self);
        let handler = on.session().calls;
        on.peer.request_segments(handler, word, segments, until)
    }

    /// Makes a call that nobody answers.
    pub(crate) fn call_one_way(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        let road = self.road(segments);
        let on = road.as_ref().unwrap_or(self);
        let handler = on.session().calls;
        on.peer.send_segments(handler, word, segments, until)
    }

    /// Sends a part of a stream, without waiting.
    #[allow(dead_code, reason = "for streams")]
    pub(crate) fn send_part(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().streams;
        self.peer.try_send_segments(handler, word, segments)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.peer).finish()
    }
}
