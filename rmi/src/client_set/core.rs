//! The state of a set: its members, the names that it looks up, and the calls that wait.
//!
//! Invariants: a member is among the choices of a name only while it has a connection; both change
//! under the lock of the state. Connections, objects and wakers are dropped and called without it.
//! Locks are taken in the order state, choices.
//!
//! Decision 120 has the reasons.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Waker;
use std::time::{Duration, Instant};

use jstream_base::Address;
use jstream_sync::wakers::{WakerList, wake_each};
use jstream_sync::{callbacks, lock};

use crate::client_set::budget::RetryBudget;
use crate::client_set::choices::{ChoicePolicy, MemberKey, SetName, random};
use crate::client_set::counters::count_openings;
use crate::client_set::members::{Member, MemberList};
use crate::client_set::options::SetOptions;
use crate::client_set::signal::SetSignal;
use crate::client_set::source::{ListedMember, MemberSource};
use crate::interface::Interface;
use crate::reference::{FoundObject, MemberLoad, MemberObject, Renewal};
use crate::session::{Connection, Import, attend};

/// State that the handles, stubs and threads of a set share.
pub(super) struct SetCore {
    pub(super) options: SetOptions,
    /// The address that stands for the set in errors.
    pub(super) address: Address,
    pub(super) source: Arc<dyn MemberSource>,
    pub(super) signal: Arc<SetSignal>,
    budget: RetryBudget,
    state: Mutex<SetState>,
}

/// A name with the source of its objects.
#[derive(Clone)]
pub(super) struct SetEntry {
    pub(super) name: Arc<SetName>,
    pub(super) source: Arc<dyn Renewal>,
}

struct SetState {
    list: MemberList,
    entries: Vec<SetEntry>,
    waiters: WakerList,
    /// The reason why the list of members is not known, or no longer.
    reason: String,
    /// The time at which the source is asked next. `None` while it is being asked.
    refresh: Option<Instant>,
    /// The time before which it is not asked again, so that its changes do not cost all the time
    /// of the set.
    rest: Instant,
    /// True while a thread runs the requests of members.
    is_serving: bool,
    is_closed: bool,
}

/// Work of the thread of a member.
pub(super) struct MemberWork {
    pub(super) addresses: Vec<Address>,
    pub(super) connection: Option<Connection>,
    pub(super) load: Option<Arc<MemberLoad>>,
    /// The names for which the member has to be asked.
    pub(super) entries: Vec<SetEntry>,
    /// True if an object of the set has state, which is lost with its connection.
    pub(super) has_state: bool,
}

/// Work of the thread of a set that is due now.
#[derive(Default)]
pub(super) struct DueWork {
    pub(super) asks_source: bool,
    pub(super) members: Vec<u64>,
    pub(super) pause: Duration,
}

impl SetCore {
    pub(super) fn new(source: Arc<dyn MemberSource>, options: SetOptions) -> Self {
        let state = SetState {
            list: MemberList::new(options.max_connections, random()),
            entries: Vec::new(),
            waiters: WakerList::new(),
            reason: "the members are not known yet".to_owned(),
            refresh: Some(Instant::now()),
            rest: Instant::now(),
            is_serving: false,
            is_closed: false,
        };
        Self {
            budget: RetryBudget::new(options.repetitions),
            address: source.address().clone(),
            options,
            source,
            signal: Arc::default(),
            state: Mutex::new(state),
        }
    }

    /// Returns the options that concern the choice of a member.
    pub(super) fn policy(&self) -> ChoicePolicy {
        ChoicePolicy {
            zone_calls: self.options.zone_calls,
            has_breaker: self.options.breaker.is_some(),
            hedging: self.options.hedging,
        }
    }

    fn state(&self) -> MutexGuard<'_, SetState> {
        lock(&self.state)
    }

    /// Wakes all who wait for a change.
    fn wake_waiters(&self, state: MutexGuard<'_, SetState>) {
        wake_each(state, || self.state(), |state| &mut state.waiters);
    }

    /// Returns the entry of a name, which `create` makes if it is new.
    pub(super) fn entry(
        &self,
        (name, interface): (&str, &'static Interface),
        create: impl FnOnce() -> SetEntry,
    ) -> SetEntry {
        let mut state = self.state();
        let mut known = state.entries.iter();
        if let Some(known) = known.find(|known| known.name.is_of(name, interface)) {
            return known.clone();
        }
        let entry = create();
        state.entries.push(entry.clone());
        // Members that are connected have not been asked for this name.
        for member in &mut state.list.members {
            member.hurry();
        }
        drop(state);
        self.signal.wake_thread();
        entry
    }

    /// Registers a waker that is called when a member is found, or the set is closed.
    pub(super) fn register(&self, key: &mut Option<u64>, waker: &Waker) {
        let waker = waker.clone();
        let replaced = self.state().waiters.register(key, waker);
        callbacks::discard(replaced);
    }

    /// Removes the waker of a wait that has ended.
    pub(super) fn cancel(&self, key: u64) {
        let removed = self.state().waiters.remove(key);
        callbacks::discard(removed);
    }

    /// Takes one repetition of a call from the budget.
    pub(super) fn takes_repetition(&self) -> bool {
        let state = self.state();
        let loads = state
            .list
            .members
            .iter()
            .filter_map(|one| one.load.as_ref());
        let calls = loads.map(|load| u64::from(load.begun())).sum();
        drop(state);
        self.budget.spend(Instant::now(), calls)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Returns true if a connection is open, and each name was found at a member.
    pub(super) fn is_ready(&self) -> bool {
        let state = self.state();
        let mut entries = state.entries.iter();
        entries.all(|entry| entry.name.has_open()) && state.list.members.iter().any(Member::is_open)
    }

    /// Calls `show` for each member, and with true if it has been asked for all names.
    pub(super) fn each_member<T>(&self, show: impl Fn(&Member, bool) -> T) -> Vec<T> {
        let state = self.state();
        let members = state.list.members.iter();
        let is_known = |entry: &SetEntry, member: &Member| !entry.name.is_missing(member.id);
        members
            .map(|member| {
                let mut entries = state.entries.iter();
                show(member, entries.all(|entry| is_known(entry, member)))
            })
            .collect()
    }

    /// Returns the reason why all members refuse calls of this name.
    pub(super) fn refusal(&self, name: &SetName) -> Option<String> {
        let state = self.state();
        name.refusal(state.list.members.iter().map(|member| member.id))
    }

    /// Returns the reason why no member can be called.
    pub(super) fn failure(&self, name: &SetName) -> String {
        if let Some(refusal) = self.refusal(name) {
            return refusal;
        }
        let state = self.state();
        if state.is_closed {
            return "the program has closed the set".to_owned();
        }
        let failed = |member: &&Member| !member.reason.is_empty();
        match state.list.members.iter().find(failed) {
            Some(Member {
                addresses, reason, ..
            }) => match addresses.first() {
                Some(address) => format!("{address}: {reason}"),
                None => reason.clone(),
            },
            None if state.list.members.is_empty() => state.reason.clone(),
            None => "no member has answered yet".to_owned(),
        }
    }

    /// Ends all connections for good.
    pub(super) fn close(&self) {
        let mut state = self.state();
        // Before the waiters are woken, which then find the set closed.
        state.is_closed = true;
        // Taken out, because closing connections and dropping objects runs callbacks that take this
        // lock.
        let members = std::mem::take(&mut state.list.members);
        let entries = std::mem::take(&mut state.entries);
        self.wake_waiters(state);
        self.signal.end();
        for connection in members.iter().filter_map(|one| one.connection.as_ref()) {
            connection.close();
        }
        for entry in &entries {
            // Stubs hold the names, so the objects would otherwise stay until the last stub is
            // dropped.
            drop(entry.name.clear());
        }
    }

    /// Returns the connections that no call uses, to look whether they have ended.
    pub(super) fn connections(&self) -> Vec<Connection> {
        let state = self.state();
        let all = state.list.members.iter();
        all.filter_map(|member| member.connection.clone()).collect()
    }

    /// Begins to run the requests of members. Returns false if a thread is running some.
    pub(super) fn begin_serving(&self) -> bool {
        !std::mem::replace(&mut self.state().is_serving, true)
    }

    /// Ends the thread that has run the requests of members.
    pub(super) fn end_serving(&self) {
        self.state().is_serving = false;
    }

    /// Counts the circuits that were opened.
    pub(super) fn count_openings(&self) {
        if self.options.breaker.is_none() {
            return;
        }
        let mut opened = Vec::new();
        for member in &mut self.state().list.members {
            let times = member.take_openings();
            if let (1.., Some(address)) = (times, member.addresses.first()) {
                opened.push((address.clone(), times));
            }
        }
        for (address, times) in opened {
            count_openings(&address, times);
        }
    }

    /// Removes lost connections, and returns what is due. `None` if the set is closed.
    pub(super) fn due_work(&self) -> Option<DueWork> {
        // Taken out first: a handle that is upgraded here may become the last one, which must not
        // be dropped under the lock.
        let leaving = self.state().list.take_leaving();
        let leaving: Vec<_> = leaving
            .into_iter()
            .filter(|peer| peer.upgrade().is_some_and(|peer| !peer.has_ended()))
            .collect();
        let mut state = self.state();
        if state.is_closed {
            return None;
        }
        state.list.keep_leaving(leaving);
        let lost = state.list.take_lost(&self.options.reconnect());
        let now = Instant::now();
        let mut due = DueWork::default();
        let mut objects = Vec::new();
        for (id, _) in &lost {
            objects.extend(state.entries.iter().filter_map(|one| one.name.remove(*id)));
        }
        // If the source is being asked, it may miss a change that it has just reported, and is
        // asked again.
        if let Some(refresh) = state.refresh {
            if refresh <= now || (state.rest <= now && self.signal.takes_new_list()) {
                state.refresh = None;
                due.asks_source = true;
            }
        }
        let SetState { list, entries, .. } = &mut *state;
        let longest_pause = self.options.reconnect().longest_pause;
        let is_missing = |id| entries.iter().any(|one| one.name.is_missing(id));
        due.members = list.take_due(now, longest_pause, is_missing);
        let next = [list.next_due(now), state.refresh];
        let pause = next
            .into_iter()
            .flatten()
            .map(|due| due.saturating_duration_since(now))
            .min();
        due.pause = pause.map_or(self.options.watch, |pause| pause.min(self.options.watch));
        drop(state);
        // The last call in flight of a member ends its connection.
        drop((lost, objects));
        Some(due)
    }

    /// Stores the answer of the source.
    pub(super) fn replace_members(&self, answer: io::Result<Vec<ListedMember>>) {
        // A random half, so that the sets of many processes do not ask at the same time.
        let half = self.options.refresh.checked_div(2).unwrap_or_default();
        let part = (random() >> 40) as f64 / (1u64 << 24) as f64;
        let refresh = half.saturating_add(half.mul_f64(part));
        let mut state = self.state();
        let now = Instant::now();
        // Also after a failure, so that the source is asked again.
        state.refresh = Some(now.checked_add(refresh).unwrap_or(now));
        state.rest = now.checked_add(self.options.watch).unwrap_or(now);
        let list = match answer {
            Ok(list) if !state.is_closed && list.iter().any(|one| !one.addresses.is_empty()) => {
                list
            }
            // An empty list is more likely a fault of the source than the end of all servers.
            Ok(_) => {
                "the list of members is empty".clone_into(&mut state.reason);
                return;
            }
            Err(error) => {
                state.reason = error.to_string();
                return;
            }
        };
        state.reason.clear();
        let left = state.list.replace(list);
        let mut objects = Vec::new();
        for member in &left {
            let entries = state.entries.iter();
            objects.extend(entries.filter_map(|entry| entry.name.remove(member.id)));
        }
        drop(state);
        // The last call in flight of a member ends its connection.
        drop((left, objects));
        self.signal.wake_thread();
    }

    /// Ends the question to the source without an answer, because its thread has failed.
    pub(super) fn end_question(&self, reason: &str) {
        self.replace_members(Err(io::Error::other(reason)));
    }

    /// Returns the work of the thread of a member, unless it has left the list.
    pub(super) fn member_work(&self, id: u64) -> Option<MemberWork> {
        let mut state = self.state();
        let entries = state.entries.clone();
        let is_stateful = |entry: &SetEntry| entry.name.interface.is_stateful();
        let has_state = entries.iter().any(is_stateful);
        let member = state.list.get_mut(id)?;
        // An outlier is asked for all names, also those that are known there: any answer shows that
        // it is back.
        let is_tested = member.load.as_ref().is_some_and(|load| load.is_outlier());
        let asked = |entry: &SetEntry| is_tested || entry.name.is_missing(id);
        Some(MemberWork {
            addresses: member.addresses.clone(),
            connection: member.connection.clone(),
            load: member.load.clone(),
            entries: entries.into_iter().filter(asked).collect(),
            has_state,
        })
    }

    /// Stores the connection to a member. Returns false if it has left the list.
    pub(super) fn put_connection(&self, id: u64, connection: &Connection) -> bool {
        let mut state = self.state();
        let Some(member) = state.list.get_mut(id) else {
            return false;
        };
        let before = member.connect(connection.clone());
        self.wake_waiters(state);
        drop(before);
        // The callbacks hold the signal alone. With the set, the connection would keep it.
        let signal = self.signal.clone();
        let changed = move || signal.wake_thread();
        connection.peer().on_end(changed.clone());
        attend(connection, changed);
        true
    }

    /// Stores an object that a member has, and returns the load of the member. The first answer
    /// took `took`. A member that is new among others begins with their mean, since it would get
    /// no calls if its first answer was slow by chance.
    pub(super) fn put_object(
        &self,
        id: u64,
        (entry, found): (&SetEntry, FoundObject),
        took: Duration,
    ) {
        let mut state = self.state();
        let mean = state.list.mean_latency(id, Instant::now());
        let Some(member) = state.list.get_mut(id) else {
            return;
        };
        let connection = found.import.connection();
        // The connection was replaced while its lookup was answered.
        if !member.has(connection) {
            return;
        }
        let first = mean.map_or(took, |mean| mean.min(took));
        let load = member
            .load
            .get_or_insert_with(|| Arc::new(MemberLoad::new(first, self.options.breaker)))
            .clone();
        // An outlier was tested, whose object is among the choices already.
        if !entry.name.is_missing(id) {
            return;
        }
        let key = MemberKey {
            id,
            hash: member.hash,
            is_near: self.options.zone.is_none() || self.options.zone == member.zone,
        };
        let object = MemberObject::new(found, entry.source.clone(), load);
        let before = entry.name.add(key, Arc::new(object));
        self.wake_waiters(state);
        drop(before);
    }

    /// Records that calls of a name can't be made at a member.
    pub(super) fn refuse(&self, id: u64, name: &SetName, reason: String) {
        let state = self.state();
        name.refuse(id, reason);
        self.wake_waiters(state);
    }

    /// Makes a member more expensive, because it has refused a call.
    pub(super) fn avoid(&self, import: &Import, retry_after: Option<Duration>) {
        let mut state = self.state();
        let member = state.list.of_connection(import.connection());
        if let Some(load) = member.and_then(|member| member.load.as_ref()) {
            load.record_refusal(retry_after);
        }
    }

    /// Removes the object of a name from the member at which it was found, because it was lost.
    pub(super) fn forget(&self, name: &SetName, import: &Import) {
        let mut state = self.state();
        let member = state.list.of_connection(import.connection());
        let removed = member.and_then(|member| {
            member.hurry();
            name.remove(member.id)
        });
        drop(state);
        drop(removed);
        self.signal.wake_thread();
    }

    /// Ends the thread of a member, which has failed for a reason, or has done all.
    pub(super) fn end_member_thread(&self, id: u64, failure: Option<String>) {
        let mut state = self.state();
        if let Some(member) = state.list.get_mut(id) {
            match failure {
                Some(reason) => member.fail(reason, &self.options.reconnect()),
                None => member.reason.clear(),
            }
            member.end_thread();
        }
        self.wake_waiters(state);
        self.signal.wake_thread();
    }
}

/// Ends the thread of the set, and drops the handles by which the names lead to their members, and
/// these to the names.
impl Drop for SetCore {
    fn drop(&mut self) {
        self.signal.end();
        let entries = std::mem::take(&mut self.state().entries);
        for entry in &entries {
            drop(entry.name.clear());
        }
    }
}
