//! Models of a thread's cache of slots, which other threads recall.

use loom::sync::Arc;
use loom::thread;

use super::{Model, Outstanding, SLOTS};
use crate::buffer::pool::kept::Kept;
use crate::buffer::pool::list::CLOSED;
use jstream_sync::barrier::Barriers;

/// The slots of a model, some of which a thread caches.
struct Keeping {
    model: Arc<Model>,
    kept: Kept<u8>,
}

impl Keeping {
    fn new(free: u32) -> Self {
        Self {
            model: Model::new(free),
            kept: Kept::new(),
        }
    }

    /// Returns a slot, as the owner of the cache does.
    fn give(&self, slot: u32) -> Result<(), u64> {
        self.model.own(slot);
        if self.kept.push(0, slot, std::ptr::null_mut()) {
            return Ok(());
        }
        let link = &self.model.links[slot as usize];
        self.model.stacks[0].push(link, slot, CLOSED)
    }

    /// Takes a slot, as the owner of the cache does.
    fn take(&self) -> Option<u32> {
        match self.kept.pop(0) {
            Some((slot, _)) => {
                self.model.own(slot);
                Some(slot)
            }
            None => self.model.take(0),
        }
    }

    /// Moves the cached slots to a stack.
    fn collect(&self) {
        self.kept.take_back(|_, slot| self.model.give(1, slot));
    }

    fn recall(&self) {
        self.kept.recall();
        Barriers::MEMBARRIER.make_all_pass();
        self.collect();
    }
}

/// A thread returns two slots and takes one, while another thread recalls its cached slots and
/// takes one, too.
fn recalling(recall: fn(&Keeping)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let keeping = Arc::new(Keeping::new(1));
        let owner = {
            let keeping = keeping.clone();
            thread::spawn(move || {
                assert!(keeping.give(1).is_ok());
                assert!(keeping.give(2).is_ok());
                keeping.take()
            })
        };
        recall(&keeping);
        let mine = keeping.model.take(1);
        keeping.kept.end_recall();
        let its = owner.join().unwrap();
        let out = [mine, its].into_iter().flatten();
        let out = out.inspect(|slot| keeping.model.own(*slot)).count();
        // Slots that were cached after the first recall.
        recall(&keeping);
        assert_eq!(keeping.model.drain() + out, SLOTS);
    }
}

#[test]
fn what_is_kept_has_one_owner() {
    loom::model(recalling(Keeping::recall));
}

#[test]
#[should_panic(expected = "assertion failed: !std::mem::replace")]
fn a_thread_that_passed_no_barrier_may_be_at_its_slots() {
    loom::model(recalling(|keeping| {
        keeping.kept.recall();
        keeping.collect();
    }));
}

/// A thread returns its slot while another thread closes the pool. Exactly one of them must free
/// the pool.
fn closing(recall: fn(&Keeping)) -> impl Fn() + Send + Sync + 'static {
    move || {
        let keeping = Arc::new(Keeping::new(0));
        let outstanding = Arc::new(Outstanding::new());
        let owner = {
            let (keeping, outstanding) = (keeping.clone(), outstanding.clone());
            thread::spawn(move || keeping.give(0).is_err() && outstanding.came_back())
        };
        recall(&keeping);
        let stacks = &keeping.model.stacks;
        let back = stacks.iter().map(|stack| stack.close(&*keeping.model));
        let closer_ends = outstanding.closed_with(1 - back.sum::<usize>());
        let owner_ends = owner.join().unwrap();
        assert!(closer_ends != owner_ends, "somebody is the last");
    }
}

#[test]
fn what_is_kept_does_not_keep_the_pool() {
    loom::model(closing(Keeping::recall));
}

#[test]
#[should_panic(expected = "somebody is the last")]
fn a_pool_that_recalls_nothing_never_ends() {
    loom::model(closing(|_| {}));
}
