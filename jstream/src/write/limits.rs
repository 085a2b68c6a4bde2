//! Limits of a message being written. They are those of a reader, so that the sender learns of a
//! message that no reader accepts by default.
//!
//! Each is counted where the draft has other work to do: at the ends of levels and of the list of
//! jobs, at elements without size, at shared targets, and at values that are verified.

use std::any::TypeId;

use super::draft::Draft;
use super::error::{Full, WriteError};
use super::jobs::QueueLimit;
use crate::read::Limits;
use crate::wire::ORIGIN;

impl<'b> Draft<'b> {
    /// Sets the limits of the messages that are begun from now on.
    pub(super) fn set_limits(&mut self, limits: Limits) {
        if self.limits != limits {
            self.apply_limits(limits);
        }
    }

    pub(super) fn apply_limits(&mut self, limits: Limits) {
        self.limits = limits;
        self.max_depth = limits.depth.map_or(usize::MAX, |depth| depth as usize);
        self.levels = self.max_depth;
        self.scratch.jobs.set_max_pending(limits.pending);
    }

    /// Counts elements without size as the reader does: each byte of the targets before them allows
    /// one.
    #[cold]
    pub(super) fn count_zero_sized(&mut self, count: usize) {
        if self.back.active {
            return;
        }
        self.needs_clearing = true;
        let targets = self.cursor.wrapping_sub(self.root_end);
        let bytes = targets.wrapping_add(self.bulk_cursor.wrapping_sub(ORIGIN));
        let counts = &mut self.counts;
        let allowed = bytes.saturating_sub(counts.counted_bytes).min(count);
        counts.counted_bytes = counts.counted_bytes.wrapping_add(allowed);
        let counted = count.wrapping_sub(allowed);
        counts.zero_sized = counts.zero_sized.saturating_add(counted);
        self.zero_sized = counts.zero_sized;
        let value = self.zero_sized_before.saturating_add(self.zero_sized);
        let limit = self.limits.zero_sized;
        if value > limit {
            self.exceed("zero_sized", value, limit);
        }
    }

    /// Counts values that the reader will verify, from the place `at` to `end` in the objects
    /// segment, or in the bulk segment if their form is flat. The first argument is the type of the
    /// form, and true if it is flat.
    #[cold]
    pub(super) fn count_check(&mut self, (key, flat): (TypeId, bool), at: usize, end: usize) {
        if self.back.active {
            return;
        }
        self.needs_clearing = true;
        let counts = &mut self.counts;
        let last = counts.last_check.replace((key, flat, end));
        if last == Some((key, flat, at)) {
            return;
        }
        counts.checks = counts.checks.saturating_add(1);
        let (value, limit) = (counts.checks, self.limits.pending);
        if value > limit {
            self.exceed("pending", value, limit);
        }
    }

    /// Tracks paths to shared targets in the message that begins now.
    pub(super) fn track_paths(&mut self) {
        self.needs_clearing = true;
        self.levels = 0;
        self.scratch.jobs.track(self.max_depth);
    }

    /// Returns true if paths to shared targets are tracked.
    #[inline]
    pub(super) fn tracks_paths(&self) -> bool {
        self.scratch.jobs.tracker.is_some()
    }

    /// Returns the depth of the object that is being written.
    fn level(&self) -> u32 {
        let level = self.max_depth.wrapping_sub(self.scratch.jobs.levels_left());
        u32::try_from(level).unwrap_or(u32::MAX)
    }

    /// Counts a further pointer to a shared target, outside a `Cell`.
    #[inline(never)]
    pub(super) fn count_further(&mut self, number: u32) {
        let level = self.level();
        self.scratch.shared.count_further(number, level);
        if let Some(tracker) = &mut self.scratch.jobs.tracker {
            tracker.add_edge(number);
        }
    }

    /// Records the shared target to which the first pointer was written. Its objects have places
    /// from `start` on.
    #[inline(never)]
    pub(super) fn add_shared_objects(&mut self, start: usize, in_cell: bool) {
        let has_objects = self.cursor != start;
        if has_objects {
            let level = self.level().saturating_add(1);
            self.scratch.shared.set_level(level);
        }
        let objects = has_objects.then_some([start, self.cursor]);
        if let Some(tracker) = &mut self.scratch.jobs.tracker {
            tracker.add_target(in_cell, objects);
        }
    }

    /// Checks the limits that only a complete graph shows to be exceeded. Called when all jobs have
    /// been taken off the queue.
    #[inline(always)]
    pub(super) fn check_limits(&mut self) -> Result<(), Full> {
        if self.scratch.jobs.exceeded().is_none() && self.scratch.shared.count == 0 {
            return Ok(());
        }
        self.check_limits_slow()
    }

    #[inline(never)]
    fn check_limits_slow(&mut self) -> Result<(), Full> {
        if self.has_missed() {
            // The message is written again, with fewer shared targets.
            return Ok(());
        }
        if let Some(limit) = self.scratch.jobs.exceeded() {
            match limit {
                QueueLimit::Depth => {
                    let above = self.max_depth.saturating_add(1);
                    self.exceed("depth", above, self.max_depth);
                }
                QueueLimit::Pending(runs) => self.exceed("pending", runs, self.limits.pending),
            }
            return Err(Full);
        }
        let shared = &self.scratch.shared;
        let (targets, further) = (shared.count as usize, shared.further as usize);
        // The root counts too.
        let most = targets.saturating_add(1).max(further);
        if most > self.limits.shared {
            self.exceed("shared", most, self.limits.shared);
            return Err(Full);
        }
        self.check_paths()
    }

    /// Checks that no path to a shared target is too long.
    fn check_paths(&mut self) -> Result<(), Full> {
        let most = self.max_depth;
        let longest = (self.level() as usize).saturating_add(self.scratch.shared.detour);
        if self.scratch.shared.detour == 0 || longest <= most {
            return Ok(());
        }
        let Some(tracker) = &mut self.scratch.jobs.tracker else {
            self.must_track = true;
            return Err(Full);
        };
        if tracker.has_path_longer_than(most) {
            self.exceed("depth", most.saturating_add(1), most);
            return Err(Full);
        }
        Ok(())
    }

    #[cold]
    fn exceed(&mut self, name: &'static str, value: usize, limit: usize) {
        self.refuse(WriteError::Limit { name, value, limit });
    }
}
