//! Which connections are served together.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use super::{Core, lock};
use crate::active::handlers::Handlers;
use crate::active::link::Link;

#[derive(Clone)]
pub(super) struct Member {
    id: u64,
    pub(super) link: Weak<Link>,
    /// Those of the connection: a request takes its handle of that with it.
    pub(super) handlers: Handlers,
}

/// The members, as somebody who serves has seen them last.
#[derive(Default)]
pub(in crate::active) struct Seen {
    version: u64,
    members: Option<Arc<Vec<Member>>>,
}

impl Seen {
    #[inline]
    pub(super) fn all(&self) -> &[Member] {
        self.members.as_deref().map_or(&[], Vec::as_slice)
    }
}

impl Core {
    /// A connection is served here from now on.
    pub(in crate::active) fn enter(&self, link: &Arc<Link>) {
        self.change(|all| {
            all.push(Member {
                id: link.id,
                link: Arc::downgrade(link),
                handlers: link.handlers().clone(),
            });
        });
        self.call();
    }

    /// A connection is not served here any more.
    pub(in crate::active) fn leave(&self, id: u64) {
        self.change(|all| all.retain(|member| member.id != id));
        let mut kept = lock(&self.kept);
        let place = kept.iter().position(|link| link.id == id);
        let gone = place.map(|place| kept.swap_remove(place));
        drop(kept);
        drop(gone);
        self.call();
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Member>)) {
        let mut members = lock(&self.members);
        let mut all = members.as_ref().clone();
        all.retain(|member| member.link.strong_count() > 0);
        change(&mut all);
        let alone = match all.as_slice() {
            [member] => member.id,
            _ => 0,
        };
        self.count.store(all.len(), Ordering::Release);
        let before = std::mem::replace(&mut *members, Arc::new(all));
        self.alone.store(alone, Ordering::Relaxed);
        self.version.fetch_add(1, Ordering::Release);
        drop(members);
        // Handlers are the program's.
        drop(before);
    }

    /// A connection is gone that may not have left.
    pub(in crate::active) fn bury(&self, id: u64) {
        let is_member = lock(&self.members).iter().any(|member| member.id == id);
        if is_member {
            self.leave(id);
        }
        self.purge(id);
    }

    /// Has `seen` know the members of now.
    #[inline]
    pub(super) fn see(&self, seen: &mut Seen) {
        if self.version.load(Ordering::Acquire) != seen.version {
            let members = lock(&self.members);
            seen.version = self.version.load(Ordering::Acquire);
            let before = seen.members.replace(members.clone());
            drop(members);
            drop(before);
        }
    }

    /// Whether a connection is the only one that is served here.
    #[inline]
    pub(super) fn has_only(&self, link: &Link) -> bool {
        self.alone.load(Ordering::Relaxed) == link.id
    }

    /// Those that stay though the program may have no handle of them leave.
    pub(in crate::active) fn clear(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        drop(kept);
    }

    /// Whether nobody is served here. One that nobody has left without being told counts.
    pub(in crate::active) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Serves a connection here instead of where it was. Where it `stays`, it does so though the program may have no
    /// handle of it.
    pub(in crate::active) fn adopt(self: &Arc<Self>, link: &Arc<Link>, stays: bool) {
        let moving = link.moving();
        let Some((before, was_posted)) = link.sit(self) else {
            return;
        };
        before.leave(link.id);
        if stays && !link.has_ended() {
            lock(&self.kept).push(link.clone());
        }
        self.enter(link);
        // What it asked to be run again is run here, and what had come elsewhere comes first.
        before.hand_over(link.id, self);
        let mut ended = Vec::new();
        if let (true, Some(queue)) = (was_posted, before.queue.get()) {
            queue.forget(link.endpoint());
            // What had come before is taken now, for who may serve there no more.
            while let Some(done) = queue.poll_done() {
                ended.extend(before.pass_on(done));
            }
        }
        // The call that its leaving was may have been taken here.
        before.call();
        // Its end may have come in between, and was told to where it was.
        if link.has_ended() {
            self.leave(link.id);
        }
        // What ends with them is the program's, and may move them.
        drop(moving);
        for (link, error) in ended {
            link.lost(&error);
        }
    }
}
