//! The member connections of a poll group.

use std::sync::Arc;

use super::{Member, PollLoop, Seen};
use crate::link::Link;
use jstream_sync::callbacks::Deferral;
use jstream_sync::lock;

impl PollLoop {
    /// Adds a connection.
    pub(crate) fn enter(&self, link: &Arc<Link>) {
        self.change(|all| {
            all.push(Member {
                id: link.id,
                link: Arc::downgrade(link),
                handlers: link.handlers().clone(),
            });
        });
        self.call();
    }

    /// Removes a connection.
    pub(crate) fn leave(&self, id: u64) {
        self.change(|all| all.retain(|member| member.id != id));
        let mut kept = lock(&self.kept);
        let place = kept.iter().position(|link| link.id == id);
        let gone = place.map(|place| kept.swap_remove(place));
        drop(kept);
        drop(gone);
        self.call();
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Member>)) {
        let mut members = self.members.lock();
        let mut all = members.all.as_ref().clone();
        all.retain(|member| member.link.strong_count() > 0);
        change(&mut all);
        let before = members.replace(all);
        drop(members);
        // Dropped without the lock: handlers belong to the program.
        drop(before);
    }

    /// Removes a connection that was dropped, and its deferred work.
    pub(crate) fn bury(&self, id: u64) {
        let members = self.members.lock().all.clone();
        let is_member = members.iter().any(|member| member.id == id);
        drop(members);
        if is_member {
            self.leave(id);
        }
        self.purge(id);
    }

    /// Updates `seen` to the current members.
    #[inline]
    pub(super) fn see(&self, seen: &mut Seen) {
        if self.members.summary().0.get_acquire() != seen.version {
            self.see_changes(seen);
        }
    }

    #[cold]
    fn see_changes(&self, seen: &mut Seen) {
        let members = self.members.lock();
        seen.version = members.version;
        let before = seen.members.replace(members.all.clone());
        members.release();
        drop(before);
    }

    /// Returns true if the connection is the only member.
    #[inline]
    pub(super) fn has_only(&self, link: &Link) -> bool {
        self.members.summary().1.get() == link.id
    }

    /// Drops the connections that the group keeps alive.
    pub(crate) fn clear(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        drop(kept);
    }

    /// Returns true if the group has no members. A connection that was dropped but not removed yet
    /// counts.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.summary().1.get_acquire() == 0
    }

    /// Moves a connection to this group. If it `stays`, the group keeps it alive although the
    /// program may hold no handle of it.
    pub(crate) fn adopt(self: &Arc<Self>, link: &Arc<Link>, stays: bool) {
        // Callbacks may move connections, too.
        let deferral = Deferral::begin();
        let moving = link.moving();
        let Some((before, was_posted)) = link.sit(self) else {
            return;
        };
        before.leave(link.id);
        if stays && !link.has_ended() {
            lock(&self.kept).push(link.clone());
        }
        self.enter(link);
        // Deferred requests move with the connection. Messages received by the old group come
        // first.
        before.hand_over(link.id, self);
        let mut ended = Vec::new();
        if let (true, Some(queue)) = (was_posted, before.queue.get()) {
            queue.forget(link.endpoint());
            // Completions of the old queue are taken now, because the old group may not be served
            // any more.
            while let Some(done) = queue.poll_done() {
                ended.extend(before.pass_on(done));
            }
        }
        // The wake-up caused by the removal may have been consumed here.
        before.call();
        // The connection may have ended meanwhile, and then its end was reported to the old group.
        if link.has_ended() {
            self.leave(link.id);
        }
        // Released first: the end of a connection runs code of the program, which may move
        // connections.
        drop(moving);
        drop(deferral);
        for (link, error) in ended {
            link.lost(&error);
        }
    }
}
