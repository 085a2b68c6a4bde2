//! A connection whose both sides call objects of the other one.

mod lane;
mod results;

use std::fmt;
use std::io::IoSlice;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jstream::Limits;
use jstream_transport::active::{
    Executor, Handler, Handlers, Mark, Peer, RequestError, Settings, Ticket,
};
use jstream_transport::{Address, Endpoint, Options};

use self::lane::Lane;
pub(crate) use self::results::{RESULTS, Results, fetched, number_of};
use crate::auth::{self, Secret};
use crate::capture::{Capturing, Tape};
use crate::clock::Clock;
use crate::error::ConnectError;
use crate::exports::{Callable, Exports, changed, recent};
use crate::frame::{PROMISED, PROMISES, Word, names_a_call};
use crate::intercept::Interceptors;
use crate::promise::{Promises, admit};
use crate::reference::{References, referenced};
use crate::server::{Load, called};
use crate::stream::{Window, Wire, streamed};
use crate::sync::lock;
use crate::workers::Workers;

/// The handlers of each side, by name.
pub(crate) const CALLS: &str = "jstream.calls";
const STREAMS: &str = "jstream.streams";
const REFERENCES: &str = "jstream.references";

/// From so many bytes on, arguments and results go by the lane.
pub(crate) const MUCH: usize = 256 << 10;

/// What belongs to a connection, and is kept with it.
pub(crate) struct Session {
    /// No other one has had it.
    id: u64,
    calls: Handler,
    streams: Handler,
    referenced: Handler,
    /// What the other side may call, once there is something.
    exports: Arc<OnceLock<Arc<Exports>>>,
    references: Arc<References>,
    /// Those of the connection that this one has joined.
    joined: OnceLock<Arc<References>>,
    /// Where calls with much go, which others would have to wait for.
    lane: Option<Lane>,
    pub(crate) terms: Terms,
    pub(crate) wire: Wire,
    pub(crate) tape: Option<Arc<Tape>>,
    /// Calls whose results others name before they have come.
    pub(crate) promises: Arc<Promises>,
    /// How many methods wait for which the other side waits.
    waiting: AtomicUsize,
    all_waiting: Arc<Waiting>,
}

/// The methods that wait, of several connections.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    count: Mutex<usize>,
    changed: Condvar,
    /// There are to be no more.
    is_ending: AtomicBool,
    /// Those of all listeners count here, too.
    load: Arc<Load>,
}

impl Waiting {
    pub(crate) fn new(load: Arc<Load>) -> Self {
        Self {
            load,
            ..Self::default()
        }
    }

    /// No call is taken any more.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    fn add(&self) {
        self.load.wait();
        let mut count = lock(&self.count);
        *count = count.saturating_add(1);
    }

    fn leave(&self) {
        self.load.go_on();
        let mut count = lock(&self.count);
        *count = count.saturating_sub(1);
        if *count == 0 {
            self.changed.notify_all();
        }
    }

    /// Waits until none is left.
    pub(crate) fn wait(&self) {
        let mut count = lock(&self.count);
        while *count > 0 {
            let waited = self.changed.wait(count);
            count = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// What a side accepts of the other one, and how it calls.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    pub(crate) limits: Limits,
    /// How long calls wait that say nothing else.
    pub(crate) time: Duration,
    /// How many methods may wait at once, for this connection and for all.
    pub(crate) max_waiting: usize,
    pub(crate) max_waiting_in_all: usize,
    /// How many bytes of answers the other side may leave unread.
    pub(crate) max_backlog: u64,
    /// How much of a stream that comes may be on its way.
    pub(crate) window: Window,
    /// How many streams may come as arguments at once.
    pub(crate) max_streams: usize,
    /// How long the other side has references that it says nothing of, and how many.
    pub(crate) lease: Duration,
    pub(crate) max_references: usize,
    /// Whether owners that the other side names are connected to.
    pub(crate) third_parties: bool,
    pub(crate) clock: Clock,
    /// What sees the calls of both sides.
    pub(crate) interceptors: Interceptors,
    /// What both sides have to know.
    pub(crate) secret: Option<Secret>,
    /// Where its messages are written to.
    pub(crate) capture: Option<Capturing>,
}

impl Terms {
    /// No references, of a connection to a peer that others reach there.
    fn references(&self, reach: Option<&Address>) -> Arc<References> {
        let (lease, most, clock) = (self.lease, self.max_references, self.clock.clone());
        Arc::new(References::new(lease, most, clock, reach.cloned()))
    }
}

/// What a session is made of.
struct Parts {
    exports: Arc<OnceLock<Arc<Exports>>>,
    references: Arc<References>,
    lane: Option<Lane>,
    /// It has the references of another connection.
    is_lane: bool,
    waiting: Arc<Waiting>,
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
        .in_order(u64::from(PROMISED | PROMISES), admit)
        .on(STREAMS, streamed)
        .short()
        .on(REFERENCES, referenced)
        .short()
        .executor(executor)
        .build()
}

/// Connects to a server, and proves what it asks for.
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

/// The handlers of all clients of this process.
fn of_clients() -> &'static Handlers {
    static HANDLERS: OnceLock<Handlers> = OnceLock::new();
    HANDLERS.get_or_init(|| handlers(Workers::threads(1).spare().clone()))
}

impl Session {
    pub(crate) fn exports(&self) -> Option<&Arc<Exports>> {
        self.exports.get()
    }

    /// How much the server has to do.
    pub(crate) fn load(&self) -> &Arc<Load> {
        &self.all_waiting.load
    }

    /// What both sides have of each other.
    pub(crate) fn references(&self) -> &Arc<References> {
        self.joined.get().unwrap_or(&self.references)
    }

    /// The object that the other side calls by this number, if it may.
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

    /// Shares the references of another connection with the same peer, once.
    pub(crate) fn join(&self, references: Arc<References>) -> Option<()> {
        let joined = self.joined.set(references);
        changed();
        joined.ok()
    }

    /// Whether it is the connection's own, and no second one of another.
    pub(crate) fn is_first(&self) -> bool {
        self.joined.get().is_none()
    }

    /// Whether one more method may wait.
    pub(crate) fn may_wait(&self) -> bool {
        let waiting = self.waiting.load(Ordering::SeqCst);
        let in_all = || self.load().waiting() < self.terms.max_waiting_in_all;
        waiting < self.terms.max_waiting && (waiting == 0 || in_all())
    }

    /// Whether a call may as well wait until another one does not any more, which [lets it go on](Promises::go_on).
    pub(crate) fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > 0
    }

    /// Whether calls are not taken any more.
    pub(crate) fn is_ending(&self) -> bool {
        self.all_waiting.is_ending.load(Ordering::Relaxed)
    }
}

/// A method that waits, or is waited for to begin, and counts as long as it does.
pub(crate) struct Waits(Mark);

impl Waits {
    pub(crate) fn new(mark: Mark) -> Self {
        if let Some(session) = mark.attached::<Session>() {
            session.waiting.fetch_add(1, Ordering::Relaxed);
            session.all_waiting.add();
        }
        Self(mark)
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        if let Some(session) = self.0.attached::<Session>() {
            // SYNC POINT: who stands looks at the count behind saying so.
            session.waiting.fetch_sub(1, Ordering::SeqCst);
            session.all_waiting.leave();
            session.promises.go_on();
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

    /// Connects to a server.
    pub(crate) fn connect(
        address: &Address,
        options: &Options,
        settings: &Settings,
        terms: Terms,
    ) -> Result<Self, ConnectError> {
        let lane = Lane::new(address, options, settings);
        let endpoint = connect(address, options, settings, &terms)?;
        let parts = Parts {
            exports: Arc::default(),
            references: terms.references(Some(address)),
            lane: Some(lane),
            is_lane: false,
            waiting: Arc::default(),
        };
        Self::join(endpoint, of_clients(), settings.clone(), terms, parts)
    }

    fn join(
        endpoint: Endpoint,
        handlers: &Handlers,
        mut settings: Settings,
        terms: Terms,
        parts: Parts,
    ) -> Result<Self, ConnectError> {
        // Calls that nobody waits for are not asked about.
        settings.kept_returns = 0;
        let capture = terms.capture.as_ref();
        let tape = capture.map(|to| to.tape(endpoint.peer().to_string()));
        settings.tap = tape.clone().map(|tape| tape as _).or(settings.tap);
        let promises = Arc::new(Promises::new(&settings, terms.clock.clone()));
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
            terms,
            promises,
            waiting: AtomicUsize::new(0),
            all_waiting: parts.waiting,
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

    /// Where a call with so many bytes of arguments goes.
    fn road(&self, word: u64, segments: &[IoSlice<'_>]) -> Option<Self> {
        if length(segments) < MUCH || names_a_call(word) {
            return None;
        }
        self.session().lane.as_ref()?.open(self)
    }

    /// Ends it, with its lane.
    pub(crate) fn close(&self) {
        self.peer.close();
        if let Some(lane) = &self.session().lane {
            lane.close();
        }
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

    /// Makes a call, which goes at its turn. One with many bytes waits for that, until then at most.
    pub(crate) fn call(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let road = self.road(word, segments);
        road.as_ref()
            .unwrap_or(self)
            .call_here(word, segments, until)
    }

    /// Makes a call over this very connection, which its streams belong to.
    pub(crate) fn call_here(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<Ticket, RequestError> {
        let (handler, until) = (self.session().calls, self.system(until));
        if length(segments) < MUCH {
            return self.peer.request_in_turn(handler, word, segments);
        }
        self.peer.request_segments(handler, word, segments, until)
    }

    /// Asks for the result of a call that the other side keeps.
    pub(crate) fn fetch(&self, number: [u8; 4]) -> Result<Ticket, RequestError> {
        let lane = self.session().lane.as_ref().and_then(Lane::current);
        let on = lane.as_ref().unwrap_or(self);
        let word = Word::results().to_wire();
        on.call_here(word, &[IoSlice::new(&number)], None)
    }

    /// A large result has come. Further ones go by the lane, where others would have to wait for them.
    #[cold]
    pub(crate) fn note_large_result(&self) {
        if let Some(lane) = &self.session().lane {
            if self.peer.outstanding() > 0 && lane.is_closed() {
                let main = self.clone();
                // Who waits for the result does not wait for that; where there is no thread, there is no lane.
                let opened = std::thread::Builder::new().name("jstream-lane".to_owned());
                let opened = opened.spawn(move || {
                    let lane = main.session().lane.as_ref();
                    drop(lane.and_then(|lane| lane.open(&main)));
                });
                drop(opened);
            }
        }
    }

    /// Makes a call that nobody answers.
    pub(crate) fn call_one_way(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
        until: Option<Instant>,
    ) -> Result<(), RequestError> {
        let road = self.road(word, segments);
        let on = road.as_ref().unwrap_or(self);
        let (handler, until) = (on.session().calls, on.system(until));
        on.peer.send_segments(handler, word, segments, until)
    }

    /// What time it is for its calls.
    pub(crate) fn clock(&self) -> &Clock {
        &self.session().terms.clock
    }

    /// A moment of its clock by that of the system, where it goes by that.
    fn system(&self, moment: Option<Instant>) -> Option<Instant> {
        moment.filter(|_| !self.clock().is_paused())
    }

    /// What both sides have of each other.
    pub(crate) fn references(&self) -> &Arc<References> {
        self.session().references()
    }

    /// Says something of references, without waiting.
    pub(crate) fn tell(&self, word: u64, segments: &[IoSlice<'_>]) -> Result<(), RequestError> {
        let handler = self.session().referenced;
        self.peer.try_send_segments(handler, word, segments)
    }

    /// The same, as soon as the other side takes it.
    pub(crate) fn tell_waiting(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().referenced;
        self.peer.send_segments(handler, word, segments, None)
    }

    /// Sends a part of a stream, without waiting.
    pub(crate) fn send_part(
        &self,
        word: u64,
        segments: &[IoSlice<'_>],
    ) -> Result<(), RequestError> {
        let handler = self.session().streams;
        self.peer.try_send_segments(handler, word, segments)
    }
}

fn length(segments: &[IoSlice<'_>]) -> usize {
    let lengths = segments.iter().map(|segment| segment.len());
    lengths.fold(0, usize::saturating_add)
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Connection").field(&self.peer).finish()
    }
}
