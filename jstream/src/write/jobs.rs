//! What has its place in the message and is not written yet, in the order of the places.

use std::mem;

use super::draft::{Draft, Full};
use crate::keep::clear_after;

/// Writes a job. Calling it is sound only for a job that was pushed with it.
pub(super) type WriteJob<'b> = unsafe fn(&mut Draft<'b>, Job<'b>) -> Result<(), Full>;

/// Values to be written, and by what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Job<'b> {
    pub(super) write: WriteJob<'b>,
    pub(super) what: What,
}

/// Values of one type that lie side by side in the program's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct What {
    pub(super) values: *const u8,
    pub(super) count: usize,
    /// Their place in the objects segment.
    pub(super) at: usize,
}

/// Jobs, first in, first out.
///
/// One that finds nothing queued is kept apart: in a list that is each of them, and it is taken as
/// soon as it was pushed.
#[derive(Debug)]
pub(super) struct Jobs<'b> {
    /// Before all of `list`; none when its place is 0, which is the header's.
    first: Job<'b>,
    list: Vec<Job<'b>>,
    /// How many of `list` have been taken; when it is all of them, `list` is emptied.
    head: usize,
    /// How many it had at most before.
    had: usize,
}

/// Taken jobs are kept at the front of the list until this many have gathered.
const COMPACT: usize = 1024;
/// A list keeps room for this many jobs between messages; more is given back.
const KEEP: usize = 1 << 16;

/// What is written where there is no job.
unsafe fn nothing<'b>(_: &mut Draft<'b>, _: Job<'b>) -> Result<(), Full> {
    Ok(())
}

impl Job<'_> {
    /// No job.
    const NOTHING: Self = Self {
        write: nothing,
        what: What {
            values: std::ptr::null(),
            count: 0,
            at: 0,
        },
    };
}

impl<'b> Jobs<'b> {
    pub(super) const fn new() -> Self {
        Self {
            first: Job::NOTHING,
            list: Vec::new(),
            head: 0,
            had: 0,
        }
    }

    /// Adds a job behind all others. Its place must not be 0.
    #[inline(always)]
    pub(super) fn push(&mut self, job: Job<'b>) {
        if self.list.is_empty() && self.first.what.at == 0 {
            self.first = job;
            return;
        }
        if self.list.len() == self.list.capacity() {
            self.make_room();
        }
        self.list.push(job);
    }

    #[cold]
    fn make_room(&mut self) {
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.list.len() {
            self.list.drain(..self.head);
            self.head = 0;
        } else {
            self.list.reserve(COMPACT);
        }
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Job<'b>> {
        if self.first.what.at != 0 {
            let job = self.first;
            self.first.what.at = 0;
            return Some(job);
        }
        let job = self.list.get(self.head).copied()?;
        self.advance();
        Some(job)
    }

    #[inline(always)]
    fn advance(&mut self) {
        self.head = self.head.wrapping_add(1);
        if self.head == self.list.len() {
            self.had = self.had.max(self.head);
            self.list.clear();
            self.head = 0;
        }
    }

    /// Takes the next job if it is written by the same code. Equal function pointers are the same
    /// code, whatever type they were made for.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, write: WriteJob<'b>) -> Option<What> {
        // A job that was pushed a moment ago, word by word, is loaded word by word too: one wide
        // load of several recent stores would wait for all of them to reach the cache.
        if self.first.what.at != 0 {
            if !std::ptr::fn_addr_eq(self.first.write, write) {
                return None;
            }
            let What { values, count, at } = self.first.what;
            self.first.what.at = 0;
            return Some(What { values, count, at });
        }
        let next = self.list.get(self.head)?;
        if !std::ptr::fn_addr_eq(next.write, write) {
            return None;
        }
        let What { values, count, at } = next.what;
        self.advance();
        Some(What { values, count, at })
    }

    /// Forgets all jobs; keeps memory for the next.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.first = Job::NOTHING;
        self.head = 0;
        clear_after(&mut self.list, KEEP, mem::take(&mut self.had));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(at: usize) -> Job<'static> {
        Job {
            write: nothing,
            what: What {
                values: std::ptr::null(),
                count: 0,
                at,
            },
        }
    }

    #[test]
    fn first_in_first_out_in_little_room() {
        let mut jobs = Jobs::new();
        assert!(jobs.pop().is_none());
        jobs.push(job(1));
        jobs.push(job(2));
        for at in 3..100_000 {
            jobs.push(job(at));
            assert_eq!(jobs.pop().unwrap().what.at, at - 2);
        }
        assert!(jobs.pop_same(nothing).is_some());
        assert!(jobs.list.capacity() < 8 * COMPACT);
        assert!(jobs.pop_same(nothing).is_some());
        assert!(jobs.pop().is_none());
    }
}
