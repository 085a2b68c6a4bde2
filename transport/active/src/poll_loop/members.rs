//! The member connections of a poll group.

use std::sync::{Arc, Mutex, Weak};

use crate::handlers::Handlers;
use crate::link::Link;
use jstream_sync::lock;
use jstream_sync::publishing_lock::{Publish, PublishingLock, Word};

/// A member of a group.
#[derive(Clone)]
pub(super) struct Member {
    id: u64,
    pub(super) link: Weak<Link>,
    /// Handlers of the connection. They are stored here because a request takes over the `Arc` of
    /// the link.
    pub(super) handlers: Handlers,
}

/// Value of [`GroupMembers::only`] if there are several members.
const SEVERAL: u64 = u64::MAX;

/// The members of a group.
#[derive(Default)]
struct GroupMembers {
    all: Arc<Vec<Member>>,
    /// Number of changes.
    version: u64,
    /// Identifier of the only member, 0 if there is none, or [`SEVERAL`].
    only: u64,
}

/// The summary is the number of changes, and the only member.
impl Publish for GroupMembers {
    type Summary = (Word<u64>, Word<u64>);
    type Listeners = ();

    #[inline]
    fn summary(&self) -> (u64, u64) {
        (self.version, self.only)
    }
}

impl GroupMembers {
    /// Replaces the members. Returns the previous ones, to be dropped without the lock.
    fn replace(&mut self, all: Vec<Member>) -> Arc<Vec<Member>> {
        self.only = match all.as_slice() {
            [] => 0,
            [member] => member.id,
            _ => SEVERAL,
        };
        self.version = self.version.wrapping_add(1);
        std::mem::replace(&mut self.all, Arc::new(all))
    }
}

/// A thread's snapshot of the members.
#[derive(Default)]
pub(super) struct MemberSnapshot {
    version: u64,
    members: Option<Arc<Vec<Member>>>,
}

impl MemberSnapshot {
    #[inline]
    pub(super) fn all(&self) -> &[Member] {
        self.members.as_deref().map_or(&[], Vec::as_slice)
    }
}

/// The members of a group, and those that it keeps alive.
pub(super) struct MemberTable {
    state: PublishingLock<GroupMembers>,
    /// Connections that the group keeps alive although the program may hold no handle of them.
    kept: Mutex<Vec<Arc<Link>>>,
}

impl MemberTable {
    pub(super) fn new() -> Self {
        Self {
            state: PublishingLock::new(GroupMembers::default(), ()),
            kept: Mutex::default(),
        }
    }

    /// Adds a connection.
    pub(super) fn add(&self, link: &Arc<Link>) {
        self.change(|all| {
            all.push(Member {
                id: link.id,
                link: Arc::downgrade(link),
                handlers: link.handlers().clone(),
            });
        });
    }

    /// Removes a connection.
    pub(super) fn remove(&self, id: u64) {
        self.change(|all| all.retain(|member| member.id != id));
        let mut kept = lock(&self.kept);
        let index = kept.iter().position(|link| link.id == id);
        let removed = index.map(|index| kept.swap_remove(index));
        // The connection may be dropped with this handle, which locks the table.
        drop(kept);
        drop(removed);
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Member>)) {
        let mut members = self.state.lock();
        // Copied, because pollers use a snapshot of the list without the lock.
        let mut all = members.all.as_ref().clone();
        all.retain(|member| member.link.strong_count() > 0);
        change(&mut all);
        let before = members.replace(all);
        drop(members);
        // Dropped without the lock: handlers belong to the program.
        drop(before);
    }

    /// Returns true if the connection is a member.
    pub(super) fn contains(&self, id: u64) -> bool {
        let members = self.state.lock().all.clone();
        members.iter().any(|member| member.id == id)
    }

    /// Updates a snapshot to the current members.
    #[inline]
    pub(super) fn update(&self, snapshot: &mut MemberSnapshot) {
        // Joins and ends are rare, so a poll compares the version instead of taking the lock.
        if self.state.summary().0.get_acquire() != snapshot.version {
            self.replace_snapshot(snapshot);
        }
    }

    #[cold]
    fn replace_snapshot(&self, snapshot: &mut MemberSnapshot) {
        let members = self.state.lock();
        snapshot.version = members.version;
        let before = snapshot.members.replace(members.all.clone());
        members.release();
        drop(before);
    }

    /// Returns true if the connection is the only member.
    #[inline]
    pub(super) fn has_only(&self, link: &Link) -> bool {
        self.state.summary().1.get() == link.id
    }

    /// Returns true if there are no members. A connection that was dropped but not removed yet
    /// counts.
    pub(super) fn is_empty(&self) -> bool {
        self.state.summary().1.get_acquire() == 0
    }

    /// Keeps a connection alive until it is removed.
    pub(super) fn keep(&self, link: &Arc<Link>) {
        lock(&self.kept).push(link.clone());
    }

    /// Drops the connections that are kept alive.
    pub(super) fn drop_kept(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        drop(kept);
    }
}
