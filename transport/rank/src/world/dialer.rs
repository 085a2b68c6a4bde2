//! Connections between the members of a world, opened on first use and accepted in the background.
//!
//! Decision 100 has the reasons.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;

use super::acceptor::MemberAcceptor;
use super::error::{Refusal, WorldError};
use super::lobby::Check;
use super::pairs::{DialStep, PairTable};
use super::reach::Reach;
use super::roster::check_ask;
use super::session::Session;
use super::tree::parent;
use super::words::{Ask, Purpose, VERSION, Word};
use crate::node::{Dial, DialFailure, Node};
use jstream_base::events::emit;
use jstream_base::{Address, Options};
use jstream_device::deadline::Deadline;
use jstream_endpoint::{Endpoint, Listener};
use tracing::Level;

/// First and last time for which a refused rank waits for the connection of the other one before it
/// asks again. The time doubles each time.
const SOON: Duration = Duration::from_millis(2);
const LATER: Duration = Duration::from_millis(50);

/// The connections of a rank to the other members, shared with the threads that accept them.
pub(super) struct Dialer {
    rank: u32,
    size: u32,
    session: Session,
    transport: Options,
    /// Maximum time to connect to a member.
    timeout: Duration,
    /// The addresses of all members, by rank, once they are known.
    members: OnceLock<Arc<[Vec<Address>]>>,
    node: OnceLock<Weak<Node>>,
    state: Mutex<DialerState>,
    changed: Condvar,
}

struct DialerState {
    pairs: PairTable,
    /// Ranks that may open a connection over which this rank joins.
    expected: Vec<u32>,
    /// The connections over which this rank joins that were opened by the other side.
    uplinks: Vec<(u32, Endpoint)>,
}

/// A connection that another rank has opened.
pub(super) enum Admission {
    /// The connection of a pair.
    Pair(u32),
    /// A connection over which this rank joins.
    Uplink(u32),
}

impl Dialer {
    pub(super) fn new(
        rank: u32,
        size: u32,
        session: Session,
        (transport, timeout): (&Options, Duration),
    ) -> Arc<Self> {
        Arc::new(Self {
            rank,
            size,
            session,
            transport: transport.clone(),
            timeout,
            members: OnceLock::new(),
            node: OnceLock::new(),
            state: Mutex::new(DialerState {
                pairs: PairTable::new(rank, size),
                expected: Vec::new(),
                uplinks: Vec::new(),
            }),
            changed: Condvar::new(),
        })
    }

    /// Sets the rank that gets the connections.
    pub(super) fn serve(&self, node: &Arc<Node>) {
        // The node holds the dialer, so the dialer holds it weakly.
        let _ = self.node.set(Arc::downgrade(node));
    }

    /// Sets the addresses of all members.
    pub(super) fn learn(&self, members: Arc<[Vec<Address>]>) {
        let _ = self.members.set(members);
    }

    /// Reserves the pair with a rank for a connection over which the world is joined.
    pub(super) fn reserve(&self, rank: u32) {
        let _ = self.lock().pairs.admit(rank);
    }

    /// Makes the connection over which the world was joined that of the pair.
    pub(super) fn attach(&self, node: &Node, rank: u32, endpoint: Endpoint) {
        // Before the pair counts as linked: a thread that finds it linked uses the connection.
        node.attach(rank, endpoint);
        self.lock().pairs.link(rank);
        self.changed.notify_all();
    }

    /// Keeps a connection over which the world was joined, unless the rank is in this process.
    pub(super) fn keep(&self, node: &Node, near: &Range<u32>, rank: u32, endpoint: Endpoint) {
        if !near.contains(&rank) {
            self.reserve(rank);
            self.attach(node, rank, endpoint);
        } else if let Err(error) = endpoint.finish() {
            emit(Level::DEBUG, move || {
                tracing::debug!(rank, %error, "can't shut down the connection");
            });
        }
    }

    /// Allows the parent, and rank 0, to open a connection over which this rank joins.
    pub(super) fn expect_uplinks(&self) {
        // The parent brings the table. Rank 0 connects, too, but only to tell that the world has
        // failed.
        let mut expected = vec![0];
        expected.extend(parent(self.rank).filter(|parent| *parent > 0));
        self.lock().expected = expected;
    }

    /// Waits for a connection over which this rank joins. Returns `None` if the deadline passes.
    pub(super) fn uplink(&self, until: Deadline) -> Option<(u32, Endpoint)> {
        let mut state = self.lock();
        loop {
            if let Some(uplink) = state.uplinks.pop() {
                return Some(uplink);
            }
            if until.has_passed() {
                return None;
            }
            state = self.wait(state, until, LATER);
        }
    }

    /// Ends joining: all connections that are opened from now on are those of pairs.
    pub(super) fn end_joining(&self) {
        let mut state = self.lock();
        state.expected.clear();
        let uplinks = std::mem::take(&mut state.uplinks);
        drop(state);
        drop(uplinks);
    }

    /// Decides about a connection that another member opens.
    pub(super) fn check(&self, ask: &Ask) -> Result<Admission, Refusal> {
        let rank = check_ask(ask, self.session, true, self.size)?;
        // Other members learn this address only after the rank was built, so this is a stranger.
        if self.node.get().is_none() {
            return Err(Refusal::Closed);
        }
        let mut state = self.lock();
        let place = state.expected.iter().position(|other| *other == rank);
        if let Some(place) = place.filter(|_| ask.purpose == Purpose::Join) {
            state.expected.swap_remove(place);
            return Ok(Admission::Uplink(rank));
        }
        state.pairs.admit(rank).map(|()| Admission::Pair(rank))
    }

    /// Starts to accept the connections that other members open.
    pub(super) fn accept(self: &Arc<Self>, listener: Listener) -> io::Result<MemberAcceptor> {
        let (checking, admitting) = (self.clone(), self.clone());
        let wait = self.transport.handshake_timeout;
        let check = move |ask: &Ask| checking.check(ask);
        let admit = move |admission, endpoint| admitting.welcome(admission, endpoint);
        MemberAcceptor::open(listener, wait, check, admit)
    }

    /// Tells another member that its connection is accepted, and takes the connection.
    pub(super) fn welcome(&self, admission: Admission, endpoint: Endpoint) -> Result<(), String> {
        // `check` has recorded the pair, so the opening rank may send from the welcome on.
        let said = Word::Welcome(self.session, String::new()).send(&endpoint);
        let said = said.map_err(|error| error.to_string());
        match admission {
            Admission::Uplink(rank) => {
                said?;
                self.lock().uplinks.push((rank, endpoint));
            }
            Admission::Pair(rank) => {
                let node = self.node.get().and_then(Weak::upgrade);
                match (said, node) {
                    (Ok(()), Some(node)) => {
                        self.attach(&node, rank, endpoint);
                        // If this was the last handle, the rank ends here.
                        drop(node);
                    }
                    (said, _) => {
                        self.lock().pairs.drop_accepted(rank);
                        self.changed.notify_all();
                        said?;
                    }
                }
            }
        }
        self.changed.notify_all();
        Ok(())
    }

    /// Opens a connection to another member for `purpose`.
    pub(super) fn open(
        &self,
        (rank, addresses): (u32, &[Address]),
        purpose: Purpose,
        until: Deadline,
        check: Check<'_>,
    ) -> Result<Endpoint, WorldError> {
        let to_member = Reach {
            rank,
            addresses,
            options: &self.transport,
            until,
            is_there: true,
        };
        let ask = Ask {
            purpose,
            version: VERSION,
            rank: u64::from(self.rank),
            size: u64::from(self.size),
            session: self.session,
        };
        let wait = until.left().unwrap_or(Duration::MAX);
        let lost = |unheard| WorldError::lost(rank, unheard);
        let (endpoint, _) = to_member.join(ask, wait, lost, check)?;
        Ok(endpoint)
    }

    fn open_pair(&self, rank: u32, until: Deadline) -> Result<Endpoint, WorldError> {
        let place = usize::try_from(rank).ok();
        let members = self.members.get().map(|members| &members[..]);
        let addresses = members.unwrap_or_default();
        let addresses = place.and_then(|place| addresses.get(place));
        let addresses = addresses.map_or(&[][..], Vec::as_slice);
        self.open((rank, addresses), Purpose::Attach, until, &mut || Ok(()))
    }

    fn dial(&self, node: &Node, rank: u32, until: Deadline) -> Result<(), DialFailure> {
        // A caller without a deadline of its own still waits no longer than for joining the world.
        let limit = Deadline::after(self.timeout);
        let is_late = || until.has_passed() && !limit.has_passed();
        let until = until.or_sooner(limit);
        let mut pause = SOON;
        loop {
            let mut state = self.lock();
            // One thread opens the connection to a rank. The others wait for it.
            match state.pairs.dial(rank) {
                DialStep::Linked => return Ok(()),
                DialStep::Closed => {
                    let reason = "it could not be connected to before".to_owned();
                    return Err(DialFailure::Lost(reason));
                }
                DialStep::Wait if is_late() => return Err(DialFailure::Late),
                DialStep::Wait if until.has_passed() => {
                    let reason = format!("no connection was made within {:?}", self.timeout);
                    return Err(DialFailure::Lost(reason));
                }
                DialStep::Wait => {
                    drop(self.wait(state, until, LATER));
                    continue;
                }
                DialStep::Dial => drop(state),
            }
            let opened = self.open_pair(rank, until);
            let mut state = self.lock();
            match opened {
                Ok(endpoint) => {
                    // The other rank may have opened one meanwhile that counts instead. The next
                    // round finds it.
                    if state.pairs.welcome(rank) {
                        drop(state);
                        self.attach(node, rank, endpoint);
                        return Ok(());
                    }
                }
                Err(WorldError::Refused {
                    refusal: Refusal::Taken,
                    ..
                }) if !until.has_passed() => {
                    // The other rank opens a connection itself, and its number is lower.
                    state.pairs.back_off(rank);
                    self.changed.notify_all();
                    drop(self.wait(state, until, pause));
                    pause = pause.saturating_mul(2).min(LATER);
                }
                // The caller has no more time, but the rank may be reachable. The next caller tries
                // again.
                Err(_) if is_late() => {
                    state.pairs.back_off(rank);
                    self.changed.notify_all();
                    return Err(DialFailure::Late);
                }
                Err(error) => {
                    let is_final = state.pairs.fail(rank);
                    self.changed.notify_all();
                    if is_final {
                        return Err(DialFailure::Lost(error.to_string()));
                    }
                }
            }
        }
    }

    /// Waits for a change, at most for `pause` and until the deadline.
    fn wait<'d>(
        &'d self,
        state: MutexGuard<'d, DialerState>,
        until: Deadline,
        pause: Duration,
    ) -> MutexGuard<'d, DialerState> {
        let pause = until.left().map_or(pause, |left| left.min(pause));
        jstream_sync::unpoisoned(self.changed.wait_timeout(state, pause)).0
    }

    /// Locks the state. The state is valid between statements, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, DialerState> {
        jstream_sync::lock(&self.state)
    }
}

/// The dialer of a rank. Dropping it closes the listener.
pub(super) struct ListeningDialer {
    pub(super) dialer: Arc<Dialer>,
    pub(super) _acceptor: MemberAcceptor,
}

impl Dial for ListeningDialer {
    fn dial(&self, node: &Node, rank: u32, until: Deadline) -> Result<(), DialFailure> {
        self.dialer.dial(node, rank, until)
    }

    fn wait_until_idle(&self, until: Deadline) {
        let dialer = &*self.dialer;
        let mut state = dialer.lock();
        while state.pairs.is_busy() && !until.has_passed() {
            state = dialer.wait(state, until, LATER);
        }
    }
}
