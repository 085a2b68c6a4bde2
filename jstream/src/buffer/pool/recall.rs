//! Recall of the slots in the caches of all threads.
//!
//! Decision 021 has the reasons.

use super::list::Links;
use super::state::PoolState;
use jstream_sync::barrier::Barriers;
use jstream_sync::{Ordering, lock};

/// Guard during which no thread caches slots.
pub(super) struct Recall<'s> {
    shared: &'s PoolState,
}

impl Drop for Recall<'_> {
    fn drop(&mut self) {
        self.shared.end_recall();
    }
}

impl PoolState {
    /// Moves the cached slots of all threads to the stacks. No thread caches slots until the
    /// returned guard is dropped.
    pub(super) fn recall(&self) -> Recall<'_> {
        self.begin_recall();
        Recall { shared: self }
    }

    /// Like [`recall`](Self::recall), until the matching call of [`end_recall`](Self::end_recall).
    pub(super) fn begin_recall(&self) {
        self.shards.iter().for_each(|shard| shard.kept.recall());
        Barriers::of_this_process().make_all_pass();
        let one = lock(&self.recalling);
        for shard in &self.shards {
            let _moving = shard.moves.begin();
            shard.kept.take_back(|class, slot| {
                let cell = shard.cell(class);
                cell.out.fetch_sub(1, Ordering::Relaxed);
                let Ok(()) = cell.stack.push(self.table.link(slot), slot, 0) else {
                    unreachable!("no flag is heeded")
                };
            });
        }
        drop(one);
    }

    pub(super) fn end_recall(&self) {
        self.shards.iter().for_each(|shard| shard.kept.end_recall());
    }
}
