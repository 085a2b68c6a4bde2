//! The work queue of a write: values that have a place in the message but are not written yet.
//!
//! Decisions 001 and 103 have the reasons.

use std::mem;

use super::error::Full;
use super::paths::PathTracker;
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
///
/// The queue counts the levels of the graph, whose jobs follow one another, and the runs that wait,
/// because the reader limits both. It looks at levels only where one ends, and at runs only where
/// the list would grow, so that other jobs cost nothing.
///
/// Invariant: `room_end` is at most the capacity of `list`.
#[derive(Debug)]
pub(super) struct Jobs<D> {
    /// The job before all of `list`. Absent if its place is 0, which is that of the header.
    first: Job<D>,
    list: Vec<Job<D>>,
    /// Number of jobs in `list` that have been popped. `list` is emptied once all of them are
    /// popped.
    head: usize,
    /// The end in `list` of the level that is being popped, or of the job that begins it.
    level_end: usize,
    /// True if the job before `level_end` begins a level. The end of that level is unknown until
    /// the last job of the level before has been written.
    opens_level: bool,
    /// Number of levels that may still begin. 0 if a tracker counts them.
    levels_left: usize,
    /// The length at which `list` has to grow, or its runs have to be counted.
    room_end: usize,
    /// Maximum number of runs that may wait.
    max_pending: usize,
    runs: RunCount,
    /// The limit that was exceeded. The queue then returns no more jobs.
    exceeded: Option<QueueLimit>,
    /// The tracker of paths to shared targets, if this message needs it.
    pub(super) tracker: Option<Box<PathTracker>>,
    /// Peak length of `list` before it was last emptied.
    peak_len: usize,
}

/// A limit of the reader that a queue of jobs shows to be exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueueLimit {
    /// Too many levels.
    Depth,
    /// So many waiting runs.
    Pending(usize),
}

/// Counts of runs in the list of a queue. A run is a sequence of adjacent values of one type, which
/// the reader queues as one.
#[derive(Debug)]
struct RunCount {
    /// Number of jobs among which runs were counted.
    counted: usize,
    begun: usize,
    /// Number of those jobs that had been popped, and number of runs that began with them.
    popped: usize,
    popped_runs: usize,
}

impl RunCount {
    const NOTHING: Self = Self {
        counted: 0,
        begun: 0,
        popped: 0,
        popped_runs: 0,
    };
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

    /// Returns true if the reader reads this job in one run with the job before it. Code that
    /// writes values of one type does not write those of another, since it names the type.
    fn continues(&self, before: &Self) -> bool {
        before.span.end == self.span.at && std::ptr::fn_addr_eq(before.write, self.write)
    }
}

impl<D> Jobs<D> {
    pub(super) const fn new() -> Self {
        Self {
            first: Job::NOTHING,
            list: Vec::new(),
            head: 0,
            level_end: 0,
            opens_level: false,
            levels_left: 0,
            room_end: 0,
            max_pending: usize::MAX,
            runs: RunCount::NOTHING,
            exceeded: None,
            tracker: None,
            peak_len: 0,
        }
    }

    /// Sets the maximum number of runs that may wait in a later message.
    pub(super) fn set_max_pending(&mut self, most: usize) {
        self.max_pending = most;
        // The runs are counted at the next job.
        self.room_end = 0;
    }

    /// Begins a message in which `levels` levels may follow the root.
    #[inline(always)]
    pub(super) fn begin(&mut self, levels: usize) {
        self.levels_left = levels;
    }

    /// Lets a tracker count the levels of the message that begins now, of which `levels` may follow
    /// the root. It is called for each job.
    #[cold]
    pub(super) fn track(&mut self, levels: usize) {
        self.level_end = 1;
        self.tracker = Some(Box::new(PathTracker::new(levels)));
    }

    /// Returns the number of levels that may still begin.
    pub(super) fn levels_left(&self) -> usize {
        let tracker = self.tracker.as_ref();
        tracker.map_or(self.levels_left, |tracker| tracker.levels_left)
    }

    /// Returns the limit that was exceeded.
    #[inline]
    pub(super) fn exceeded(&self) -> Option<QueueLimit> {
        self.exceeded
    }

    /// Adds a job at the end. Its place must not be 0, and it must have values.
    #[inline(always)]
    pub(super) fn push(&mut self, job: Job<D>) {
        if self.is_empty() {
            self.first = job;
            return;
        }
        if self.list.len() >= self.room_end && !self.make_room(&job) {
            return;
        }
        let len = self.list.len();
        // SAFETY: the list has room for one more job: its length is below `room_end`, which is at
        // most its capacity, or `make_room` has returned true.
        unsafe { self.list.as_mut_ptr().wrapping_add(len).write(job) };
        // SAFETY: the job was just written.
        unsafe { self.list.set_len(len.wrapping_add(1)) };
    }

    /// Makes room in the list for at least one more job, which is `job`. Returns false if too many
    /// runs wait. The queue is then empty.
    #[cold]
    fn make_room(&mut self, job: &Job<D>) -> bool {
        if self.head >= COMPACT && self.head.wrapping_mul(2) >= self.list.len() {
            self.list.drain(..self.head);
            self.level_end = self.level_end.wrapping_sub(self.head);
            self.head = 0;
            self.runs = RunCount::NOTHING;
        }
        let len = self.list.len();
        // The reader stores the last run beside its list, and refuses a further one.
        let most = self.max_pending.saturating_add(1);
        // There are at most as many runs as jobs, one of which may be the first one.
        let jobs = len.saturating_add(1);
        let more = if jobs < most {
            most.wrapping_sub(jobs)
        } else {
            let runs = self.waiting_runs();
            if runs >= most && !self.list.last().is_some_and(|last| job.continues(last)) {
                return self.exceed(QueueLimit::Pending(runs));
            }
            most.saturating_sub(runs).max(1)
        };
        if len == self.list.capacity() {
            self.list.reserve(COMPACT);
        }
        self.room_end = self.list.capacity().min(len.saturating_add(more));
        true
    }

    /// Returns the number of runs that wait, or one more: the reader may have read on in a run of
    /// which a job was popped. Looks at each job of the list twice at most.
    fn waiting_runs(&mut self) -> usize {
        let list = &self.list;
        let starts_run = |i: usize| {
            let before = i.checked_sub(1).and_then(|before| list.get(before));
            !before
                .zip(list.get(i))
                .is_some_and(|(before, job)| job.continues(before))
        };
        let begun = (self.runs.counted..list.len()).filter(|&i| starts_run(i));
        let popped = (self.runs.popped..self.head).filter(|&i| starts_run(i));
        let (begun, popped) = (begun.count(), popped.count());
        let is_within = self.head < list.len() && !starts_run(self.head);
        let runs = &mut self.runs;
        runs.counted = list.len();
        runs.begun = runs.begun.wrapping_add(begun);
        runs.popped = self.head;
        runs.popped_runs = runs.popped_runs.wrapping_add(popped);
        runs.begun
            .wrapping_sub(runs.popped_runs)
            .wrapping_add(usize::from(is_within))
            .wrapping_add(usize::from(self.first.span.at != 0))
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Job<D>> {
        if self.first.span.at != 0 {
            let job = self.first;
            return self.take_first().then_some(job);
        }
        let job = self.list.get(self.head).copied()?;
        self.advance().then_some(job)
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
            return self.take_first().then_some(ValueSpan { values, at, end });
        }
        let next = self.list.get(self.head)?;
        if !std::ptr::fn_addr_eq(next.write, write) {
            return None;
        }
        let ValueSpan { values, at, end } = next.span;
        self.advance().then_some(ValueSpan { values, at, end })
    }

    /// Removes the first job. It begins a level, to which all jobs in the list belong: the queue
    /// was empty when it was pushed, and the same job pushed the others. Returns false if there are
    /// too many levels.
    #[inline(always)]
    fn take_first(&mut self) -> bool {
        let ValueSpan { at, end, .. } = self.first.span;
        self.first.span.at = 0;
        self.level_end = self.list.len();
        let (left, is_over) = self.levels_left.overflowing_sub(1);
        self.levels_left = left;
        !is_over || self.begin_job(at, end)
    }

    /// Removes the next job of the list. Returns false if there are too many levels.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        self.head = self.head.wrapping_add(1);
        self.head != self.level_end || self.end_level()
    }

    /// Called when the job before `level_end` was popped.
    #[inline(never)]
    fn end_level(&mut self) -> bool {
        if self.tracker.is_some() {
            let popped = self.list.get(self.head.wrapping_sub(1));
            let span = popped.map_or(Job::<D>::NOTHING.span, |job| job.span);
            return self.begin_job(span.at, span.end);
        }
        if mem::take(&mut self.opens_level) {
            // The level before was written, so all jobs of this one are in the list.
            self.level_end = self.list.len();
            match self.levels_left.checked_sub(1) {
                Some(left) => self.levels_left = left,
                None => return self.exceed(QueueLimit::Depth),
            }
        }
        if self.head == self.list.len() {
            self.empty_list();
        } else if self.head == self.level_end {
            // The job that was just popped can still push jobs of the next level.
            self.opens_level = true;
            self.level_end = self.head.wrapping_add(1);
        }
        true
    }

    /// Called when a job was popped, whose values are from `at` to `end`, if its level must not
    /// begin or levels are tracked. Returns false if there are too many levels.
    #[cold]
    fn begin_job(&mut self, at: usize, end: usize) -> bool {
        // The end of all places that were allocated is that of the job that was pushed last.
        let cursor = self.list.last().map_or(end, |last| last.span.end);
        if self.head == self.list.len() {
            self.empty_list();
        }
        self.level_end = self.head.wrapping_add(1);
        self.levels_left = 0;
        let tracker = self.tracker.as_mut().filter(|_| self.exceeded.is_none());
        if tracker.is_some_and(|tracker| tracker.begin_job(at, cursor)) {
            true
        } else {
            self.exceed(QueueLimit::Depth)
        }
    }

    /// Empties the queue, so that it returns no more jobs. Returns false.
    #[cold]
    fn exceed(&mut self, limit: QueueLimit) -> bool {
        self.exceeded.get_or_insert(limit);
        self.first.span.at = 0;
        self.levels_left = 0;
        self.opens_level = false;
        self.empty_list();
        false
    }

    #[inline]
    fn empty_list(&mut self) {
        self.peak_len = self.peak_len.max(self.list.len());
        self.list.clear();
        self.head = 0;
        self.level_end = 0;
        if self.runs.counted != 0 {
            // There was room for more jobs than runs may wait.
            self.runs = RunCount::NOTHING;
            self.room_end = 0;
        }
    }

    /// Returns true if all jobs have been popped; with the last of them, `list` was emptied.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.first.span.at == 0 && self.list.is_empty()
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
        self.empty_list();
        self.opens_level = false;
        self.exceeded = None;
        self.tracker = None;
        clear_after(&mut self.list, KEEP, mem::take(&mut self.peak_len));
        self.room_end = self.room_end.min(self.list.capacity());
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
        jobs.begin(usize::MAX);
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

    fn span(at: usize, end: usize) -> Job<()> {
        let mut job = job(at);
        job.span.end = end;
        job
    }

    unsafe fn other(_: &mut (), _: *const u8, _: usize, _: usize) -> Result<(), Full> {
        Err(Full)
    }

    #[test]
    fn levels_end_after_their_last_job() {
        for levels in 0..6 {
            let mut jobs = Jobs::new();
            jobs.begin(levels);
            // A binary tree: the jobs of a level push two jobs each.
            let (mut at, mut depth) = (1, 0);
            let mut push = |jobs: &mut Jobs<()>, depth| {
                let mut job = job(at);
                job.span.end = depth;
                jobs.push(job);
                at += 1;
            };
            push(&mut jobs, 1);
            push(&mut jobs, 1);
            while let Some(job) = jobs.pop() {
                depth = job.span.end;
                assert_eq!(jobs.levels_left(), levels - depth);
                push(&mut jobs, depth + 1);
                push(&mut jobs, depth + 1);
            }
            assert_eq!(depth, levels);
            assert_eq!(jobs.exceeded(), Some(QueueLimit::Depth));
            jobs.push(job(1));
            assert!(jobs.pop().is_none());
        }
    }

    #[test]
    fn adjacent_jobs_of_one_type_wait_as_one_run() {
        let mut jobs = Jobs::new();
        jobs.begin(usize::MAX);
        jobs.set_max_pending(4);
        let mut at = 0;
        let mut push = |jobs: &mut Jobs<()>, write| {
            at += 8;
            let mut job = span(at, at + 8);
            job.write = write;
            jobs.push(job);
        };
        for _ in 0..10_000 {
            push(&mut jobs, nothing as WriteJob<()>);
        }
        assert_eq!(jobs.exceeded(), None);
        // The other runs leave the queue together.
        for _ in 0..9_990 {
            assert!(jobs.pop().is_some());
        }
        for write in [other as WriteJob<()>, nothing, other] {
            push(&mut jobs, write);
        }
        assert_eq!(jobs.exceeded(), None);
        for _ in 0..3 {
            push(&mut jobs, nothing);
            push(&mut jobs, other);
        }
        assert!(matches!(jobs.exceeded(), Some(QueueLimit::Pending(_))));
        assert!(jobs.pop().is_none());
        // What the list held before does not count.
        jobs.clear();
        jobs.begin(usize::MAX);
        for i in 0..5 {
            push(&mut jobs, if i % 2 == 0 { nothing } else { other });
        }
        assert_eq!(jobs.exceeded(), None);
        for _ in 0..4 {
            push(&mut jobs, nothing);
            push(&mut jobs, other);
        }
        assert!(jobs.exceeded().is_some());
    }
}
