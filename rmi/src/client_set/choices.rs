//! The members at which an object of a set was found, and the choice of one for a call.
//!
//! Decision 120 has the reasons.

use std::cell::Cell;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use jstream_sync::lock;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::client::FindObject;
use crate::client_set::latencies::MethodLatencies;
use crate::client_set::options::Hedging;
use crate::interface::Interface;
use crate::reference::{Circuit, MemberObject, RenewedObject};
use crate::session::Import;

/// A name that a set looks up at each member, with the members that have it.
pub(super) struct SetName {
    pub(super) name: String,
    pub(super) interface: &'static Interface,
    pub(super) find: FindObject,
    members: Mutex<NamedMembers>,
    policy: ChoicePolicy,
    /// Latencies of the methods, if calls are hedged.
    latencies: OnceLock<Box<[MethodLatencies]>>,
}

/// The options of a set that concern the choice of a member.
#[derive(Clone, Copy)]
pub(super) struct ChoicePolicy {
    /// Number of calls in flight from which on a member of the own zone takes no more.
    pub(super) zone_calls: u32,
    pub(super) has_breaker: bool,
    pub(super) hedging: Option<Hedging>,
}

/// A member of the choices.
#[derive(Clone, Copy)]
pub(super) struct MemberKey {
    pub(super) id: u64,
    /// The hash of its addresses.
    pub(super) hash: u64,
    /// True if it is in the own zone, or there are no zones.
    pub(super) is_near: bool,
}

/// INVARIANT: the first `near` members, and no others, are in the own zone.
#[derive(Default)]
struct NamedMembers {
    found: Vec<FoundMember>,
    near: usize,
    /// The members that have another object of this name, and the reason why it is not usable.
    refused: Vec<(u64, String)>,
}

/// A member that has the object.
struct FoundMember {
    key: MemberKey,
    object: Arc<MemberObject>,
}

impl FoundMember {
    fn chosen(&self, is_counted: bool, is_pinned: bool) -> RenewedObject {
        RenewedObject::Member {
            object: self.object.clone(),
            is_counted,
            is_pinned,
        }
    }
}

impl SetName {
    pub(super) fn new(
        name: &str,
        (interface, find): (&'static Interface, FindObject),
        policy: ChoicePolicy,
    ) -> Self {
        Self {
            name: name.to_owned(),
            interface,
            find,
            members: Mutex::default(),
            policy,
            latencies: OnceLock::new(),
        }
    }

    pub(super) fn hedges(&self) -> bool {
        self.policy.hedging.is_some()
    }

    /// Returns the time after which a call of a method gets a second attempt, once it is known.
    pub(super) fn hedge_delay(&self, method: usize) -> Option<Duration> {
        let hedging = self.policy.hedging?;
        let latencies = self.latencies.get()?.get(method)?;
        let delay = latencies.percentile(hedging.percentile)?;
        Some(delay.max(hedging.least_delay))
    }

    /// Records the latency of a call that might have got a second attempt.
    pub(super) fn record_latency(&self, method: usize, took: Duration) {
        let all = self.latencies.get_or_init(|| {
            let methods = 0..self.interface.len();
            methods.map(|_| MethodLatencies::new()).collect()
        });
        if let Some(latencies) = all.get(method) {
            latencies.record(took);
        }
    }

    pub(super) fn is_of(&self, name: &str, interface: &'static Interface) -> bool {
        self.name == name && self.interface.id() == interface.id()
    }

    /// Chooses a member for a call.
    pub(super) fn choose(&self) -> Option<RenewedObject> {
        let members = lock(&self.members);
        match members.found.as_slice() {
            [] => None,
            // With one member there is no choice, so nothing is measured and a call costs little
            // more than that of a client.
            [only] => only.object.is_open().then(|| only.chosen(false, false)),
            _ => Some(members.choose(&self.policy)?.chosen(true, false)),
        }
    }

    /// Returns true if a member can be called, as far as that is known.
    pub(super) fn has_open(&self) -> bool {
        lock(&self.members)
            .found
            .iter()
            .any(|one| one.object.is_open())
    }

    /// Chooses a member for a second attempt of a call, other than that of the first one.
    pub(super) fn choose_other(&self, first: &Import) -> Option<RenewedObject> {
        let now = Instant::now();
        let members = lock(&self.members);
        let others = members.found.iter().filter(|one| {
            let connection = one.object.import().connection();
            is_good(one, now) && !connection.session().is_same(first.connection().session())
        });
        Some(others.min_by_key(|one| cost(one, now))?.chosen(true, false))
    }

    /// Chooses the member with the highest hash of its addresses and the key (rendezvous hashing).
    pub(super) fn choose_by(&self, key: u64) -> Option<RenewedObject> {
        let members = lock(&self.members);
        let open = members.found.iter().filter(|one| one.object.is_open());
        let best = open.max_by_key(|one| xxh3_64_with_seed(&one.key.hash.to_le_bytes(), key));
        Some(best?.chosen(members.found.len() > 1, true))
    }

    /// Returns the time at which the first member asks for calls again, if all ask for none.
    pub(super) fn rests_until(&self, now: Instant) -> Option<Instant> {
        let members = lock(&self.members);
        let open = members.found.iter().filter(|one| one.object.is_open());
        let rests = open.map(|one| one.object.load().rests_until(now));
        // `None` is less than any time, so one member that asks for no pause decides.
        rests.min().flatten()
    }

    /// Adds a member. Returns its former object, which is dropped without locks.
    #[must_use = "the object is dropped without locks"]
    pub(super) fn add(
        &self,
        key: MemberKey,
        object: Arc<MemberObject>,
    ) -> Option<Arc<MemberObject>> {
        // A member has one object of a name. A former one belongs to a connection that was lost.
        let former = self.remove(key.id);
        let mut members = lock(&self.members);
        let place = match key.is_near {
            true => members.near,
            false => members.found.len(),
        };
        members.found.insert(place, FoundMember { key, object });
        members.near = members.near.saturating_add(usize::from(key.is_near));
        former
    }

    /// Records that a member has another object of this name.
    pub(super) fn refuse(&self, id: u64, reason: String) {
        let mut members = lock(&self.members);
        members.refused.retain(|(known, _)| *known != id);
        members.refused.push((id, reason));
    }

    /// Removes a member, because its connection has ended. Returns the object, which is dropped
    /// without locks.
    #[must_use = "the object is dropped without locks"]
    pub(super) fn remove(&self, id: u64) -> Option<Arc<MemberObject>> {
        let mut members = lock(&self.members);
        members.refused.retain(|(known, _)| *known != id);
        let place = members.found.iter().position(|one| one.key.id == id)?;
        let removed = members.found.remove(place);
        members.near = members
            .near
            .saturating_sub(usize::from(removed.key.is_near));
        Some(removed.object)
    }

    /// Removes all members. Returns the objects, which are dropped without locks.
    #[must_use = "the objects are dropped without locks"]
    pub(super) fn clear(&self) -> Vec<Arc<MemberObject>> {
        let mut members = lock(&self.members);
        members.refused.clear();
        members.near = 0;
        members.found.drain(..).map(|one| one.object).collect()
    }

    /// Returns true if the member has to be asked for the object.
    pub(super) fn is_missing(&self, id: u64) -> bool {
        let members = lock(&self.members);
        let is_found = members.found.iter().any(|one| one.key.id == id);
        !is_found && !members.refused.iter().any(|(known, _)| *known == id)
    }

    /// Returns the reason why one of these members can't be called, if that is so for all of them.
    pub(super) fn refusal(&self, mut ids: impl Iterator<Item = u64>) -> Option<String> {
        let members = lock(&self.members);
        let (_, reason) = members.refused.first()?;
        let is_refused = |id| members.refused.iter().any(|(known, _)| *known == id);
        ids.all(is_refused).then(|| reason.clone())
    }
}

impl NamedMembers {
    /// Chooses one of several members.
    fn choose(&self, policy: &ChoicePolicy) -> Option<&FoundMember> {
        let now = Instant::now();
        if policy.has_breaker {
            let is_tested = |one: &&FoundMember| {
                let circuit = one.object.load().circuit();
                is_awake(one, now) && circuit.is_some_and(|circuit| circuit.begin_test(now))
            };
            // The test goes before the choice by cost, which would avoid the member.
            if let Some(tested) = self.found.iter().find(is_tested) {
                return Some(tested);
            }
        }
        let all = self.found.as_slice();
        match all.get(..self.near) {
            None | Some([]) => choose_of(all),
            Some(near) if near.len() == all.len() => choose_of(all),
            Some(near) => {
                let takes_more = |one: &&FoundMember| {
                    is_good(one, now) && one.object.load().in_flight() < policy.zone_calls
                };
                let far = all.get(self.near..)?;
                let chosen = best_of(near).filter(takes_more);
                let chosen = chosen.or_else(|| best_of(far).filter(|one| is_good(one, now)));
                chosen.or_else(|| choose_of(all))
            }
        }
    }
}

/// Chooses the cheaper one of two random members, if there are two.
fn best_of(some: &[FoundMember]) -> Option<&FoundMember> {
    match some {
        [only] => Some(only),
        several => choose_of(several),
    }
}

/// Returns true if a member can be called, and has not asked for a pause.
fn is_awake(one: &FoundMember, now: Instant) -> bool {
    one.object.is_open() && one.object.load().rests_until(now).is_none()
}

/// Returns true if calls of a member are answered, as far as that is known.
fn answers(one: &FoundMember) -> bool {
    let load = one.object.load();
    !load.is_outlier() && !load.circuit().is_some_and(Circuit::is_open)
}

fn is_good(one: &FoundMember, now: Instant) -> bool {
    is_awake(one, now) && answers(one)
}

fn cost(one: &FoundMember, now: Instant) -> u64 {
    one.object.load().cost(now)
}

/// Chooses the cheaper one of two random members.
fn choose_of(all: &[FoundMember]) -> Option<&FoundMember> {
    let now = Instant::now();
    let (first, second) = two_of(all.len());
    let pair = [all.get(first)?, all.get(second)?];
    let is_awake = |one: &&FoundMember| is_awake(one, now);
    let is_good = |one: &&FoundMember| is_good(one, now);
    let cost = |one: &&FoundMember| cost(one, now);
    if pair.iter().all(is_good) {
        return pair.into_iter().min_by_key(cost);
    }
    // If all members ask for no more calls, the call is for them to refuse.
    let is_one_awake = all.iter().any(|one| is_awake(&one));
    let is_usable = |one: &&FoundMember| match is_one_awake {
        true => is_awake(one),
        false => one.object.is_open(),
    };
    let open = || all.iter().filter(is_usable);
    let good = || open().filter(|one| answers(one));
    // If most members do not answer, the fault is elsewhere, and the others would be overloaded.
    match good().count().saturating_mul(2) >= open().count() {
        true => good().min_by_key(cost),
        false => open().min_by_key(cost),
    }
}

/// Returns two different random numbers below `count`, which is at least 2.
fn two_of(count: usize) -> (usize, usize) {
    let random = random();
    let below = |random: u64, count: usize| {
        let scaled = u128::from(random).saturating_mul(count as u128) >> 32;
        usize::try_from(scaled).unwrap_or(0)
    };
    let first = below(random >> 32, count);
    let second = below(random & u64::from(u32::MAX), count.saturating_sub(1));
    match second >= first {
        true => (first, second.saturating_add(1)),
        false => (first, second),
    }
}

/// Returns the next number of this thread's sequence (xorshift).
pub(super) fn random() -> u64 {
    thread_local! {
        // Not zero, from which this sequence does not move.
        static STATE: Cell<u64> = Cell::new(RandomState::new().hash_one(0) | 1);
    }
    STATE.with(|state| {
        let mut next = state.get();
        next ^= next << 13;
        next ^= next >> 7;
        next ^= next << 17;
        state.set(next);
        next
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn two_members_differ_and_each_is_drawn() {
        for count in [2, 3, 7] {
            let drawn: HashSet<_> = (0..2000).map(|_| two_of(count)).collect();
            assert!(drawn.iter().all(|(one, other)| one != other));
            assert!(drawn.iter().all(|(one, other)| *one.max(other) < count));
            assert_eq!(drawn.len(), count * (count - 1));
        }
    }
}
