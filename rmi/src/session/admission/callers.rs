//! The callers of a server: their quotas, and their queues.
//!
//! Invariants: a caller is in the rotation if and only if its queue is not empty. The number of
//! queued calls is the sum over all queues. A caller stays in the table while it has connections,
//! running or queued calls, or an unused part of its quota to regain; of the latter kind there are
//! at most as many as the options allow.

use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

use jstream_active::Peer;
use rustc_hash::FxHashMap;
use sha2::{Digest, Sha256};

use crate::session::admission::options::AdmissionOptions;
use crate::session::peer_info::PeerInfo;

/// Number of lookups that a caller may make at once, and the interval of one more, beside the calls
/// of its quota. A client that looks up objects of another version makes several for each, and a
/// low rate of calls must not keep it from that.
const LOOKUP_BURST: u32 = 64;
const LOOKUP_INTERVAL: Duration = Duration::from_millis(125);

/// A part of the places is for callers that have fewer than their share of them, if several callers
/// are connected: one of this number.
const RESERVED_PART: usize = 8;

/// Maximum number of callers among which the one with the fewest running calls is chosen.
const MOST_COMPARED: usize = 32;

/// The kind of a call that is taken from a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaUse {
    Call,
    /// A call of the registry or the reflection. Counts as a call if the allowance of lookups is
    /// used up.
    Lookup,
    /// The call has counted for the rate before.
    Paid,
}

/// The identity by which a server knows a caller.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum CallerKey {
    /// The SHA-256 hash of its certificate.
    Certificate([u8; 32]),
    User(u32),
    Source(String),
}

impl CallerKey {
    pub(super) fn from_peer(peer: &Peer) -> Self {
        let info = PeerInfo::from_peer(peer);
        match (&info.certificate, info.user) {
            // A certificate is the strongest identity. A user comes before the source, because all
            // local programs have the same source.
            (Some(certificate), _) => Self::Certificate(Sha256::digest(certificate).into()),
            (None, Some(user)) => Self::User(user),
            (None, None) => Self::Source(info.address.source()),
        }
    }
}

/// A caller with its queue of `Q`.
#[derive(Debug)]
struct Caller<Q> {
    key: CallerKey,
    connections: usize,
    running: usize,
    queue: VecDeque<Q>,
    /// Time at which the whole burst is available again (generic cell rate algorithm).
    full_at: Instant,
    /// Time at which all lookups of the allowance are available again.
    lookups_full_at: Instant,
}

impl<Q> Caller<Q> {
    /// Returns the time at which the whole quota is available again.
    fn quota_full_at(&self) -> Instant {
        self.full_at.max(self.lookups_full_at)
    }

    fn is_former(&self) -> bool {
        self.connections == 0 && self.running == 0 && self.queue.is_empty()
    }
}

/// The reason why a quota does not allow a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuotaExceeded {
    /// The next call is allowed after this time.
    Rate(Duration),
    /// The caller has as many calls as it may have.
    Running,
}

/// The callers of a server.
#[derive(Debug)]
pub(super) struct CallerTable<Q> {
    callers: FxHashMap<u64, Caller<Q>>,
    /// Hashed with a secret, because peers choose their addresses.
    ids: HashMap<CallerKey, u64>,
    next_id: u64,
    /// Callers with queued calls, in the order in which they are served.
    rotation: VecDeque<u64>,
    queued: usize,
    max_queued: usize,
    /// Time that one call adds to `full_at`, and its maximum. `None` without a limit.
    rate: Option<(Duration, Duration)>,
    max_running: usize,
    max_former: usize,
    former: usize,
    /// Number of callers with connections.
    connected: usize,
}

impl<Q> CallerTable<Q> {
    pub(super) fn new(options: &AdmissionOptions) -> Self {
        let rate = options.limits_rate().then(|| {
            let interval = Duration::from_secs(1).checked_div(options.calls_per_second.max(1));
            let interval = interval.unwrap_or_default();
            // The first call of a burst is allowed by the rate itself.
            let burst = options.burst.max(1).saturating_sub(1);
            (interval, interval.saturating_mul(burst))
        });
        Self {
            callers: FxHashMap::default(),
            ids: HashMap::new(),
            next_id: 0,
            rotation: VecDeque::new(),
            queued: 0,
            max_queued: options.max_queued,
            rate,
            max_running: options.max_running_per_caller,
            max_former: options.max_former_callers,
            former: 0,
            connected: 0,
        }
    }

    /// Returns the number of callers that the table knows.
    pub(super) fn len(&self) -> usize {
        self.callers.len()
    }

    /// Returns the number of queued calls.
    pub(super) fn queued(&self) -> usize {
        self.queued
    }

    /// Adds a connection of a caller, and returns the id of the caller.
    pub(super) fn connect(&mut self, key: CallerKey, now: Instant) -> u64 {
        let next = self.next_id;
        let id = *self.ids.entry(key.clone()).or_insert(next);
        // Ids are not reused, so that a permit or connection that is dropped late can't change
        // another caller.
        if id == next {
            self.next_id = next.wrapping_add(1);
        }
        let caller = self.callers.entry(id).or_insert(Caller {
            key,
            connections: 0,
            running: 0,
            queue: VecDeque::new(),
            full_at: now,
            lookups_full_at: now,
        });
        // Before the connection is counted, while it still shows that the caller was one without
        // connections.
        if id != next && caller.is_former() {
            self.former = self.former.saturating_sub(1);
        }
        if caller.connections == 0 {
            self.connected = self.connected.saturating_add(1);
        }
        caller.connections = caller.connections.saturating_add(1);
        id
    }

    /// Removes a connection of a caller.
    pub(super) fn disconnect(&mut self, id: u64, now: Instant) {
        let is_gone = self.change(id, now, |caller| {
            caller.connections = caller.connections.saturating_sub(1);
            caller.connections == 0
        });
        if is_gone == Some(true) {
            self.connected = self.connected.saturating_sub(1);
        }
    }

    /// Counts a call that runs.
    pub(super) fn begin(&mut self, id: u64) {
        if let Some(caller) = self.callers.get_mut(&id) {
            caller.running = caller.running.saturating_add(1);
        }
    }

    /// Counts a call that has ended.
    pub(super) fn end(&mut self, id: u64, now: Instant) {
        self.change(id, now, |caller| {
            caller.running = caller.running.saturating_sub(1);
        });
    }

    /// Changes a caller, and forgets it if nothing is left.
    fn change<R>(
        &mut self,
        id: u64,
        now: Instant,
        change: impl FnOnce(&mut Caller<Q>) -> R,
    ) -> Option<R> {
        let caller = self.callers.get_mut(&id)?;
        let was_former = caller.is_former();
        let changed = change(caller);
        if caller.is_former() && !was_former {
            if caller.quota_full_at() <= now {
                self.forget(id);
            } else {
                self.former = self.former.saturating_add(1);
                self.forget_formers(now);
            }
        }
        Some(changed)
    }

    fn forget(&mut self, id: u64) {
        if let Some(caller) = self.callers.remove(&id) {
            self.ids.remove(&caller.key);
        }
    }

    /// If there are too many former callers, forgets those whose quotas are full, or else the one
    /// whose quota is full the soonest.
    fn forget_formers(&mut self, now: Instant) {
        if self.former <= self.max_former {
            return;
        }
        let formers = self.callers.iter().filter(|(_, one)| one.is_former());
        let mut all: Vec<_> = formers
            .map(|(id, one)| (one.quota_full_at(), *id))
            .collect();
        all.sort_unstable();
        let full = all.partition_point(|(full_at, _)| *full_at <= now);
        // Those with the smallest debts are forgotten first: a caller that is forgotten gets its
        // burst anew, and this gives away the least.
        let count = full.max(all.len().saturating_sub(self.max_former));
        for (_, id) in all.iter().take(count) {
            self.forget(*id);
        }
        self.former = all.len().saturating_sub(count);
    }

    /// Takes a call from the quota of a caller.
    pub(super) fn take(
        &mut self,
        id: u64,
        quota_use: QuotaUse,
        now: Instant,
    ) -> Result<(), QuotaExceeded> {
        let Some(caller) = self.callers.get_mut(&id) else {
            return Ok(());
        };
        let calls = caller.running.saturating_add(caller.queue.len());
        // Before the rate, so that a call which can't run takes no token.
        if calls >= self.max_running {
            return Err(QuotaExceeded::Running);
        }
        let Some(rate) = self.rate.filter(|_| quota_use != QuotaUse::Paid) else {
            return Ok(());
        };
        if quota_use == QuotaUse::Lookup {
            let most = LOOKUP_INTERVAL.saturating_mul(LOOKUP_BURST.saturating_sub(1));
            let lookups = (LOOKUP_INTERVAL, most);
            if take_token(&mut caller.lookups_full_at, lookups, now).is_ok() {
                return Ok(());
            }
        }
        take_token(&mut caller.full_at, rate, now).map_err(QuotaExceeded::Rate)
    }

    /// Returns true if a call of the caller may take one of the free places. If several callers are
    /// connected, the last ones are for callers with fewer running calls than their share of the
    /// limit: so none of them holds all places with methods that do not end.
    pub(super) fn may_take_place(&self, id: u64, free: usize, limit: usize) -> bool {
        free > self.reserved(limit) || (free > 0 && self.running(id) < self.share(limit))
    }

    fn running(&self, id: u64) -> usize {
        self.callers.get(&id).map_or(0, |caller| caller.running)
    }

    /// Returns the number of places for callers that have fewer than their share.
    fn reserved(&self, limit: usize) -> usize {
        match self.connected > 1 {
            true => limit.checked_div(RESERVED_PART).unwrap_or_default(),
            false => 0,
        }
    }

    /// Returns the share of the places for each connected caller.
    fn share(&self, limit: usize) -> usize {
        limit
            .checked_div(self.connected.max(1))
            .unwrap_or(limit)
            .max(1)
    }

    /// Returns true if a caller may queue one more call: if it has fewer than there are free places
    /// (dynamic threshold), so that callers who come later find some.
    pub(super) fn has_room(&self, id: u64) -> bool {
        let free = self.max_queued.saturating_sub(self.queued);
        let own = self.callers.get(&id).map_or(0, |caller| caller.queue.len());
        // n callers that flood get 1/(n+1) of the queue each, which leaves as much for the next
        // one.
        free > 0 && own < free
    }

    /// Queues a call. Returns it if the caller is not known.
    pub(super) fn push(&mut self, id: u64, call: Q) -> Option<Q> {
        let Some(caller) = self.callers.get_mut(&id) else {
            return Some(call);
        };
        if caller.queue.is_empty() {
            // At the end of the rotation: callers with queued calls have waited for longer.
            self.rotation.push_back(id);
        }
        caller.queue.push_back(call);
        self.queued = self.queued.saturating_add(1);
        None
    }

    /// Removes the next call of the caller that has the fewest running calls, or is the next of
    /// them, if a caller may take one of the free places. The call counts as running from now on.
    pub(super) fn pop(&mut self, free: usize, limit: usize) -> Option<(u64, Q)> {
        if free == 0 {
            return None;
        }
        let len = self.rotation.len();
        // If only places for callers below their share are free, one of these may be behind many
        // that have theirs.
        let index = (0..len).step_by(MOST_COMPARED).find_map(|start| {
            let end = start.saturating_add(MOST_COMPARED).min(len);
            let group = (start..).zip(self.rotation.range(start..end));
            let (index, id) = group.min_by_key(|(_, id)| self.running(**id))?;
            self.may_take_place(*id, free, limit).then_some(index)
        })?;
        let id = self.rotation.remove(index)?;
        let caller = self.callers.get_mut(&id)?;
        let call = caller.queue.pop_front()?;
        // Counted with the removal, so that the quota of the caller never misses this call.
        caller.running = caller.running.saturating_add(1);
        if !caller.queue.is_empty() {
            self.rotation.push_back(id);
        }
        self.queued = self.queued.saturating_sub(1);
        Some((id, call))
    }

    /// Removes the queued calls for which `is_removed` returns true.
    pub(super) fn remove(&mut self, now: Instant, is_removed: impl Fn(&Q) -> bool) -> Vec<Q> {
        let mut removed = Vec::new();
        // The rotation is built anew, so a caller whose queue has become empty leaves it.
        for id in std::mem::take(&mut self.rotation) {
            let is_left = self.change(id, now, |caller| {
                let (gone, left): (VecDeque<_>, _) =
                    caller.queue.drain(..).partition(|call| is_removed(call));
                caller.queue = left;
                removed.extend(gone);
                !caller.queue.is_empty()
            });
            if is_left == Some(true) {
                self.rotation.push_back(id);
            }
        }
        self.queued = self.queued.saturating_sub(removed.len());
        removed
    }

    /// Returns all queued calls.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Q> {
        let ids = self.rotation.iter();
        ids.filter_map(|id| self.callers.get(id))
            .flat_map(|caller| caller.queue.iter())
    }
}

/// Takes a token whose burst is available again at `full_at`, at a rate of one per interval.
/// Returns the time until the next one if there is none.
fn take_token(
    full_at: &mut Instant,
    (interval, most): (Duration, Duration),
    now: Instant,
) -> Result<(), Duration> {
    let begin = (*full_at).max(now);
    let missing = begin.saturating_duration_since(now);
    if let Some(wait) = missing.checked_sub(most).filter(|wait| !wait.is_zero()) {
        return Err(wait);
    }
    *full_at = begin.checked_add(interval).unwrap_or(begin);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(change: impl FnOnce(&mut AdmissionOptions)) -> (CallerTable<u32>, Instant) {
        let mut options = AdmissionOptions::default();
        change(&mut options);
        (CallerTable::new(&options), Instant::now())
    }

    fn source(number: usize) -> CallerKey {
        CallerKey::Source(number.to_string())
    }

    #[test]
    fn a_quota_has_a_burst_and_a_rate_and_outlives_connections() {
        let (mut table, now) = table(|options| {
            options.calls_per_second = 10;
            options.burst = 3;
        });
        let id = table.connect(source(0), now);
        let take = |table: &mut CallerTable<u32>, id, now| {
            (0..9)
                .take_while(|_| table.take(id, QuotaUse::Call, now).is_ok())
                .count()
        };
        assert_eq!(take(&mut table, id, now), 3);
        let tenth = Duration::from_millis(100);
        assert_eq!(
            table.take(id, QuotaUse::Call, now),
            Err(QuotaExceeded::Rate(tenth))
        );
        assert_eq!(table.take(id, QuotaUse::Paid, now), Ok(()));
        assert_eq!(take(&mut table, id, now + tenth * 2), 2);
        // Another connection, at the same time or later, has the same quota.
        assert_eq!(table.connect(source(0), now), id);
        table.disconnect(id, now + tenth * 2);
        table.disconnect(id, now + tenth * 2);
        assert_eq!((table.len(), table.former), (1, 1));
        let id = table.connect(source(0), now);
        assert_eq!(table.former, 0);
        assert_eq!(take(&mut table, id, now + tenth * 3), 1);
        table.disconnect(id, now + tenth * 9);
        assert_eq!((table.len(), table.former), (0, 0));
    }

    #[test]
    fn former_callers_are_forgotten_beyond_their_limit() {
        let (mut table, now) = table(|options| {
            options.calls_per_second = 1;
            options.max_former_callers = 10;
        });
        for number in 0..100 {
            let id = table.connect(source(number), now);
            for _ in 0..=number {
                table.take(id, QuotaUse::Call, now).ok();
            }
            table.disconnect(id, now);
            assert!(table.len() <= 10);
        }
        // Those with the largest debts are known.
        assert!((90..100).all(|number| table.ids.contains_key(&source(number))));
        assert_eq!((table.former, table.ids.len()), (10, 10));
        // Callers with connections or calls are not counted.
        let id = table.connect(source(1000), now);
        table.begin(id);
        table.disconnect(id, now);
        assert_eq!((table.len(), table.former), (11, 10));
        table.end(id, now);
        assert_eq!(table.len(), 10);
    }

    #[test]
    fn queues_are_served_in_turn_and_leave_room_to_others() {
        let (mut table, now) = table(|options| options.max_queued = 16);
        let ids = [0, 1, 2].map(|number| table.connect(source(number), now));
        for (number, id) in (0u32..).zip(ids) {
            while table.has_room(id) {
                assert_eq!(table.push(id, number), None);
            }
        }
        let lengths = ids.map(|id| table.callers[&id].queue.len());
        assert_eq!(lengths, [8, 4, 2]);
        let first: Vec<_> = (0..6)
            .filter_map(|_| table.pop(9, 9))
            .map(|(_, call)| call)
            .collect();
        assert_eq!(first, [0, 1, 2, 0, 1, 2]);
        assert_eq!(table.queued(), 8);
        assert_eq!(table.remove(now, |call| *call == 1), [1, 1]);
        assert_eq!((table.queued(), table.iter().count()), (6, 6));
        let rest: Vec<_> = std::iter::from_fn(|| table.pop(9, 9))
            .map(|(_, call)| call)
            .collect();
        assert_eq!((rest, table.queued()), (vec![0; 6], 0));
    }

    #[test]
    fn running_and_queued_calls_of_a_caller_are_limited() {
        let (mut table, now) = table(|options| options.max_running_per_caller = 2);
        let id = table.connect(source(0), now);
        table.begin(id);
        assert_eq!(table.take(id, QuotaUse::Call, now), Ok(()));
        table.push(id, 0);
        assert_eq!(
            table.take(id, QuotaUse::Call, now),
            Err(QuotaExceeded::Running)
        );
        let other = table.connect(source(1), now);
        assert_eq!(table.take(other, QuotaUse::Call, now), Ok(()));
        table.end(id, now);
        assert_eq!(table.take(id, QuotaUse::Call, now), Ok(()));
    }

    #[test]
    fn lookups_have_an_allowance_of_their_own_and_then_count_as_calls() {
        let (mut table, now) = table(|options| {
            options.calls_per_second = 1;
            options.burst = 2;
        });
        let id = table.connect(source(0), now);
        let take = |table: &mut CallerTable<u32>, of, now| {
            (0..1000)
                .take_while(|_| table.take(id, of, now).is_ok())
                .count()
        };
        let burst = LOOKUP_BURST as usize;
        assert_eq!(take(&mut table, QuotaUse::Lookup, now), burst + 2);
        assert_eq!(take(&mut table, QuotaUse::Call, now), 0);
        // The allowance comes back, whatever calls are made.
        let now = now + LOOKUP_INTERVAL * LOOKUP_BURST;
        assert_eq!(take(&mut table, QuotaUse::Call, now), 2);
        assert_eq!(take(&mut table, QuotaUse::Lookup, now), burst);
        // A caller that has used it is remembered.
        table.disconnect(id, now);
        assert_eq!((table.len(), table.former), (1, 1));
    }

    #[test]
    fn a_caller_beside_others_leaves_the_last_places_to_them() {
        let (mut table, now) = table(|_| {});
        let hog = table.connect(source(0), now);
        let begin_all = |table: &mut CallerTable<u32>, id, limit: usize, running: &mut usize| {
            let before = *running;
            while table.may_take_place(id, limit - *running, limit) {
                table.begin(id);
                *running += 1;
            }
            *running - before
        };
        // A caller that is alone uses the whole limit.
        let mut running = 0;
        assert_eq!(begin_all(&mut table, hog, 16, &mut running), 16);
        (0..16).for_each(|_| table.end(hog, now));
        let other = table.connect(source(1), now);
        let mut running = 0;
        assert_eq!(begin_all(&mut table, hog, 16, &mut running), 14);
        assert_eq!(begin_all(&mut table, other, 16, &mut running), 2);
        // Small limits have no part to spare.
        (0..14).for_each(|_| table.end(hog, now));
        (0..2).for_each(|_| table.end(other, now));
        assert_eq!(begin_all(&mut table, hog, 7, &mut 0), 7);
    }

    #[test]
    fn a_free_place_goes_to_the_waiting_caller_with_the_fewest_calls() {
        let (mut table, now) = table(|options| options.max_queued = 100);
        let [hog, other] = [0, 1].map(|number| table.connect(source(number), now));
        (0..6).for_each(|_| table.begin(hog));
        for _ in 0..8 {
            table.push(hog, 0);
        }
        for _ in 0..8 {
            table.push(other, 1);
        }
        let mut order = Vec::new();
        while let Some((_, call)) = table.pop(9, 9) {
            order.push(call);
        }
        // The other caller gets as many places as the first one has, and then both take turns.
        assert_eq!(order, [1, 1, 1, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn a_caller_below_its_share_gets_a_reserved_place_behind_many_that_have_theirs() {
        let (mut table, now) = table(|options| options.max_queued = 1000);
        let (limit, many) = (64, MOST_COMPARED * 2);
        let hogs: Vec<_> = (0..many)
            .map(|number| table.connect(source(number), now))
            .collect();
        let other = table.connect(source(many), now);
        for hog in hogs {
            table.begin(hog);
            table.push(hog, 0);
        }
        table.push(other, 1);
        assert_eq!(table.share(limit), 1);
        // None of the first ones may have a reserved place.
        assert_eq!(table.pop(1, limit), Some((other, 1)));
        assert_eq!(table.pop(1, limit), None);
        assert_eq!(table.queued(), many);
    }
}
