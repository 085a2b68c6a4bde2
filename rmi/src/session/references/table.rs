//! The table of the references of a connection, and the messages about them.

use std::io::IoSlice;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use jstream_active::{Reply, RequestError, Ticket, WeakTicket};
use jstream_base::Address;

use crate::frame::ReferenceMessage;
use crate::session::clock::Clock;
use crate::session::connection::Connection;
use crate::session::objects::Node;
use crate::session::references::given::{As, Given};
use crate::session::references::imports::{Import, Imports};
use crate::session::references::key::Key;
use crate::session::references::lease::{Tending, clamped};
use crate::session::references::results::Results;
use crate::session::references::versions::{ConvertedObject, VersionPlace, Versions};
use crate::support::lock;

/// Encoded size in bytes of a number and a count in a [`ReferenceMessage::Clean`].
const CLEANED: usize = 12;

/// Maximum number of references that one message gives back.
const MOST_CLEANED: usize = 4096;

/// Number of entries that are processed under one lock, so that other threads can use the table in
/// between.
const CLEANED_AT_ONCE: usize = 64;

/// Time for which an abandoned call with references is tracked.
const FOLLOWED: Duration = Duration::from_secs(300);

/// The references of a connection.
pub(crate) struct References {
    given: Mutex<Given>,
    pub(crate) imports: Imports,
    /// Abandoned calls that still hold references.
    followed: Mutex<Vec<Followed>>,
    pub(crate) tending: Tending,
    lease: Duration,
    clock: Clock,
    most: usize,
    /// Address by which third parties reach the other side.
    pub(crate) reach: Option<Address>,
    /// Number of objects that the other side offers to third parties.
    offers: Arc<AtomicUsize>,
    /// Objects that the other side calls in other versions of their interfaces.
    versions: Versions,
    /// Key by which further connections of the other side join this one.
    pub(crate) key: OnceLock<Option<Key>>,
    /// Results that the other side has to fetch.
    pub(crate) results: Results,
}

/// An abandoned call whose outcome is not known yet. It does not keep its connection: if nothing
/// else does, the connection ends, which releases all references.
struct Followed {
    ticket: WeakTicket,
    until: Instant,
    /// Function that is called with the outcome.
    settle: Settle,
}

/// Function that is called with the outcome of an abandoned call. It must not hold a handle of the
/// connection, which would keep it.
pub(crate) type Settle =
    Box<dyn FnOnce(&Connection, Option<Result<Reply, RequestError>>) + Send + Sync>;

impl References {
    pub(crate) fn new(lease: Duration, most: usize, clock: Clock, reach: Option<Address>) -> Self {
        Self {
            given: Mutex::default(),
            imports: Imports::default(),
            followed: Mutex::default(),
            tending: Tending::default(),
            lease: clamped(lease),
            clock,
            most,
            reach,
            offers: Arc::default(),
            versions: Versions::default(),
            key: OnceLock::new(),
            results: Results::default(),
        }
    }

    /// Gives an object to the other side. Returns its number, or `None` if the limit is reached.
    pub(crate) fn give(&self, connection: &Connection, node: &Arc<Node>, how: As) -> Option<u32> {
        let mut given = lock(&self.given);
        // The lease begins with the first reference that needs it. Later ones are covered by the
        // renewals that are running.
        let before = given.leased();
        let gave = given.give(node, how, self.most)?;
        let is_first = before == 0 && given.leased() > 0;
        drop(given);
        if is_first {
            self.tending.granted(connection, self.lease, &self.clock);
        }
        Some(gave)
    }

    /// Returns the object to which the other side refers by this number.
    pub(crate) fn object(&self, number: u32) -> Option<Arc<Node>> {
        self.called(number).map(Node::original)
    }

    /// Returns what the other side calls by this number, which may convert the arguments.
    pub(crate) fn called(&self, number: u32) -> Option<Arc<Node>> {
        lock(&self.given).object(number).cloned()
    }

    /// Reserves a place for an object that the other side calls in another version of its
    /// interface, which it describes in `len` bytes. Returns `None` if there are too many.
    pub(crate) fn reserve_version(&self, len: usize) -> Option<VersionPlace> {
        self.versions.reserve(len)
    }

    /// Returns what the other side calls instead of an object, if it has called it before in the
    /// version whose description has this hash.
    pub(crate) fn find_version(
        &self,
        original: &Arc<Node>,
        description: u128,
    ) -> Option<ConvertedObject> {
        self.versions.find(original, description)
    }

    /// Records what the other side calls in the version whose description has this hash.
    pub(crate) fn record_version(&self, object: &ConvertedObject, description: u128) {
        self.versions.record(object, description);
    }

    pub(crate) fn now(&self) -> Instant {
        self.clock.now()
    }

    pub(crate) fn lease(&self) -> Duration {
        self.lease
    }

    pub(crate) fn count_of_leases(&self) -> usize {
        lock(&self.given).leased()
    }

    /// Returns true if this side has references to objects of the other one.
    pub(crate) fn has_leased_imports(&self) -> bool {
        self.imports.count().1 > 0
    }

    /// Returns true if neither side has an object of the other one, and no result waits to be
    /// fetched.
    pub(crate) fn are_none(&self) -> bool {
        let (imports, _) = self.imports.count();
        imports == 0 && self.results.count() == 0 && lock(&self.given).is_empty()
    }

    /// Records whether a call that gave an object has arrived.
    pub(crate) fn arrived(&self, number: u32, has: bool) {
        // The node is dropped after the statement that holds the guard. Its release may run a
        // callback of the program.
        let lost = lock(&self.given).arrived(number, has);
        drop(lost);
    }

    /// Takes back an object that was given in an answer, because the answer was not sent.
    pub(crate) fn take_back(&self, number: u32, by: u64) {
        let mut given = lock(&self.given);
        let import = if number == 0 { given.kept(by) } else { None };
        // A gift that was not sent is the same as one that was given back, so the counts stay those
        // of both sides.
        let lost = given.clean(number, 1);
        drop(given);
        drop((import, lost));
    }

    /// Keeps a reference that returns to its owner in an answer.
    pub(crate) fn keep(&self, import: Arc<Import>) -> Option<u64> {
        lock(&self.given).keep(import, self.most)
    }

    /// Records an object of the other side that was received, as a reference with a lease, or by
    /// its name. Returns `None` if the limit is reached.
    pub(crate) fn enter(
        &self,
        connection: &Connection,
        number: u32,
        lease: Option<Duration>,
    ) -> Option<Arc<Import>> {
        let leased = lease.is_some();
        let import = self.imports.enter(connection, number, leased, self.most);
        if import.is_none() {
            // The owner has counted the arrival, so it has to be told although no entry was made.
            self.give_back(connection, number, 1);
        }
        if let Some(lease) = lease {
            self.tending.leased(connection, clamped(lease), &self.clock);
        }
        import
    }

    /// Gives an object back to the other side.
    pub(crate) fn give_back(&self, connection: &Connection, number: u32, times: u64) {
        if self.imports.put_down(number, times) {
            self.schedule_return(connection);
        }
    }

    /// Schedules a message that gives references back.
    pub(super) fn schedule_return(&self, connection: &Connection) {
        if !connection.peer().has_ended() {
            self.tending.schedule(connection, &self.clock);
        }
    }

    /// Tracks an abandoned call until its outcome is known.
    pub(crate) fn follow(&self, connection: &Connection, mut ticket: Ticket, settle: Settle) {
        // The cancel is sent at once. The outcome arrives later, in the order of the connection,
        // and without a thread that waits for it.
        if ticket.revoke() {
            let mut followed = lock(&self.followed);
            // The end of the connection empties the list. An entry that is added after that would
            // stay as long as the connection's handles.
            if !connection.peer().has_ended() {
                let now = Instant::now();
                let until = now.checked_add(FOLLOWED).unwrap_or(now);
                followed.push(Followed {
                    ticket: ticket.downgrade(),
                    until,
                    settle,
                });
                drop(followed);
                return self.tending.schedule(connection, &self.clock);
            }
        }
        // The call was never sent, or its answer is here.
        let outcome = ticket.try_noted();
        settle(connection, outcome);
    }

    /// Performs the timed work of the connection.
    pub(crate) fn tend(&self, connection: &Connection) {
        if connection.peer().has_ended() {
            return self.end();
        }
        // First, because the outcomes may drop references, which the message below gives back.
        let follows = self.poll_abandoned(connection);
        if let Some(exports) = connection.session().exports() {
            exports.offers.purge(self.clock.now());
        }
        if let Some(until) = self.results.purge(self.clock.now()) {
            self.tending.keeps(connection, until, &self.clock);
        }
        // Called by `now` under its lock. It takes the locks of both tables, which never take that
        // one.
        let has = || (self.count_of_leases() > 0, self.has_leased_imports());
        let now = self.tending.now(connection, &self.clock, has);
        if now.expire {
            let lost = lock(&self.given).expire();
            drop(lost);
        }
        let mut is_stuck = !self.send_back(connection);
        if now.renew {
            is_stuck |= connection
                .send_reference(ReferenceMessage::Renew, &[])
                .is_err();
            if is_stuck {
                self.tending.hurry(&self.clock);
            }
        }
        if is_stuck {
            // Credit becomes available when the messages that have arrived are processed.
            connection.peer().attendant().poll_deferring();
        }
        if is_stuck || follows {
            self.tending.schedule_retry(connection, &self.clock);
        }
    }

    /// Gives back the dropped references. Returns false if there is no credit.
    fn send_back(&self, connection: &Connection) -> bool {
        loop {
            let some = self.imports.dropped(MOST_CLEANED);
            if some.is_empty() {
                return true;
            }
            let mut bytes = Vec::with_capacity(some.len().saturating_mul(CLEANED));
            for (number, times) in &some {
                bytes.extend(number.to_le_bytes());
                bytes.extend(times.to_le_bytes());
            }
            let told = connection.send_reference(ReferenceMessage::Clean, &[IoSlice::new(&bytes)]);
            // After the end of the connection, there is nothing to give back.
            if let Err(RequestError::NoCredit) = told {
                self.imports.keep(some);
                return false;
            }
        }
    }

    /// Settles the abandoned calls whose outcome is known. Returns true if there are more.
    fn poll_abandoned(&self, connection: &Connection) -> bool {
        // Most connections have no abandoned calls, and need not be polled.
        if lock(&self.followed).is_empty() {
            return false;
        }
        connection.peer().attendant().poll_deferring();
        let now = Instant::now();
        let mut known = Vec::new();
        let mut followed = lock(&self.followed);
        let all = std::mem::take(&mut *followed);
        for mut one in all {
            match one.ticket.try_noted() {
                // After five minutes the outcome is taken as unknown, so a peer that never answers
                // can't make the list grow for ever.
                None if one.until > now => followed.push(one),
                outcome => known.push((one.settle, outcome)),
            }
        }
        let follows = !followed.is_empty();
        drop(followed);
        for (settle, outcome) in known {
            // Without the lock: it may drop references and results, whose drops take the locks of
            // this table.
            settle(connection, outcome);
        }
        follows
    }

    /// Handles a message about references. Returns false if the message is invalid.
    pub(crate) fn told(&self, connection: &Connection, word: u64, payload: &[u8]) -> bool {
        match ReferenceMessage::from_word(word) {
            Some(ReferenceMessage::Renew) => {
                // A renewal that has crossed the end of the last lease must not begin a lease of
                // nothing, which would set a timer.
                if self.count_of_leases() > 0 {
                    self.tending.granted(connection, self.lease, &self.clock);
                }
                payload.is_empty()
            }
            Some(ReferenceMessage::Clean) => self.cleaned(payload),
            Some(ReferenceMessage::Offer) => self.offered(connection, payload),
            None => false,
        }
    }

    fn cleaned(&self, payload: &[u8]) -> bool {
        let each = payload.chunks_exact(CLEANED);
        let is_whole = each.remainder().is_empty();
        // The peer chooses the length of the message. One lock for all of it would block the calls
        // of other threads for as long as it wants.
        for some in payload.chunks(CLEANED.saturating_mul(CLEANED_AT_ONCE)) {
            self.release_now(some);
        }
        is_whole
    }

    /// Handles a part of the entries under one lock.
    fn release_now(&self, payload: &[u8]) {
        let (mut lost, mut home) = (Vec::new(), Vec::new());
        let mut given = lock(&self.given);
        for (number, times) in payload.chunks_exact(CLEANED).filter_map(numbers) {
            if number == 0 {
                home.extend(given.kept(times));
            } else {
                lost.extend(given.clean(number, times));
            }
        }
        drop(given);
        // Releases may run code of the program, and imports that come home take other locks.
        drop((lost, home));
    }

    /// Handles an offer: a third party is going to claim an object of the other side by a key.
    fn offered(&self, connection: &Connection, payload: &[u8]) -> bool {
        let (Some(key), Some(number)) = (payload.get(..16), payload.get(16..20)) else {
            return false;
        };
        let (Ok(key), Ok(number)) = (<[u8; 16]>::try_from(key), number.try_into()) else {
            return false;
        };
        // The object itself and not the node that converts, because the claimant is another
        // program, with a version of its own.
        let object = self.object(u32::from_le_bytes(number));
        if let (Some(node), Some(exports)) = (object, connection.session().exports()) {
            let now = self.clock.now();
            let until = now.checked_add(self.lease).unwrap_or(now);
            exports.offers.purge(now);
            exports
                .offers
                .put(Key::from_bytes(key), node, until, &self.offers);
            // The timer also removes offers that have expired.
            self.tending.granted(connection, self.lease, &self.clock);
        }
        payload.len() == 20
    }

    /// Releases all references, because the connection has ended.
    pub(crate) fn end(&self) {
        // Each part is taken out under its own lock, and dropped at the end, when none is held.
        let gone = lock(&self.given).clear();
        let followed = std::mem::take(&mut *lock(&self.followed));
        self.imports.end();
        self.tending.end();
        self.results.end();
        drop((gone, followed));
    }
}

/// Releases what was given after the end of the connection.
impl Drop for References {
    fn drop(&mut self) {
        // A reference that was given by a thread while the connection ended was added after the
        // callback had cleared the table.
        self.end();
    }
}

fn numbers(of: &[u8]) -> Option<(u32, u64)> {
    let number = of.get(..4)?.try_into().ok()?;
    let times = of.get(4..CLEANED)?.try_into().ok()?;
    Some((u32::from_le_bytes(number), u64::from_le_bytes(times)))
}
