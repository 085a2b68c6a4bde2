//! The admission of the calls of a server.
//!
//! Invariants: the number of running calls is the number of permits that exist. If calls are queued
//! whose callers may take a free place, a thread is starting queued calls. Requests, and the
//! values that they keep, are dropped and answered without the lock.
//!
//! Decision 124 has the reasons.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::task::{Wake, Waker};
use std::time::{Duration, Instant};

use jstream_active::{Peer, Request};
use jstream_sync::lock;
use jstream_sync::panics::catch_panic;

use crate::session::admission::callers::{CallerKey, CallerTable, QuotaExceeded, QuotaUse};
use crate::session::admission::limit::{AdaptiveLimit, MethodKey};
use crate::session::admission::options::AdmissionOptions;
use crate::session::clock::{Alarm, Clock};

/// Bounds of the time after which a caller should try again, if that is an estimate.
const SHORTEST_RETRY: Duration = Duration::from_millis(10);
const LONGEST_RETRY: Duration = Duration::from_secs(10);

/// Minimum pause between two searches for expired calls.
const SWEEP_PAUSE: Duration = Duration::from_millis(5);

/// State of the [admission](AdmissionOptions) of a server's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct AdmissionStatus {
    /// Number of calls that may run at once, now. `usize::MAX` without a limit.
    pub limit: usize,
    /// Number of calls that run, calls of the registry included.
    pub running: usize,
    /// Number of calls that wait until they may run.
    pub queued: usize,
    /// Number of callers that are connected, or whose use of their quotas is remembered.
    pub callers: usize,
    /// Calls that did not run, by the reason.
    pub refused: RefusalCounts,
}

impl AdmissionStatus {
    /// Reports the state to the recorder of [`metrics`]. A program calls this on a schedule, such
    /// as before its metrics are read.
    ///
    /// | name | kind | |
    /// |---|---|---|
    /// | `jstream_admission_limit` | gauge | calls that may run at once |
    /// | `jstream_admission_running` | gauge | calls that run |
    /// | `jstream_admission_queued` | gauge | calls that wait |
    /// | `jstream_admission_refused` | counter | calls that did not run, with the label `reason`: a field of [`RefusalCounts`] |
    #[cfg(feature = "metrics")]
    pub fn report(&self) {
        for (name, value) in [
            ("jstream_admission_limit", self.limit),
            ("jstream_admission_running", self.running),
            ("jstream_admission_queued", self.queued),
        ] {
            metrics::gauge!(name).set(value as f64);
        }
        let refused = &self.refused;
        for (reason, count) in [
            ("queue_full", refused.queue_full),
            ("queue_time", refused.queue_time),
            ("deadline", refused.deadline),
            ("rate", refused.rate),
            ("running_per_caller", refused.running_per_caller),
        ] {
            metrics::counter!("jstream_admission_refused", "reason" => reason).absolute(count);
        }
    }

    /// Returns the state of a server without limits.
    pub(crate) fn unlimited() -> Self {
        Self {
            limit: usize::MAX,
            ..Self::default()
        }
    }
}

/// Numbers of calls that did not run, by the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct RefusalCounts {
    /// The queue had no room for one more call of the caller
    /// ([`AdmissionOptions::max_queued`]).
    pub queue_full: u64,
    /// The call waited for too long ([`AdmissionOptions::max_queue_time`]).
    pub queue_time: u64,
    /// The deadline of the call passed while it waited.
    pub deadline: u64,
    /// The caller made too many calls per second ([`AdmissionOptions::calls_per_second`]).
    pub rate: u64,
    /// The caller had too many calls at once ([`AdmissionOptions::max_running_per_caller`]).
    pub running_per_caller: u64,
}

/// The answer to a call that asks for admission.
pub(crate) enum Asked {
    Runs(Box<RunPermit>),
    /// The call should be [queued](CallerHandle::queue).
    Waits,
    /// The call is refused, and may be repeated after this time.
    Refused(Duration),
}

/// The end of a call's wait in the queue.
pub(crate) enum QueueEnd {
    Starts(Box<RunPermit>),
    /// The deadline of the call has passed.
    Overdue,
    /// The call has waited for too long, and may be repeated after this time.
    Refused(Duration),
    /// The connection of the call has ended, or the server is shutting down.
    Ended,
}

/// Continues a call whose wait in the queue has ended.
pub(crate) type LeaveQueue = fn(Request, QueueEnd);

struct QueuedCall {
    request: Request,
    leave: LeaveQueue,
    connection: u64,
    deadline: Option<Instant>,
    /// Time until which it waits, by the clock of the server.
    until: Option<Instant>,
}

impl QueuedCall {
    fn due(&self) -> Option<Instant> {
        [self.deadline, self.until].into_iter().flatten().min()
    }

    fn is_late(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }
}

/// The admission of the calls of a server, over all its listeners.
pub(crate) struct AdmissionControl {
    max_queue_time: Duration,
    clock: Clock,
    state: Mutex<AdmissionState>,
    /// Alarm for the next expiry of a queued call.
    alarm: OnceLock<Option<Alarm>>,
}

struct AdmissionState {
    limit: AdaptiveLimit,
    running: usize,
    callers: CallerTable<QueuedCall>,
    refused: RefusalCounts,
    /// Moving average of the time that calls run.
    run_time: Duration,
    /// True while a thread starts queued calls.
    is_starting: bool,
    /// Time for which the alarm is set.
    due: Option<Instant>,
}

impl AdmissionState {
    /// Returns the number of calls that may begin, and the limit.
    fn places(&self) -> (usize, usize) {
        let limit = self.limit.limit();
        (limit.saturating_sub(self.running), limit)
    }

    /// Returns the time in which the queue will have moved on, as far as that can be estimated.
    fn estimated_wait(&self) -> Duration {
        // One more than are queued: the call that asks would be the last.
        let calls = u32::try_from(self.callers.queued().saturating_add(1)).unwrap_or(u32::MAX);
        let limit = u32::try_from(self.limit.limit()).unwrap_or(u32::MAX);
        let wait = self.run_time.saturating_mul(calls).checked_div(limit);
        wait.unwrap_or_default()
            // The estimate is bad if the first calls of a server have not ended. The bounds keep
            // clients from coming back at once, or never.
            .clamp(SHORTEST_RETRY, LONGEST_RETRY)
    }
}

impl AdmissionControl {
    pub(crate) fn new(options: &AdmissionOptions, clock: &Clock) -> Arc<Self> {
        Arc::new(Self {
            max_queue_time: options.max_queue_time,
            clock: clock.clone(),
            state: Mutex::new(AdmissionState {
                limit: AdaptiveLimit::new(options, Instant::now()),
                running: 0,
                callers: CallerTable::new(options),
                refused: RefusalCounts::default(),
                run_time: Duration::ZERO,
                is_starting: false,
                due: None,
            }),
            alarm: OnceLock::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, AdmissionState> {
        lock(&self.state)
    }

    pub(crate) fn status(&self) -> AdmissionStatus {
        let state = self.state();
        AdmissionStatus {
            limit: state.limit.limit(),
            running: state.running,
            queued: state.callers.queued(),
            callers: state.callers.len(),
            refused: state.refused,
        }
    }

    /// Adds a connection with a unique number.
    pub(crate) fn connect(self: &Arc<Self>, peer: &Peer, connection: u64) -> Arc<CallerHandle> {
        let key = CallerKey::from_peer(peer);
        // Quotas and latencies use the system clock. A paused clock is for deadlines, and would
        // give a burst that never fills.
        let caller = self.state().callers.connect(key, Instant::now());
        Arc::new(CallerHandle {
            control: self.clone(),
            caller,
            connection,
        })
    }

    fn permit(self: &Arc<Self>, caller: u64, is_counted: bool) -> Box<RunPermit> {
        Box::new(RunPermit {
            control: self.clone(),
            caller,
            is_counted,
            method: None,
            is_completed: false,
        })
    }

    /// Starts queued calls while the limit allows more. A call that ends at once gives its place to
    /// the next one, which the same thread starts in a loop instead of recursively.
    fn start_queued(self: &Arc<Self>) {
        {
            let mut state = self.state();
            // The thread that starts calls looks at the queue again after each, so it finds the
            // place that made this thread come here.
            if state.is_starting || state.callers.queued() == 0 {
                return;
            }
            state.is_starting = true;
        }
        loop {
            let mut state = self.state();
            let (free, limit) = state.places();
            let next = state.callers.pop(free, limit);
            let Some((caller, call)) = next else {
                // Under the lock that has shown the queue to be empty or the limit to be reached. A
                // call that is queued later finds the flag cleared.
                state.is_starting = false;
                return;
            };
            state.running = state.running.saturating_add(1);
            let is_late = call.is_late(self.clock.now());
            // Its alarm may not have fired yet. A call whose deadline has passed never runs.
            if is_late {
                state.refused.deadline = state.refused.deadline.saturating_add(1);
            }
            drop(state);
            // Also for a late call: `pop` has counted it as running, which the drop of the permit
            // takes back.
            let permit = self.permit(caller, true);
            let end = match is_late {
                true => QueueEnd::Overdue,
                false => QueueEnd::Starts(permit),
            };
            // A call that panics gives its permit back, but can't start the next one: this thread
            // is doing that.
            catch_panic(|| (call.leave)(call.request, end));
        }
    }

    /// Sets the alarm to search for expired calls at `due`. If no alarm is available, they are
    /// found when they are to start.
    fn set_alarm(self: &Arc<Self>, due: Option<Instant>) {
        let Some(mut due) = due else { return };
        let Some(alarm) = self.alarm.get_or_init(|| Alarm::new(&self.clock).ok()) else {
            return;
        };
        // The lock is not held while the alarm is set: that may fire at once in this thread, and
        // the sweep takes the lock.
        let mut state = self.state();
        if state.due.is_some_and(|set| set <= due) {
            return;
        }
        state.due = Some(due);
        drop(state);
        let sweep = Waker::from(Arc::new(Sweep(Arc::downgrade(self))));
        loop {
            // The alarm may fire and sweep at once. Another thread may have set an earlier time.
            alarm.set(due, &sweep);
            match self.state().due {
                Some(sooner) if sooner < due => due = sooner,
                _ => return,
            }
        }
    }

    /// Ends the wait of the calls that have expired.
    fn sweep(self: &Arc<Self>) {
        let now = self.clock.now();
        let mut state = self.state();
        // Before the search, so that a call which is queued meanwhile sets the alarm.
        state.due = None;
        let expired = state.callers.remove(Instant::now(), |call| {
            call.due().is_some_and(|due| due <= now)
        });
        let retry_after = state.estimated_wait();
        let next = state.callers.iter().filter_map(QueuedCall::due).min();
        let ended: Vec<_> = expired
            .into_iter()
            .map(|call| match call.is_late(now) {
                true => {
                    state.refused.deadline = state.refused.deadline.saturating_add(1);
                    (call, QueueEnd::Overdue)
                }
                false => {
                    state.refused.queue_time = state.refused.queue_time.saturating_add(1);
                    (call, QueueEnd::Refused(retry_after))
                }
            })
            .collect();
        // Answers are sent, and promises dropped, without the lock.
        drop(state);
        // The pause bounds the work if many calls expire one after the other.
        let earliest = now.checked_add(SWEEP_PAUSE);
        self.set_alarm(next.max(next.and(earliest)));
        for (call, end) in ended {
            (call.leave)(call.request, end);
        }
    }
}

impl fmt::Debug for AdmissionControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status().fmt(f)
    }
}

/// Waker that searches for expired calls.
struct Sweep(Weak<AdmissionControl>);

impl Wake for Sweep {
    fn wake(self: Arc<Self>) {
        if let Some(control) = self.0.upgrade() {
            control.sweep();
        }
    }
}

/// Guard of a connection: the caller that it belongs to.
pub(crate) struct CallerHandle {
    control: Arc<AdmissionControl>,
    caller: u64,
    connection: u64,
}

impl CallerHandle {
    /// Takes a call from the quota of the caller, and asks whether it may run. If `has_paid` is
    /// true, the call has counted for the rate before. If `is_exempt` is true, the limit does not
    /// apply, and lookups have an allowance of their own.
    pub(crate) fn ask(&self, has_paid: bool, is_exempt: bool) -> Asked {
        let mut guard = self.control.state();
        let state = &mut *guard;
        let quota_use = match (has_paid, is_exempt) {
            (true, _) => QuotaUse::Paid,
            (false, true) => QuotaUse::Lookup,
            (false, false) => QuotaUse::Call,
        };
        match state.callers.take(self.caller, quota_use, Instant::now()) {
            Ok(()) => {}
            Err(QuotaExceeded::Rate(wait)) => {
                state.refused.rate = state.refused.rate.saturating_add(1);
                return Asked::Refused(wait);
            }
            Err(QuotaExceeded::Running) => {
                let count = &mut state.refused.running_per_caller;
                *count = count.saturating_add(1);
                return Asked::Refused(state.run_time.clamp(SHORTEST_RETRY, LONGEST_RETRY));
            }
        }
        let (free, limit) = state.places();
        let may_begin = || state.callers.may_take_place(self.caller, free, limit);
        let runs_now = is_exempt || (state.callers.queued() == 0 && may_begin());
        if !runs_now {
            // The limit may grow only if it is in the way of calls.
            state.limit.record_reached();
            return Asked::Waits;
        }
        state.running = state.running.saturating_add(1);
        state.callers.begin(self.caller);
        drop(guard);
        Asked::Runs(self.control.permit(self.caller, !is_exempt))
    }

    /// Queues a call, which `leave` continues: within this call, or later. If there is no room, the
    /// call is returned, with the time after which it may be repeated.
    pub(crate) fn queue(
        &self,
        request: Request,
        deadline: Option<Instant>,
        leave: LeaveQueue,
    ) -> Option<(Request, Duration)> {
        let control = &self.control;
        // Without an end of the wait, a call would wait for its deadline.
        let until = control.clock.now().checked_add(control.max_queue_time);
        let call = QueuedCall {
            request,
            leave,
            connection: self.connection,
            deadline,
            until,
        };
        // Computed before the call moves into the queue, from which another thread may take it.
        let due = call.due();
        let mut state = control.state();
        let refused = match state.callers.has_room(self.caller) {
            true => state.callers.push(self.caller, call),
            false => Some(call),
        };
        if let Some(call) = refused {
            state.refused.queue_full = state.refused.queue_full.saturating_add(1);
            return Some((call.request, state.estimated_wait()));
        }
        drop(state);
        control.set_alarm(due);
        // A call may have ended meanwhile.
        control.start_queued();
        None
    }

    /// Ends the wait of all queued calls of the connection.
    pub(crate) fn end_queued(&self) {
        let mut state = self.control.state();
        // Only those of this connection: other connections of the caller go on.
        let own = |call: &QueuedCall| call.connection == self.connection;
        let ended = state.callers.remove(Instant::now(), own);
        drop(state);
        for call in ended {
            (call.leave)(call.request, QueueEnd::Ended);
        }
    }
}

impl Drop for CallerHandle {
    fn drop(&mut self) {
        let now = Instant::now();
        self.control.state().callers.disconnect(self.caller, now);
        // The places that were left to this caller may be free for others.
        self.control.start_queued();
    }
}

/// The right of a call to run. Dropping it ends the call, and starts a queued one.
pub(crate) struct RunPermit {
    control: Arc<AdmissionControl>,
    caller: u64,
    /// False if the limit does not apply to the call.
    is_counted: bool,
    /// The method, and the time at which it began.
    method: Option<(MethodKey, Instant)>,
    /// True if the method has returned a result.
    is_completed: bool,
}

impl RunPermit {
    /// Records that the method begins.
    pub(crate) fn begin(&mut self, method: MethodKey) {
        self.method = Some((method, Instant::now()));
    }

    /// Ends the call, whose method has returned a result. Only the latency of such calls is
    /// measured: others end when their callers want it.
    pub(crate) fn complete(mut self) {
        // The drop at the end of this function records the latency and starts the next call.
        self.is_completed = true;
    }
}

impl Drop for RunPermit {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut state = self.control.state();
        // The permit exists, so it was counted. The subtraction can't fall below zero.
        state.running = state.running.saturating_sub(1);
        state.callers.end(self.caller, now);
        if let Some((method, begun)) = self.method {
            let took = now.saturating_duration_since(begun);
            // A moving average over about 16 calls, which also counts calls without a result: their
            // time was taken from others all the same.
            let average = state.run_time.saturating_mul(15).saturating_add(took);
            state.run_time = average.checked_div(16).unwrap_or_default();
            if self.is_completed && self.is_counted {
                state.limit.record(method, took, now);
            }
        }
        // Starting calls takes the lock.
        drop(state);
        self.control.start_queued();
    }
}

impl fmt::Debug for RunPermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunPermit").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::mpsc;
    use std::thread;

    use jstream_active::{Handlers, Settings};
    use jstream_base::{Address, Options};

    use super::*;

    /// Returns this number of requests, and both sides of the connection over which they came.
    fn requests(count: usize) -> (Vec<Request>, [Peer; 2]) {
        let address: Address = "inproc://admission-control".parse().unwrap();
        let listener = jstream_endpoint::listen(&address, &Options::default()).unwrap();
        let sending = thread::spawn(move || {
            let endpoint = jstream_endpoint::connect(&address, &Options::default()).unwrap();
            let peer = Peer::join(endpoint, &Handlers::none(), Settings::default()).unwrap();
            let handler = peer.handler("keep").unwrap();
            for _ in 0..count {
                drop(peer.request(handler, 0, &[]).unwrap());
            }
            peer
        });
        let (sender, receiver) = mpsc::channel();
        let keep = move |request| sender.send(request).unwrap();
        let handlers = Handlers::builder().on("keep", keep).build();
        let endpoint = listener.accept().unwrap().establish().unwrap();
        let peer = Peer::join(endpoint, &handlers, Settings::default()).unwrap();
        let mut requests = Vec::new();
        testing::until(|| {
            peer.poll();
            requests.extend(receiver.try_iter());
            requests.len() == count
        });
        (requests, [peer, sending.join().unwrap()])
    }

    /// The permit of a call that panics is free for the calls behind it.
    #[test]
    fn queued_calls_start_after_one_that_panics() {
        let (mut requests, [peer, _other]) = requests(2);
        let mut options = AdmissionOptions::default();
        (options.min_running, options.max_running) = (1, 1);
        let control = AdmissionControl::new(&options, &Clock::SYSTEM);
        let caller = control.connect(&peer, 1);
        let Asked::Runs(permit) = caller.ask(false, false) else {
            panic!("no call runs");
        };
        let started: Started = Arc::default();
        for leave in [panic_at_start as LeaveQueue, record_start] {
            let mut request = requests.pop().unwrap();
            request.keep(Box::new(started.clone()));
            assert!(caller.queue(request, None, leave).is_none());
        }
        assert_eq!(control.status().queued, 2);

        let _ = catch_unwind(AssertUnwindSafe(|| drop(permit)));
        assert_eq!(*lock(&started), ["panics", "runs"]);
        let status = control.status();
        assert_eq!((status.running, status.queued), (0, 0));
    }

    type Started = Arc<Mutex<Vec<&'static str>>>;

    fn panic_at_start(request: Request, end: QueueEnd) {
        record(request, "panics");
        let _permit = end;
        panic!("as it should");
    }

    fn record_start(request: Request, end: QueueEnd) {
        assert!(matches!(end, QueueEnd::Starts(_)));
        record(request, "runs");
    }

    fn record(mut request: Request, name: &'static str) {
        let started = request.take_kept::<Started>().unwrap();
        lock(&started).push(name);
    }
}
