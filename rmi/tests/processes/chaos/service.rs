//! The called objects, and the faults that can be planted in them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, ready};
use std::time::{Duration, Instant};

use jstream_rmi::{Remote, Server, Stream, Stub, remote};
use jstream_transport::Reminder;

use crate::chaos::ledger::{Ledger, Note};

/// Placeholder for an item that could not be received.
pub(crate) const NO_ITEM: u64 = u64::MAX;

/// Maximum number of references that a server keeps.
const KEPT: usize = 32;

#[remote]
pub(crate) trait Service {
    fn plain(&self, call: u64, n: u64) -> u64;
    /// Waits for `wait` microseconds.
    async fn later(&self, call: u64, n: u64, wait: u64) -> u64;
    fn down(&self, call: u64, count: u64) -> Stream<u64>;
    /// Returns the sum, or `None` if an item fails.
    fn up(&self, call: u64, numbers: Stream<u64>) -> Option<u64>;
    fn through(&self, call: u64, numbers: Stream<u64>) -> Stream<u64>;
    fn large(&self, call: u64, numbers: &[u64]) -> Vec<u64>;
    /// Calls `who` back `times` times. Returns the number of answers, or `None` if one of them was
    /// wrong.
    fn call_back(&self, call: u64, who: Remote<dyn Listener>, times: u64) -> Option<u64>;
    /// Keeps the reference and calls some references that were kept earlier.
    fn keep(&self, call: u64, who: Remote<dyn Listener>) -> bool;
    fn give(&self, call: u64, start: u64) -> Remote<dyn Counter>;
}

#[remote]
pub(crate) trait Listener {
    fn hear(&self, call: u64, n: u64) -> u64;
}

#[remote]
pub(crate) trait Counter {
    fn count(&self, call: u64) -> u64;
}

/// Planted faults, which check that the test detects faults. They are active if the flag is true.
#[derive(Clone, Copy)]
pub(crate) struct Faults(pub(crate) bool);

impl Faults {
    /// Returns true if the fault with the number `turn` is planted in this call. Each fault is
    /// planted in one of 16 calls.
    pub(crate) fn of(self, call: u64, turn: u64) -> bool {
        self.0 && call % 16 == turn
    }
}

pub(crate) struct Here {
    pub(crate) server: Server,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) faults: Faults,
    pub(crate) kept: Mutex<VecDeque<Remote<dyn Listener>>>,
}

impl Here {
    fn ran(&self, call: u64) {
        if self.faults.of(call, 1) {
            self.ledger.note(call, Note::Ran);
        }
        if !self.faults.of(call, 2) {
            self.ledger.note(call, Note::Ran);
        }
    }

    /// Calls a listener. Returns whether it answered, and whether the answer was correct (true on
    /// an error).
    fn tell(&self, who: &ListenerStub, n: u64) -> (bool, bool) {
        let call = self.ledger.begin();
        match who.hear(call, n).wait() {
            Ok(heard) => {
                let is_right = *heard.get() == n + 1;
                let note = if is_right { Note::Result } else { Note::Wrong };
                self.ledger.note(call, note);
                (true, is_right)
            }
            Err(error) => {
                self.ledger.note(call, Note::Failed(error.outcome()));
                (false, true)
            }
        }
    }
}

#[remote]
impl Service for Here {
    fn plain(&self, call: u64, n: u64) -> u64 {
        self.ran(call);
        if self.faults.of(call, 3) { n } else { n + 1 }
    }

    async fn later(&self, call: u64, n: u64, wait: u64) -> u64 {
        self.ran(call);
        let then = Instant::now() + Duration::from_micros(wait);
        let reminder = Reminder::new().unwrap();
        poll_fn(|context| {
            if then <= Instant::now() {
                return Poll::Ready(());
            }
            reminder.set(then, context.waker());
            Poll::Pending
        })
        .await;
        n + 1
    }

    fn down(&self, call: u64, count: u64) -> Stream<u64> {
        self.ran(call);
        Stream::of(0..count)
    }

    fn up(&self, call: u64, numbers: Stream<u64>) -> Option<u64> {
        self.ran(call);
        let numbers = numbers.map(|n| n.ok().map(|n| *n.get()));
        numbers.sum()
    }

    fn through(&self, call: u64, mut numbers: Stream<u64>) -> Stream<u64> {
        self.ran(call);
        let mut has_failed = false;
        Stream::polled(move |context| {
            if has_failed {
                return Poll::Ready(None);
            }
            let item = ready!(numbers.poll_next(context));
            Poll::Ready(item.map(|n| match n {
                Ok(n) => *n.get() + 1,
                Err(_) => {
                    has_failed = true;
                    NO_ITEM
                }
            }))
        })
    }

    fn large(&self, call: u64, numbers: &[u64]) -> Vec<u64> {
        self.ran(call);
        numbers.iter().map(|n| n + 1).collect()
    }

    fn call_back(&self, call: u64, who: Remote<dyn Listener>, times: u64) -> Option<u64> {
        self.ran(call);
        let told: Vec<_> = (0..times).map(|n| self.tell(&who, n)).collect();
        let answers = told.iter().filter(|(answered, _)| *answered).count();
        let are_right = told.iter().all(|(_, is_right)| *is_right);
        are_right.then_some(answers as u64)
    }

    fn keep(&self, call: u64, who: Remote<dyn Listener>) -> bool {
        self.ran(call);
        let some = {
            let mut kept = self.kept.lock().unwrap();
            if kept.len() == KEPT {
                kept.pop_front();
            }
            kept.push_back(who);
            let others = 3 % kept.len();
            kept.rotate_left(others);
            kept.iter().take(2).cloned().collect::<Vec<_>>()
        };
        let mut are_right = true;
        for who in some {
            // The client serves this call only while one of its threads receives, so use a short
            // timeout.
            let brief = who.within(Duration::from_millis(50));
            let (answered, is_right) = self.tell(&brief, call);
            are_right &= is_right;
            if !answered {
                self.kept.lock().unwrap().retain(|kept| *kept != who);
            }
        }
        are_right
    }

    fn give(&self, call: u64, start: u64) -> Remote<dyn Counter> {
        self.ran(call);
        if self.faults.0 {
            mem::forget(self.server.export::<dyn Counter>(self.counter(0)));
            mem::forget(std::fs::File::open("/dev/null").unwrap());
        }
        let counter = self.counter(start);
        self.server.export::<dyn Counter>(counter).into_remote()
    }
}

impl Here {
    fn counter(&self, start: u64) -> Arc<Count> {
        Arc::new(Count {
            ledger: self.ledger.clone(),
            next: AtomicU64::new(start),
        })
    }
}

struct Count {
    ledger: Arc<Ledger>,
    next: AtomicU64,
}

impl Counter for Count {
    fn count(&self, call: u64) -> u64 {
        self.ledger.note(call, Note::Ran);
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// The object whose references clients pass to servers.
pub(crate) struct Ear(pub(crate) Arc<Ledger>);

impl Listener for Ear {
    fn hear(&self, call: u64, n: u64) -> u64 {
        self.0.note(call, Note::Ran);
        n + 1
    }
}
