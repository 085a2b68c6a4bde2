//! State machine of pipelined calls and their dependencies, without I/O.
//!
//! Decisions 080 and 087 have the reasons.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

/// Maximum number of results that are remembered by call number.
const MOST_KNOWN: usize = 1024;

/// Maximum length of a chain of calls that wait for each other.
const LONGEST_CHAIN: usize = 64;

/// Time for which a call is held if the call that it names has not arrived or was returned as busy.
const PATIENCE: Duration = Duration::from_secs(5);

/// Limits for held calls that name a call which has not arrived, or that do not count as waiting
/// calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) calls: usize,
    pub(super) bytes: u64,
}

/// Queues of held calls, by the number of the call that they name.
pub(super) struct Queues<C> {
    queues: FxHashMap<u32, Queue<C>>,
    /// Objects that the most recent calls have returned.
    known: FxHashMap<u32, Option<u32>>,
    order: VecDeque<u32>,
    bounds: Bounds,
    /// Number and size of the calls that are held early (the named call has not arrived) or without
    /// a place.
    spare: Bounds,
    /// Stalled queues, which wait for room within the limit of waiting calls. The first call of
    /// each has its turn.
    stuck: VecDeque<u32>,
    has_ended: bool,
    /// True if calls are no longer held.
    is_ending: bool,
}

/// The held calls that name one call, in order of arrival.
struct Queue<C> {
    stage: Stage,
    /// Number of calls in the chain for which the named call waits.
    depth: usize,
    held: VecDeque<HeldQueue<C>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The call has not arrived, or was returned as busy and may be retried.
    Unseen,
    Open,
    /// The call has returned this object, and one of the held calls is being started.
    Gave(u32),
}

struct HeldQueue<C> {
    call: C,
    bytes: u64,
    deadline: Option<Instant>,
    /// Time by which the named call has to arrive.
    patience: Option<Instant>,
    /// True if the call counts as a waiting call.
    has_place: bool,
}

impl<C> HeldQueue<C> {
    fn until(&self) -> Option<Instant> {
        let both = self.deadline.into_iter().chain(self.patience);
        both.min()
    }

    /// Returns true if the call counts against the limits for early calls and calls without a
    /// place.
    fn is_spare(&self) -> bool {
        self.patience.is_some() || !self.has_place
    }
}

impl Bounds {
    const NONE: Self = Self { calls: 0, bytes: 0 };

    fn add(&mut self, bytes: u64) {
        self.calls = self.calls.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
    }

    fn remove<C>(&mut self, waiting: &HeldQueue<C>) {
        if waiting.is_spare() {
            self.calls = self.calls.saturating_sub(1);
            self.bytes = self.bytes.saturating_sub(waiting.bytes);
        }
    }
}

/// The reason why a call is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotHeld {
    /// A limit is reached.
    Full,
    /// The named call has returned no object.
    NotGiven,
    Overdue,
    /// The named call has not arrived in time.
    Missing,
}

/// The reason why a call names another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    /// The call is one of the object that the other call returns, so it has to start in order.
    Turn,
    /// The object is an argument. If it is known, the call does not wait for the calls of that
    /// object. Otherwise two calls could wait for each other, each with the turn for the object
    /// that the other one passes.
    Object,
}

/// Outcome of placing a call that names another one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placed<C> {
    Held,
    /// The call starts now with this object. The caller then asks for the [next](Queues::next) one.
    Begins(C, u32),
    /// The call needs this object, and gets no turn.
    Known(C, u32),
    Refused(C, NotHeld),
}

impl<C> Queues<C> {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            queues: FxHashMap::default(),
            known: FxHashMap::default(),
            order: VecDeque::new(),
            bounds,
            spare: Bounds::NONE,
            stuck: VecDeque::new(),
            has_ended: false,
            is_ending: false,
        }
    }

    /// Returns the length of the chain for which a call that names this one waits, or `None` if it
    /// is too long.
    pub(super) fn depth_behind(&self, number: u32) -> Option<usize> {
        let depth = match self.queues.get(&number) {
            // A call whose result is known waits for no other, so a chain behind it begins anew.
            Some(queue) if !matches!(queue.stage, Stage::Gave(_)) => queue.depth.saturating_add(1),
            _ => 0,
        };
        (depth <= LONGEST_CHAIN).then_some(depth)
    }

    /// Records the arrival of a call that others may name. Returns false if the number is in use.
    pub(super) fn open(&mut self, number: u32, depth: usize) -> bool {
        // A number that is used again while its result is remembered would get the calls of the
        // earlier one.
        if self.has_ended || self.known.contains_key(&number) {
            return false;
        }
        let queue = self.queues.entry(number).or_insert_with(|| Queue {
            stage: Stage::Unseen,
            depth,
            held: VecDeque::new(),
        });
        // Two calls with one number can't both return the result of that number.
        if queue.stage != Stage::Unseen {
            return false;
        }
        (queue.stage, queue.depth) = (Stage::Open, depth);
        for waiting in &mut queue.held {
            if waiting.has_place {
                self.spare.remove(waiting);
            }
            waiting.patience = None;
        }
        true
    }

    /// Places a call that names another one. It is held until `deadline` at most, if there is room.
    /// `has_place` is true if it counts as a waiting call.
    pub(super) fn hold(
        &mut self,
        (number, needs): (u32, Needs),
        (call, bytes): (C, u64),
        deadline: Option<Instant>,
        now: Instant,
        has_place: bool,
    ) -> Placed<C> {
        // After the end no thread would take the call out of its queue again.
        if self.has_ended || self.is_ending {
            return Placed::Refused(call, NotHeld::Full);
        }
        let stage = self.queues.get(&number).map(|queue| queue.stage);
        if let (Some(Stage::Gave(object)), Needs::Object) = (stage, needs) {
            return Placed::Known(call, object);
        }
        if stage.is_none() {
            match self.known.get(&number) {
                Some(Some(object)) if needs == Needs::Object => {
                    return Placed::Known(call, *object);
                }
                Some(Some(object)) => {
                    let object = *object;
                    // The queue exists from now on, so that calls of the same object that arrive
                    // next wait for the turn of this one.
                    self.enter(number, Stage::Gave(object));
                    return Placed::Begins(call, object);
                }
                Some(None) => return Placed::Refused(call, NotHeld::NotGiven),
                None => {}
            }
        }
        // A call that has not arrived may never do so, which its own deadline need not bound. So
        // such calls have a time limit and a share of the window of their own.
        let is_early = matches!(stage, None | Some(Stage::Unseen));
        let patience = is_early.then(|| now.checked_add(PATIENCE)).flatten();
        let waiting = HeldQueue {
            call,
            bytes,
            deadline,
            patience,
            has_place,
        };
        if waiting.is_spare() {
            let bytes = self.spare.bytes.saturating_add(bytes);
            if self.spare.calls >= self.bounds.calls || bytes > self.bounds.bytes {
                return Placed::Refused(waiting.call, NotHeld::Full);
            }
            self.spare.add(waiting.bytes);
        }
        let queue = self.enter(number, Stage::Unseen);
        queue.held.push_back(waiting);
        Placed::Held
    }

    /// Lets the first call of a queue wait for room within the limit of waiting calls; the calls
    /// behind it wait, too. Returns the call if the connection has ended or calls are no longer
    /// held.
    pub(super) fn wait_for_room(
        &mut self,
        number: u32,
        (call, bytes): (C, u64),
        deadline: Option<Instant>,
    ) -> Option<C> {
        let Some(queue) = self.queues.get_mut(&number) else {
            return Some(call);
        };
        if self.is_ending {
            return Some(call);
        }
        // Without a check of the bounds: the call was within the window when it arrived, and
        // refusing it now would lose its place in the order.
        self.spare.add(bytes);
        // It has its turn already, and the calls behind it must stay there.
        queue.held.push_front(HeldQueue {
            call,
            bytes,
            deadline,
            patience: None,
            has_place: false,
        });
        self.stuck.push_back(number);
        None
    }

    /// Returns true if a queue is stalled.
    pub(super) fn is_stuck(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// Resumes the queue that has been stalled for longest. Returns its first call, its number and
    /// the object.
    pub(super) fn resume_stalled(&mut self) -> Option<(C, u32, u32)> {
        while let Some(number) = self.stuck.pop_front() {
            let stage = self.queues.get(&number).map(|queue| queue.stage);
            // The stalled call may have expired meanwhile. Then the next one of its queue has the
            // turn.
            let next = self.next(number);
            if let (Some(call), Some(Stage::Gave(object))) = (next, stage) {
                return Some((call, number, object));
            }
        }
        None
    }

    /// Returns the queue of a number, and creates it if necessary.
    fn enter(&mut self, number: u32, stage: Stage) -> &mut Queue<C> {
        self.queues.entry(number).or_insert_with(|| Queue {
            stage,
            depth: 0,
            held: VecDeque::new(),
        })
    }

    /// Returns true if held calls name this call.
    pub(super) fn is_named(&self, number: u32) -> bool {
        let queue = self.queues.get(&number);
        queue.is_some_and(|queue| !queue.held.is_empty())
    }

    /// Records the object that a call has returned. Returns the first held call, which starts now.
    pub(super) fn gave(&mut self, number: u32, object: u32) -> Option<C> {
        self.record(number, Some(object));
        // The queue of the call exists since `open`. If it is gone, the connection has ended.
        self.queues.get_mut(&number)?.stage = Stage::Gave(object);
        self.next(number)
    }

    /// Returns the next held call after the previous one has started. Removes the queue if there is
    /// none.
    pub(super) fn next(&mut self, number: u32) -> Option<C> {
        let queue = self.queues.get_mut(&number)?;
        let Some(next) = queue.held.pop_front() else {
            // The result stays in `known`, so a later call finds it without a queue.
            self.queues.remove(&number);
            return None;
        };
        self.spare.remove(&next);
        Some(next.call)
    }

    /// Records that a call has returned no object. Returns the held calls that name it.
    pub(super) fn gave_none(&mut self, number: u32) -> Vec<C> {
        self.record(number, None);
        let queue = self.queues.remove(&number);
        let held = queue.into_iter().flat_map(|queue| queue.held);
        held.inspect(|waiting| self.spare.remove(waiting))
            .map(|waiting| waiting.call)
            .collect()
    }

    /// Records that a call was returned as busy. The held calls that name it wait for a retry.
    pub(super) fn went_back(&mut self, number: u32, now: Instant) {
        let Some(queue) = self.queues.get_mut(&number) else {
            return;
        };
        if queue.held.is_empty() {
            self.queues.remove(&number);
            return;
        }
        queue.stage = Stage::Unseen;
        for waiting in &mut queue.held {
            if !waiting.is_spare() {
                self.spare.add(waiting.bytes);
            }
            // The caller repeats the call only while it waits for it. The patience bounds how long
            // held calls depend on that.
            waiting.patience = now.checked_add(PATIENCE);
        }
    }

    fn record(&mut self, number: u32, gave: Option<u32>) {
        if self.has_ended {
            return;
        }
        if self.known.insert(number, gave).is_none() {
            self.order.push_back(number);
        }
        // The caller chooses how many results it names. Each takes a few bytes until the oldest is
        // forgotten.
        if self.order.len() > MOST_KNOWN {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }

    /// Returns the expiry of the most recent held call that names this one.
    pub(super) fn due_of(&self, number: u32) -> Option<Instant> {
        self.queues.get(&number)?.held.back()?.until()
    }

    /// Returns the earliest expiry of all held calls.
    pub(super) fn due(&self) -> Option<Instant> {
        let held = self.queues.values().flat_map(|queue| &queue.held);
        held.filter_map(HeldQueue::until).min()
    }

    /// Removes and returns the expired calls, with the reasons.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(C, NotHeld)> {
        let is_late = |then: Option<Instant>| then.is_some_and(|then| then <= now);
        self.remove_each(|waiting| {
            if is_late(waiting.deadline) {
                Some(NotHeld::Overdue)
            } else if is_late(waiting.patience) {
                Some(NotHeld::Missing)
            } else {
                None
            }
        })
    }

    /// Removes and returns all held calls, and stops holding calls.
    pub(super) fn refuse(&mut self) -> Vec<C> {
        self.is_ending = true;
        self.take_all()
    }

    /// Removes and returns all held calls.
    pub(super) fn take_all(&mut self) -> Vec<C> {
        let all = self.remove_each(|_| Some(NotHeld::Full));
        all.into_iter().map(|(call, _)| call).collect()
    }

    /// Removes and returns the calls for which `goes` returns a reason.
    fn remove_each(
        &mut self,
        goes: impl Fn(&HeldQueue<C>) -> Option<NotHeld>,
    ) -> Vec<(C, NotHeld)> {
        let mut gone = Vec::new();
        for queue in self.queues.values_mut() {
            for waiting in std::mem::take(&mut queue.held) {
                match goes(&waiting) {
                    Some(why) => {
                        self.spare.remove(&waiting);
                        gone.push((waiting.call, why));
                    }
                    None => queue.held.push_back(waiting),
                }
            }
        }
        self.queues
            // The queue of a call that has arrived stays without held calls, so that those which
            // name it next are not taken for early ones.
            .retain(|_, queue| queue.stage != Stage::Unseen || !queue.held.is_empty());
        gone
    }

    /// Ends all queues with the connection. Returns the held calls.
    pub(super) fn end(&mut self) -> Vec<C> {
        self.has_ended = true;
        let all = self.take_all();
        self.queues.clear();
        // The methods that end later find nothing to resume, and nothing keeps a call of the
        // connection.
        self.stuck.clear();
        self.known.clear();
        self.order.clear();
        all
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]
mod tests;
