//! The list of members of a set, with the connection to each and what is due there.
//!
//! Does no I/O, and drops nothing that may run code: what was removed is returned.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jstream_active::WeakPeer;
use jstream_base::Address;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::client::Reconnect;
use crate::client_set::source::ListedMember;
use crate::reference::{Circuit, MemberLoad};
use crate::session::Connection;

/// Maximum pause before the first test of a member that does not answer.
const FIRST_TEST: Duration = Duration::from_secs(1);

/// Maximum pause before a test of a member that answers tests, and no calls.
const LAST_TEST: Duration = Duration::from_secs(30);

/// A server of a set.
pub(super) struct Member {
    /// A number that no other member of the set has or had.
    pub(super) id: u64,
    /// Hash of the addresses, which is the same in each process.
    pub(super) hash: u64,
    pub(super) addresses: Vec<Address>,
    pub(super) zone: Option<String>,
    pub(super) connection: Option<Connection>,
    /// The load, from the first answer on.
    pub(super) load: Option<Arc<MemberLoad>>,
    /// The reason why the last attempt has failed.
    pub(super) reason: String,
    /// Number of failed attempts, and of connections in a row that did not last.
    attempts: u32,
    /// The time of the connection.
    since: Instant,
    /// Number of tests that the member had answered when it last answered a call.
    answered_tests: u32,
    is_tested: bool,
    /// Number of times that the circuit was opened and counted.
    counted_openings: u64,
    /// The time from which on a thread may look after the member.
    due: Instant,
    has_thread: bool,
}

impl Member {
    /// Returns true if calls can be sent over the connection, as far as that is known.
    pub(super) fn is_open(&self) -> bool {
        self.connection.as_ref().is_some_and(is_usable)
    }

    /// Returns true if the list has the member. One in another zone is another member.
    fn is_listed_as(&self, listed: &ListedMember) -> bool {
        self.addresses == listed.addresses && self.zone == listed.zone
    }

    /// Returns true if this is the connection of the member.
    pub(super) fn has(&self, connection: &Connection) -> bool {
        let own = self.connection.as_ref();
        own.is_some_and(|own| own.session().is_same(connection.session()))
    }

    /// Takes the number of times that the circuit was opened since the last call.
    pub(super) fn take_openings(&mut self) -> u64 {
        let circuit = self.load.as_ref().and_then(|load| load.circuit());
        let openings = circuit.map_or(0, Circuit::openings);
        let counted = std::mem::replace(&mut self.counted_openings, openings);
        openings.saturating_sub(counted)
    }

    /// Schedules the next attempt after a failed one.
    pub(super) fn fail(&mut self, reason: String, reconnect: &Reconnect) {
        self.reason = reason;
        self.attempts = self.attempts.saturating_add(1);
        self.due = after(reconnect.pause(self.attempts));
    }

    /// Stores a new connection. Returns the one before, if any.
    pub(super) fn connect(&mut self, connection: Connection) -> Option<Connection> {
        // The load is that of one connection: after a restart, the server may be another one.
        self.load = None;
        self.answered_tests = 0;
        self.counted_openings = 0;
        self.reason.clear();
        self.since = Instant::now();
        self.connection.replace(connection)
    }

    /// Makes the member due now.
    pub(super) fn hurry(&mut self) {
        self.due = Instant::now();
    }

    /// Ends the place of the thread that looks after the member.
    pub(super) fn end_thread(&mut self) {
        self.has_thread = false;
        self.is_tested = false;
    }

    /// Returns true if the member is an outlier that has to be tested. Schedules the test.
    ///
    /// A test without an answer costs nothing but itself, so the next one follows soon. One that is
    /// answered costs a call if the member does not answer calls, so its pauses grow.
    fn is_test_due(&mut self, now: Instant, longest_pause: Duration) -> bool {
        let Some(load) = &self.load else {
            return false;
        };
        if load.is_reliable() {
            self.answered_tests = load.answered_tests();
        }
        if !load.is_outlier() {
            return false;
        }
        // The pause begins with the first look at the outlier, and is set once for each test.
        if !self.is_tested {
            self.is_tested = true;
            let in_vain = load.answered_tests().saturating_sub(self.answered_tests);
            let first_pause = match in_vain {
                0 => FIRST_TEST.min(longest_pause),
                _ => FIRST_TEST,
            };
            let pauses = Reconnect {
                first_pause,
                longest_pause: LAST_TEST,
                ..Reconnect::default()
            };
            self.due = after(pauses.pause(in_vain.max(1)));
        }
        self.due <= now
    }
}

/// Returns true if calls can be sent over a connection.
fn is_usable(connection: &Connection) -> bool {
    !connection.peer().is_retired()
}

fn after(pause: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(pause).unwrap_or(now)
}

/// The members of a set, and the connections of those that have left it.
pub(super) struct MemberList {
    pub(super) members: Vec<Member>,
    /// Connections whose calls in flight have not ended.
    leaving: Vec<WeakPeer>,
    next_id: u64,
    max_connections: usize,
    /// Makes each set use another part of a list that is too long.
    salt: u64,
}

impl MemberList {
    pub(super) fn new(max_connections: usize, salt: u64) -> Self {
        Self {
            members: Vec::new(),
            leaving: Vec::new(),
            next_id: 0,
            max_connections: max_connections.max(1),
            salt,
        }
    }

    pub(super) fn get_mut(&mut self, id: u64) -> Option<&mut Member> {
        self.members.iter_mut().find(|member| member.id == id)
    }

    /// Returns the member that has this connection.
    pub(super) fn of_connection(&mut self, connection: &Connection) -> Option<&mut Member> {
        let mut members = self.members.iter_mut();
        members.find(|member| member.has(connection))
    }

    /// Replaces the list. Returns the members that have left.
    pub(super) fn replace(&mut self, list: Vec<ListedMember>) -> Vec<Member> {
        let salt = self.salt;
        let mut keyed: Vec<_> = list
            .into_iter()
            .filter(|listed| !listed.addresses.is_empty())
            .map(|listed| (hash(&listed.addresses), listed))
            .collect();
        // By a hash with the salt of this set, so that each set keeps another part of a long list,
        // and the same part each time.
        keyed.sort_by_key(|(hash, _)| xxh3_64_with_seed(&hash.to_le_bytes(), salt));
        // Equal addresses have equal hashes, so they are neighbours.
        keyed.dedup_by(|one, other| one.1.addresses == other.1.addresses);
        keyed.truncate(self.max_connections);
        let is_listed =
            |member: &Member| keyed.iter().any(|(_, listed)| member.is_listed_as(listed));
        let (kept, left) = std::mem::take(&mut self.members)
            .into_iter()
            .partition::<Vec<_>, _>(is_listed);
        self.members = kept;
        for member in &left {
            self.retire(member.connection.as_ref());
        }
        for (hash, listed) in keyed {
            if !self.members.iter().any(|one| one.is_listed_as(&listed)) {
                let ListedMember { addresses, zone } = listed;
                let id = self.next_id;
                self.next_id = id.wrapping_add(1);
                self.members.push(Member {
                    id,
                    hash,
                    addresses,
                    zone,
                    connection: None,
                    load: None,
                    reason: String::new(),
                    attempts: 0,
                    since: Instant::now(),
                    answered_tests: 0,
                    is_tested: false,
                    counted_openings: 0,
                    due: Instant::now(),
                    has_thread: false,
                });
            }
        }
        left
    }

    /// Records a connection that is no longer used for new calls.
    fn retire(&mut self, connection: Option<&Connection>) {
        if let Some(connection) = connection {
            self.leaving.push(connection.peer().downgrade());
        }
    }

    /// Takes the connections that are no longer used for new calls. The caller returns those that
    /// are still open: it must not do so under a lock, since its handle may be the last.
    pub(super) fn take_leaving(&mut self) -> Vec<WeakPeer> {
        std::mem::take(&mut self.leaving)
    }

    /// Returns connections that are still open.
    pub(super) fn keep_leaving(&mut self, open: Vec<WeakPeer>) {
        self.leaving.extend(open);
    }

    /// Takes the connections that have ended or whose servers are moving, with the numbers of their
    /// members.
    pub(super) fn take_lost(&mut self, reconnect: &Reconnect) -> Vec<(u64, Connection)> {
        let mut lost = Vec::new();
        for member in &mut self.members {
            let taken = member
                .connection
                .take_if(|connection| !is_usable(connection));
            if let Some(connection) = taken {
                member.load = None;
                // A server whose connections end at once gets the same pauses as one without any.
                if member.since.elapsed() > reconnect.longest_pause {
                    member.attempts = 0;
                }
                member.fail("the connection has ended".to_owned(), reconnect);
                lost.push((member.id, connection));
            }
        }
        for (_, connection) in &lost {
            self.retire(Some(connection));
        }
        lost
    }

    /// Returns the members that need a thread now, and counts the thread. `is_missing` tells
    /// whether a member has to be asked for a name.
    pub(super) fn take_due(
        &mut self,
        now: Instant,
        longest_pause: Duration,
        is_missing: impl Fn(u64) -> bool,
    ) -> Vec<u64> {
        let uses = |member: &&Member| member.connection.is_some() || member.has_thread;
        let used = self.members.iter().filter(uses).count();
        // Connections whose calls have not ended count, so that a list which changes all the time
        // does not open more and more.
        let used = used.saturating_add(self.leaving.len());
        let mut places = self.max_connections.saturating_sub(used);
        let mut due = Vec::new();
        for member in &mut self.members {
            let is_test_due = member.is_test_due(now, longest_pause);
            let needs = member.connection.is_none() || is_test_due || is_missing(member.id);
            if !needs || member.has_thread || member.due > now {
                continue;
            }
            if member.connection.is_none() {
                let Some(left) = places.checked_sub(1) else {
                    "the limit of connections is reached (SetOptions::max_connections)"
                        .clone_into(&mut member.reason);
                    continue;
                };
                places = left;
            }
            member.has_thread = true;
            due.push(member.id);
        }
        due
    }

    /// Returns the time of the next attempt, if one is scheduled.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        let scheduled = self.members.iter().map(|member| member.due);
        scheduled.filter(|due| *due > now).min()
    }

    /// Returns the mean latency of the connected members, other than this one.
    pub(super) fn mean_latency(&self, id: u64, now: Instant) -> Option<Duration> {
        let others = self.members.iter().filter(|member| member.id != id);
        let latencies: Vec<Duration> = others
            .filter_map(|member| Some(member.load.as_ref()?.latency(now)))
            .collect();
        let count = u32::try_from(latencies.len()).ok()?;
        latencies.into_iter().sum::<Duration>().checked_div(count)
    }
}

fn hash(addresses: &[Address]) -> u64 {
    let mut text = String::new();
    for address in addresses {
        text.push_str(&address.to_string());
        text.push('\n');
    }
    xxh3_64(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const PAUSE: Duration = Duration::from_secs(1);

    fn list(numbers: impl IntoIterator<Item = u32>) -> Vec<ListedMember> {
        let address = |number| format!("inproc://member-{number}").parse().unwrap();
        numbers
            .into_iter()
            .map(|number| ListedMember::new(vec![address(number)]))
            .collect()
    }

    fn names(members: &MemberList) -> BTreeSet<String> {
        let names = members
            .members
            .iter()
            .map(|one| one.addresses[0].to_string());
        names.collect()
    }

    #[test]
    fn members_that_stay_are_kept() {
        let mut members = MemberList::new(8, 1);
        assert!(members.replace(list([1, 2, 2, 3])).is_empty());
        let ids = |members: &MemberList| members.members.iter().map(|one| one.id).collect();
        let before: BTreeSet<u64> = ids(&members);
        assert_eq!(before.len(), 3);
        let left = members.replace(list([3, 1, 4]));
        assert_eq!(left.len(), 1);
        let after: BTreeSet<u64> = ids(&members);
        assert_eq!(before.intersection(&after).count(), 2);
        assert!(!after.contains(&left[0].id));
    }

    #[test]
    fn a_long_list_is_cut_to_the_same_part_each_time() {
        let mut members = MemberList::new(5, 1);
        assert!(members.replace(list(0..1000)).is_empty());
        let before = names(&members);
        assert_eq!(before.len(), 5);
        assert!(members.replace(list((0..1000).rev())).is_empty());
        assert_eq!(names(&members), before);
        let mut other = MemberList::new(5, 2);
        other.replace(list(0..1000));
        assert_ne!(names(&other), before);
    }

    #[test]
    fn each_member_has_one_thread_and_each_thread_a_place() {
        let mut members = MemberList::new(3, 1);
        members.replace(list(0..3));
        let now = Instant::now();
        assert_eq!(members.take_due(now, PAUSE, |_| true).len(), 3);
        assert!(members.take_due(now, PAUSE, |_| true).is_empty());
        let first = members.members[0].id;
        let member = members.get_mut(first).unwrap();
        member.fail("as it should".to_owned(), &Reconnect::default());
        member.end_thread();
        assert!(members.take_due(now, PAUSE, |_| true).is_empty());
        let due = members.next_due(now).unwrap();
        assert_eq!(members.take_due(due, PAUSE, |_| true), [first]);
    }
}
