//! The work queue of a write: values that have a place in the message but are not written yet.

use std::mem;

use super::error::Full;
use crate::keep::clear_after;

/// Function that writes a job, given the fields of its [`ValueSpan`]. Calling it is sound only for
/// a job that was pushed with it. `D` is the type of the draft.
///
/// The span is passed as words, because a job that was pushed just now was stored word by word. A
/// wide load that spans several recent stores would stall until all of them have reached the cache.
pub(super) type WriteJob<D> = unsafe fn(&mut D, *const u8, usize, usize) -> Result<(), Full>;

/// Values to be written, and the function that writes them.
#[derive(Debug)]
pub(super) struct Job<D> {
    pub(super) write: WriteJob<D>,
    pub(super) span: ValueSpan,
}

impl<D> Clone for Job<D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<D> Copy for Job<D> {}

/// Adjacent values of one type in the program's memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueSpan {
    pub(super) values: *const u8,
    /// The place of the values in the objects segment, and its end.
    pub(super) at: usize,
    pub(super) end: usize,
}

/// A FIFO queue of jobs.
///
/// A job that is pushed to an empty queue is stored separately. In a linked list this applies to
/// every job, and each is popped as soon as it was pushed.
#[derive(Debug)]
pub(super) struct Jobs<D> {
    /// The job before all of `list`. Absent if its place is 0, which is that of the header.
    first: Job<D>,
    list: Vec<Job<D>>,
    /// Number of jobs in `list` that have been popped. `list` is emptied once all of them are
    /// popped.
    head: usize,
    /// Peak length of `list` before it was last emptied.
    peak_len: usize,
}

/// Number of popped jobs that may accumulate at the front of the list before it is compacted.
const COMPACT: usize = 1024;
/// Capacity, in jobs, that a list keeps between messages. Unneeded capacity beyond it is released.
const KEEP: usize = 1 << 16;

/// Function of the empty job.
unsafe fn nothing<D>(_: &mut D, _: *const u8, _: usize, _: usize) -> Result<(), Full> {
    Ok(())
}

impl<D> Job<D> {
    /// The absence of a job.
    const NOTHING: Self = Self {
        write: nothing,
        span: ValueSpan {
            values: std::ptr::null(),
            at: 0,
            end: 0,
        },
    };
}

impl<D> Jobs<D> {
    pub(super) const fn new() -> Self {
        Self {
            first: Job::NOTHING,
            list: Vec::new(),
            head: 0,
            peak_len: 0,
        }
    }

    /// Adds a job at the end. Its place must not be 0.
    #[inline(always)]
    pub(super) fn push(&mut self, job: Job<D>) {
        if self.is_empty() {
            self.first = job;
            return;
        }
        if self.list.len() == self.list.capacity() {
            self.make_room();
        }
        let len = self.list.len();
        // SAFETY: there is room for one more job, because `make_room` makes it.
        unsafe { self.list.as_mut_ptr().wrapping_add(len).write(job) };
        // SAFETY: the job was just written.
        unsafe { self.list.set_len(len.wrapping_add(1)) };
    }

    /// Makes room for at least one more job in the list.
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
    pub(super) fn pop(&mut self) -> Option<Job<D>> {
        if self.first.span.at != 0 {
            let job = self.first;
            self.first.span.at = 0;
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
            self.peak_len = self.peak_len.max(self.head);
            self.list.clear();
            self.head = 0;
        }
    }

    /// Returns true if all jobs have been popped; with the last of them, `list` was emptied.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.first.span.at == 0 && self.list.is_empty()
    }

    /// Pops the next job if it is written by the same code. Equal function pointers refer to the
    /// same code, whatever type they were instantiated for.
    #[inline(always)]
    pub(super) fn pop_same(&mut self, write: WriteJob<D>) -> Option<ValueSpan> {
        // Loaded word by word, as explained at `WriteJob`.
        if self.first.span.at != 0 {
            if !std::ptr::fn_addr_eq(self.first.write, write) {
                return None;
            }
            let ValueSpan { values, at, end } = self.first.span;
            self.first.span.at = 0;
            return Some(ValueSpan { values, at, end });
        }
        let next = self.list.get(self.head)?;
        if !std::ptr::fn_addr_eq(next.write, write) {
            return None;
        }
        let ValueSpan { values, at, end } = next.span;
        self.advance();
        Some(ValueSpan { values, at, end })
    }

    /// Returns true if the queue has held more than one job since it was cleared.
    #[inline(always)]
    pub(super) fn has_grown(&self) -> bool {
        self.peak_len > 0
    }

    /// Returns true if the list is longer than one that is always kept.
    pub(super) fn is_large(&self) -> bool {
        self.list.capacity() > KEEP
    }

    /// Clears the queue. Keeps memory for the next message.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.first.span.at = 0;
        self.head = 0;
        clear_after(&mut self.list, KEEP, mem::take(&mut self.peak_len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(at: usize) -> Job<()> {
        Job {
            write: nothing,
            span: ValueSpan {
                values: std::ptr::null(),
                at,
                end: at,
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
            assert_eq!(jobs.pop().unwrap().span.at, at - 2);
        }
        assert!(jobs.pop_same(nothing).is_some());
        assert!(jobs.list.capacity() < 8 * COMPACT);
        assert!(jobs.pop_same(nothing).is_some());
        assert!(jobs.pop().is_none());
    }
}
