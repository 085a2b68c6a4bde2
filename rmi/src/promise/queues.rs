//! Which calls wait for which: without I/O.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;

/// How many results are known by their calls.
const MOST_KNOWN: usize = 1024;

/// How many calls may wait for each other in a row.
const LONGEST_CHAIN: usize = 64;

/// How long a call is held that names one which has not come, or went back.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many calls may be held that name such a one, or have no place among those that wait, and how many bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    pub(super) calls: usize,
    pub(super) bytes: u64,
}

/// The calls that others name, by their numbers, and those that are held.
pub(super) struct Queues<C> {
    queues: FxHashMap<u32, Queue<C>>,
    /// What the last ones have given.
    known: FxHashMap<u32, Option<u32>>,
    order: VecDeque<u32>,
    bounds: Bounds,
    /// Those that are held for calls which have not come, or without a place.
    spare: Bounds,
    /// Rows that wait for a place: the first of each has the turn.
    stuck: VecDeque<u32>,
    has_ended: bool,
    /// Nothing is held any more.
    is_ending: bool,
}

/// Those that name one call, in the order in which they have come.
struct Queue<C> {
    stage: Stage,
    /// How many it waits for in a row.
    depth: usize,
    held: VecDeque<HeldQueue<C>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// It has not come, or went back and may come again.
    Unseen,
    Open,
    /// It has given an object, of which one of those is being begun.
    Gave(u32),
}

struct HeldQueue<C> {
    call: C,
    bytes: u64,
    deadline: Option<Instant>,
    /// When the call that it names has to have come.
    patience: Option<Instant>,
    /// Whether it counts among those that wait.
    has_place: bool,
}

impl<C> HeldQueue<C> {
    fn until(&self) -> Option<Instant> {
        let both = self.deadline.into_iter().chain(self.patience);
        both.min()
    }

    /// Whether it is bounded as one that is early, or has no place.
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

/// Why a call is not held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotHeld {
    /// There are as many as may be, for now.
    Full,
    /// What it names has given nothing.
    NotGiven,
    Overdue,
    /// What it names does not come.
    Missing,
}

/// What becomes of a call that names another one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Placed<C> {
    Held,
    /// It begins now, and the next one [behind it](Queues::next).
    Begins(C, u32),
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

    /// How many a call that names this one waits for in a row. None where these are too many.
    pub(super) fn depth_behind(&self, number: u32) -> Option<usize> {
        let depth = match self.queues.get(&number) {
            Some(queue) if !matches!(queue.stage, Stage::Gave(_)) => queue.depth.saturating_add(1),
            _ => 0,
        };
        (depth <= LONGEST_CHAIN).then_some(depth)
    }

    /// A call has come that others may name. False when there is such a one.
    pub(super) fn open(&mut self, number: u32, depth: usize) -> bool {
        if self.has_ended || self.known.contains_key(&number) {
            return false;
        }
        let queue = self.queues.entry(number).or_insert_with(|| Queue {
            stage: Stage::Unseen,
            depth,
            held: VecDeque::new(),
        });
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

    /// A call has come that names another one, and waits until then at most, where there is room; with a place among those
    /// that wait, or without.
    pub(super) fn place(
        &mut self,
        number: u32,
        (call, bytes): (C, u64),
        deadline: Option<Instant>,
        now: Instant,
        has_place: bool,
    ) -> Placed<C> {
        if self.has_ended || self.is_ending {
            return Placed::Refused(call, NotHeld::Full);
        }
        let stage = self.queues.get(&number).map(|queue| queue.stage);
        if stage.is_none() {
            match self.known.get(&number) {
                Some(Some(object)) => {
                    let object = *object;
                    self.enter(number, Stage::Gave(object));
                    return Placed::Begins(call, object);
                }
                Some(None) => return Placed::Refused(call, NotHeld::NotGiven),
                None => {}
            }
        }
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

    /// A call that has the turn of its row is to wait for a place: the others do behind it. Given back where the connection
    /// has ended, or calls are not held any more.
    pub(super) fn stand(
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
        self.spare.add(bytes);
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

    /// Whether a row waits for a place.
    pub(super) fn is_stuck(&self) -> bool {
        !self.stuck.is_empty()
    }

    /// There may be a place: the call that has waited longest for one, of that number, and its object.
    pub(super) fn go_on(&mut self) -> Option<(C, u32, u32)> {
        while let Some(number) = self.stuck.pop_front() {
            let stage = self.queues.get(&number).map(|queue| queue.stage);
            let next = self.next(number);
            if let (Some(call), Some(Stage::Gave(object))) = (next, stage) {
                return Some((call, number, object));
            }
        }
        None
    }

    /// The queue of that number; a new one where there is none.
    fn enter(&mut self, number: u32, stage: Stage) -> &mut Queue<C> {
        self.queues.entry(number).or_insert_with(|| Queue {
            stage,
            depth: 0,
            held: VecDeque::new(),
        })
    }

    /// Whether calls wait for this one.
    pub(super) fn is_named(&self, number: u32) -> bool {
        let queue = self.queues.get(&number);
        queue.is_some_and(|queue| !queue.held.is_empty())
    }

    /// A call has given this object: the first of those that name it begins now.
    pub(super) fn gave(&mut self, number: u32, object: u32) -> Option<C> {
        self.note(number, Some(object));
        self.queues.get_mut(&number)?.stage = Stage::Gave(object);
        self.next(number)
    }

    /// One of those that name a call has begun: the next one does.
    pub(super) fn next(&mut self, number: u32) -> Option<C> {
        let queue = self.queues.get_mut(&number)?;
        let Some(next) = queue.held.pop_front() else {
            self.queues.remove(&number);
            return None;
        };
        self.spare.remove(&next);
        Some(next.call)
    }

    /// A call has given nothing: those that name it.
    pub(super) fn gave_none(&mut self, number: u32) -> Vec<C> {
        self.note(number, None);
        let queue = self.queues.remove(&number);
        let held = queue.into_iter().flat_map(|queue| queue.held);
        held.inspect(|waiting| self.spare.remove(waiting))
            .map(|waiting| waiting.call)
            .collect()
    }

    /// A call went back, and may come again: those that name it wait for that.
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
            waiting.patience = now.checked_add(PATIENCE);
        }
    }

    fn note(&mut self, number: u32, gave: Option<u32>) {
        if self.has_ended {
            return;
        }
        if self.known.insert(number, gave).is_none() {
            self.order.push_back(number);
        }
        if self.order.len() > MOST_KNOWN {
            if let Some(oldest) = self.order.pop_front() {
                self.known.remove(&oldest);
            }
        }
    }

    /// When the last that was held of those that name this one is not to be held any more.
    pub(super) fn due_of(&self, number: u32) -> Option<Instant> {
        self.queues.get(&number)?.held.back()?.until()
    }

    /// When the first of those that are held is not to be held any more.
    pub(super) fn due(&self) -> Option<Instant> {
        let held = self.queues.values().flat_map(|queue| &queue.held);
        held.filter_map(HeldQueue::until).min()
    }

    /// Those that are not held any more by now, and why.
    pub(super) fn expire(&mut self, now: Instant) -> Vec<(C, NotHeld)> {
        let is_late = |then: Option<Instant>| then.is_some_and(|then| then <= now);
        self.take(|waiting| {
            if is_late(waiting.deadline) {
                Some(NotHeld::Overdue)
            } else if is_late(waiting.patience) {
                Some(NotHeld::Missing)
            } else {
                None
            }
        })
    }

    /// All that are held, and none is from now on.
    pub(super) fn refuse(&mut self) -> Vec<C> {
        self.is_ending = true;
        self.take_all()
    }

    /// All that are held.
    pub(super) fn take_all(&mut self) -> Vec<C> {
        let all = self.take(|_| Some(NotHeld::Full));
        all.into_iter().map(|(call, _)| call).collect()
    }

    /// Those that `goes` says so of.
    fn take(&mut self, goes: impl Fn(&HeldQueue<C>) -> Option<NotHeld>) -> Vec<(C, NotHeld)> {
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
            .retain(|_, queue| queue.stage != Stage::Unseen || !queue.held.is_empty());
        gone
    }

    /// The connection has ended: what was held.
    pub(super) fn end(&mut self) -> Vec<C> {
        self.has_ended = true;
        let all = self.take_all();
        self.queues.clear();
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
