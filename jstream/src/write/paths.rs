//! Paths to shared targets, for messages in which one may be longer than the limit.
//!
//! An object that several pointers lead to is as deep as the longest path to it, but is written at
//! the end of the first one. The writer only adds up how much longer paths through further pointers
//! can be. If that may exceed the limit, the message is written again with a [`PathTracker`], which
//! records the edges that the reader will find and searches them in the same way.

use crate::read::{FurtherEdge, NONE, SharedTable};

/// The shared targets of a message and the edges between them.
#[derive(Debug)]
pub(super) struct PathTracker {
    table: SharedTable,
    /// Offsets from which on objects belong to the shared target with a number.
    regions: Vec<(usize, u32)>,
    /// The index of the region of the object that is being written.
    region: usize,
    level: u32,
    /// The offset of the end of the level that is being written.
    level_end: usize,
    /// Number of levels that may still begin.
    pub(super) levels_left: usize,
}

impl PathTracker {
    /// Creates the tracker of a message in which `levels` levels may follow the root.
    pub(super) fn new(levels: usize) -> Self {
        let mut tracker = Self {
            table: SharedTable::default(),
            regions: vec![(0, 0)],
            region: 0,
            level: 0,
            // The first job begins a level.
            level_end: 0,
            levels_left: levels,
        };
        tracker.table.push_level(NONE, 0);
        tracker
    }

    /// Begins the object at the offset `at`. The offset `cursor` is the end of all places that
    /// objects before it have allocated. Returns false if there are too many levels.
    pub(super) fn begin_job(&mut self, at: usize, cursor: usize) -> bool {
        if at >= self.level_end {
            let Some(left) = self.levels_left.checked_sub(1) else {
                return false;
            };
            self.levels_left = left;
            self.level = self.level.saturating_add(1);
            self.level_end = cursor;
        }
        let starts_by = |i: usize| self.regions.get(i).is_some_and(|(start, _)| *start <= at);
        let mut region = self.region;
        while starts_by(region.wrapping_add(1)) {
            region = region.wrapping_add(1);
        }
        self.region = region;
        let owner = self.owner();
        self.table.note_last(owner, self.level);
        self.allocate_for(owner, cursor);
        true
    }

    /// Returns the number of the shared target that owns the object that is being written.
    fn owner(&self) -> u32 {
        self.regions.get(self.region).map_or(0, |(_, owner)| *owner)
    }

    /// Records that places from `start` on are allocated for objects of `owner`.
    fn allocate_for(&mut self, owner: u32, start: usize) {
        match self.regions.last_mut() {
            Some((_, last)) if *last == owner => {}
            Some((last_start, last)) if *last_start == start => *last = owner,
            _ => self.regions.push((start, owner)),
        }
    }

    /// Records the first pointer to the target with the next number. `objects` are the offsets of
    /// the start and end of the target if it can hold pointers.
    pub(super) fn add_target(&mut self, in_cell: bool, objects: Option<[usize; 2]>) {
        let owner = self.owner();
        let number = self.table.push_level(
            if in_cell { NONE } else { owner },
            objects.map_or(NONE, |_| self.level.saturating_add(1)),
        );
        if let Some([start, end]) = objects {
            self.allocate_for(number, start);
            self.allocate_for(owner, end);
        }
    }

    /// Records a further pointer to a target, outside a `Cell`.
    pub(super) fn add_edge(&mut self, to: u32) {
        let edge = FurtherEdge {
            from: self.owner(),
            to,
            level: self.level.saturating_add(1),
        };
        self.table.record(edge);
    }

    /// Returns true if a path has more than `most` pointers.
    pub(super) fn has_path_longer_than(&mut self, most: usize) -> bool {
        let level = self.level as usize;
        self.table.find_cycle(level, most).is_some()
    }
}
