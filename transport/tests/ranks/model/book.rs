//! The record of a run, which is kept while the plan is executed.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use jstream_transport::rank::{Error, Status};

use super::plan::{Plan, Send, Setting, Wants, content, length, number};
use super::rules::{Hidden, Message, Receive, Rules};

/// The shortest message that a device announces by default, in bytes.
const LEAST_EAGER: u64 = 64 << 10;

/// The index of a thread of a plan.
pub(super) type Lane = usize;

/// The messages on their way to a rank, and its open receives. Used to post only receives that are
/// certain to end.
#[derive(Default)]
struct Desk {
    /// The number of messages of a source and tag that were sent and not received yet.
    coming: HashMap<(u32, u64), usize>,
    asking: HashMap<usize, Asking>,
    next: usize,
}

struct Asking {
    wants: Wants,
    /// True if the receive waits without a timeout.
    waits: bool,
}

/// A receive that has not ended.
#[derive(Debug)]
#[must_use]
pub(crate) struct Asked {
    key: usize,
    lane: Lane,
    pub(crate) wants: Wants,
    posted: usize,
}

/// The result of a receive.
pub(crate) enum End {
    Got(usize),
    Nothing,
    InVain,
}

pub(crate) struct Book {
    pub(crate) plan: Plan,
    resets: bool,
    messages: Mutex<HashMap<usize, Message>>,
    receives: Mutex<Vec<Receive>>,
    hidden: Mutex<Vec<Hidden>>,
    desks: Vec<Mutex<Desk>>,
    faults: Mutex<Vec<String>>,
    /// The number of messages that are still to be received, and of ends that are still to be
    /// noticed.
    left: AtomicUsize,
    has_failed: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap()
}

impl Book {
    /// Creates the record of a run. If connections reset (`resets`), messages of a rank that ends
    /// may be lost.
    pub(crate) fn new(plan: &Plan, resets: bool) -> Self {
        let survivors = (0..plan.size).filter(|rank| Some(*rank) != plan.victim);
        let due = |rank| {
            let sent = plan.sent_to(rank, |source| Some(source) != plan.victim);
            sent + usize::from(plan.victim.is_some())
        };
        Self {
            left: survivors.map(due).sum::<usize>().into(),
            plan: plan.clone(),
            resets,
            messages: Mutex::default(),
            receives: Mutex::default(),
            hidden: Mutex::default(),
            desks: (0..plan.size).map(|_| Mutex::default()).collect(),
            faults: Mutex::default(),
            has_failed: AtomicBool::new(false),
        }
    }

    pub(crate) fn is_victim(&self, rank: u32) -> bool {
        self.plan.victim == Some(rank)
    }

    /// Returns true if a thread may wait until its messages have been received.
    pub(crate) fn may_wait(&self, lane: Lane) -> bool {
        let task = &self.plan.tasks[lane];
        task.only_sends() && !self.is_victim(task.rank)
    }

    /// Returns true if the thread is the one that notices the end of another rank on behalf of its
    /// rank.
    pub(crate) fn mourns(&self, lane: Lane) -> bool {
        let rank = self.plan.tasks[lane].rank;
        let mut before = self.plan.tasks[..lane].iter();
        self.plan.victim.is_some_and(|victim| victim != rank)
            && !self.plan.tasks[lane].only_sends()
            && before.all(|task| task.rank != rank || task.only_sends())
    }

    /// Returns true if all messages have been received, or if a fault was found.
    pub(crate) fn is_over(&self) -> bool {
        self.left.load(Ordering::Acquire) == 0 || self.has_failed.load(Ordering::Acquire)
    }

    pub(crate) fn fault(&self, fault: impl Into<String>) {
        lock(&self.faults).push(fault.into());
        self.has_failed.store(true, Ordering::Release);
    }

    /// Records that a thread has noticed the end of the other rank.
    pub(crate) fn mourn(&self) {
        self.left.fetch_sub(1, Ordering::AcqRel);
    }

    /// Records that a message is about to be sent.
    pub(crate) fn begin(&self, (source, lane): (u32, Lane), order: usize, send: &Send) {
        let message = Message {
            source,
            lane,
            order,
            to: send.to,
            tag: send.tag,
            class: send.class,
            withdrawn: false,
            sent: false,
        };
        lock(&self.messages).insert(send.id, message);
        let mut desk = lock(&self.desks[send.to as usize]);
        *desk.coming.entry((source, send.tag)).or_default() += 1;
    }

    /// Records that a message was cancelled. `send` is its replacement.
    pub(crate) fn again(&self, id: usize, order: usize, send: &Send) {
        let mut messages = lock(&self.messages);
        let old = messages.get_mut(&id).unwrap();
        old.withdrawn = true;
        let new = Message {
            order,
            withdrawn: false,
            ..old.clone()
        };
        messages.insert(send.id, new);
    }

    pub(crate) fn sent(&self, id: usize) {
        lock(&self.messages).get_mut(&id).unwrap().sent = true;
    }

    /// Records that a send failed. That is correct if its source or its destination has ended.
    pub(crate) fn unsent(&self, to: u32, error: &Error) {
        let gone = matches!(error, Error::PeerGone { rank, .. } if *rank == to);
        // A rank that has received everything ends, and its answers may be lost with the
        // connection.
        if !(gone && (self.is_victim(to) || self.is_over())) {
            self.fault(format!("a message for {to} was not sent: {error}"));
        }
    }

    /// Records a receive that is about to be posted. Returns `None` if a receive that `waits` might
    /// then never end.
    pub(crate) fn ask(
        &self,
        rank: u32,
        lane: Lane,
        wants: Wants,
        waits: bool,
        now: usize,
    ) -> Option<Asked> {
        let mut desk = lock(&self.desks[rank as usize]);
        let key = desk.next;
        desk.next += 1;
        desk.asking.insert(key, Asking { wants, waits });
        let mut waiting = desk.asking.values().filter(|asking| asking.waits);
        if !waiting.all(|asking| self.is_sure(rank, &desk, &asking.wants)) {
            desk.asking.remove(&key);
            return None;
        }
        Some(Asked {
            key,
            lane,
            wants,
            posted: now,
        })
    }

    /// Returns true if there are enough messages for all receives that may match one of these.
    fn is_sure(&self, rank: u32, desk: &Desk, wants: &Wants) -> bool {
        let ends = |source: u32| self.is_victim(source) && source != rank;
        let from_one_that_ends = wants.from.is_some_and(ends);
        let takes_the_first = wants.tag.is_none() && (wants.from.is_none() || from_one_that_ends);
        if self.plan.setting.tight && !takes_the_first {
            // The wanted message may be queued behind one that no receive wants, and so may an end.
            return false;
        }
        if from_one_that_ends {
            return true;
        }
        let coming = desk.coming.iter();
        let coming = coming
            .filter(|((source, tag), _)| wants.matches(*source, *tag) && !ends(*source))
            .map(|(_, count)| *count);
        let asking = desk.asking.values();
        coming.sum::<usize>() >= asking.filter(|other| other.wants.meets(wants)).count()
    }

    pub(crate) fn answer(&self, rank: u32, asked: Asked, end: &End, now: usize) {
        let got = match end {
            End::Got(id) => Some(*id),
            _ => None,
        };
        let found = got.and_then(|id| lock(&self.messages).get(&id).cloned());
        {
            let mut desk = lock(&self.desks[rank as usize]);
            desk.asking.remove(&asked.key);
            let coming = found
                .as_ref()
                .and_then(|message| desk.coming.get_mut(&(message.source, message.tag)));
            if let Some(coming) = coming {
                *coming = coming.saturating_sub(1);
            }
        }
        let receive = Receive {
            rank,
            lane: asked.lane,
            wants: asked.wants,
            posted: asked.posted,
            ended: now,
            got,
            in_vain: matches!(end, End::InVain),
        };
        lock(&self.receives).push(receive);
        let counts = |message: Message| !self.is_victim(message.source) && !self.is_victim(rank);
        if found.is_some_and(counts) {
            self.left.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Removes a receive that was not posted after all.
    pub(crate) fn unask(&self, rank: u32, asked: &Asked) {
        lock(&self.desks[rank as usize]).asking.remove(&asked.key);
    }

    pub(crate) fn hide(&self, id: usize, rank: u32, lane: Lane, from: usize, to: usize) {
        lock(&self.hidden).push(Hidden {
            id,
            rank,
            lane,
            from,
            to,
        });
    }

    /// Records that a receive has timed out. Until then it may have been matched with an announced
    /// message, which other threads could not see.
    pub(crate) fn gave_up(&self, rank: u32, asked: &Asked) {
        let Setting { tight, eager, .. } = self.plan.setting;
        let may_be_announced =
            |id, class| tight || length(id, class) as u64 > eager.unwrap_or(LEAST_EAGER);
        let messages = lock(&self.messages);
        let mut hidden = lock(&self.hidden);
        for (id, message) in messages.iter() {
            let is_meant = message.to == rank
                && asked.wants.matches(message.source, message.tag)
                && may_be_announced(*id, message.class);
            let mut known = hidden.iter();
            let is_known = known.any(|other| (other.id, other.lane) == (*id, asked.lane));
            if is_meant && !is_known {
                hidden.push(Hidden {
                    id: *id,
                    rank,
                    lane: asked.lane,
                    from: 0,
                    to: 0,
                });
            }
        }
    }

    /// Returns the identity of a received message among the sent messages.
    pub(crate) fn message_of(&self, source: u32, tag: u64, bytes: u64) -> Option<usize> {
        let id = number(bytes);
        let messages = lock(&self.messages);
        let message = messages.get(&id)?;
        let is_it = (message.source, message.tag) == (source, tag)
            && length(id, message.class) as u64 == bytes;
        is_it.then_some(id)
    }

    /// Checks the bytes of a receive, and returns its result.
    pub(crate) fn got(&self, status: &Status, bytes: &[u8]) -> End {
        let Some(id) = self.message_of(status.source, status.tag, status.bytes) else {
            self.fault(format!("received a message that was not sent: {status:?}"));
            return End::Nothing;
        };
        let class = lock(&self.messages)[&id].class;
        if bytes != content(id, class) {
            self.fault(format!("message {id} is damaged"));
        }
        End::Got(id)
    }

    /// Checks the error of a receive, and returns its result.
    pub(crate) fn failed(&self, error: &Error) -> End {
        match error {
            Error::TimedOut { .. } | Error::Cancelled => End::Nothing,
            Error::PeerGone { rank, .. } if self.is_victim(*rank) => End::InVain,
            Error::NobodyLeft if self.plan.victim.is_some() => End::InVain,
            // A rank without further work ends.
            Error::NobodyLeft | Error::PeerGone { .. } if self.is_over() => End::InVain,
            Error::Truncated {
                length, rank, tag, ..
            } => {
                let id = self.message_of(*rank, *tag, *length);
                id.map_or(End::Nothing, End::Got)
            }
            // Only typed messages have such a tag. Their replacements after a cancellation are
            // untyped.
            Error::WrongElements { tag, .. } if *tag >= 1000 => {
                let id = usize::try_from(*tag - 1000).unwrap();
                let messages = lock(&self.messages);
                let was_withdrawn = messages.get(&id).is_some_and(|message| message.withdrawn);
                End::Got(id + usize::from(was_withdrawn))
            }
            error => {
                self.fault(format!("a receive has failed: {error}"));
                End::Nothing
            }
        }
    }

    /// Checks the rules, and returns all faults.
    pub(crate) fn faults(&self) -> Vec<String> {
        let mut faults = std::mem::take(&mut *lock(&self.faults));
        let messages = std::mem::take(&mut *lock(&self.messages));
        let receives = std::mem::take(&mut *lock(&self.receives));
        let hidden = std::mem::take(&mut *lock(&self.hidden));
        let rules = Rules {
            victim: self.plan.victim,
            resets: self.resets,
            messages,
            receives,
            hidden,
        };
        rules.check(&mut faults);
        faults
    }
}
