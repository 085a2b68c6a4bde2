//! Wake-ups of the thread that polls the tasks.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Wake, Waker};
use std::time::Instant;

/// The numbers of the tasks that are to be polled.
#[derive(Default)]
pub(super) struct WokenTasks {
    numbers: Mutex<BTreeSet<u64>>,
    changed: Condvar,
}

struct GreetingWaker {
    number: u64,
    woken: Arc<WokenTasks>,
}

impl WokenTasks {
    /// Returns a waker for the task with this number.
    pub(super) fn waker(self: &Arc<Self>, number: u64) -> Waker {
        let woken = self.clone();
        Arc::new(GreetingWaker { number, woken }).into()
    }

    /// Blocks until a task was woken, or the time has come. Returns the tasks that were woken.
    pub(super) fn wait(&self, until: Option<Instant>) -> BTreeSet<u64> {
        let mut numbers = jstream_sync::lock(&self.numbers);
        while numbers.is_empty() {
            let waited = match until {
                None => jstream_sync::unpoisoned(self.changed.wait(numbers)),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break;
                    }
                    jstream_sync::unpoisoned(self.changed.wait_timeout(numbers, left)).0
                }
            };
            numbers = waited;
        }
        std::mem::take(&mut numbers)
    }

    /// Forgets that a task was woken, because it is about to be polled.
    pub(super) fn forget(&self, number: u64) {
        jstream_sync::lock(&self.numbers).remove(&number);
    }
}

impl Wake for GreetingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let mut numbers = jstream_sync::lock(&self.woken.numbers);
        numbers.insert(self.number);
        drop(numbers);
        self.woken.changed.notify_one();
    }
}
