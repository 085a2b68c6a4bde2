//! The calls of a connection whose methods wait, polled by the connection's thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use jstream_transport::RecvError;

use super::link::{Link, Next};
use super::outcome::{Ended, Outcome, settle, unless_it_panics};
use super::running::Running;
use crate::context::{Context, entered};
use crate::frame::Code;

/// The tasks of one connection.
///
/// A method is polled when its call arrives, and again when it was woken. Nothing of it goes to another
/// thread.
#[derive(Debug)]
pub(super) struct Tasks {
    link: Arc<Link>,
    running: Vec<Task>,
    sleeper: Arc<Sleeper>,
    /// A message has come.
    arrival: Arc<Signal>,
    spare: Vec<Arc<Signal>>,
}

#[derive(Debug)]
struct Task {
    running: Running,
    signal: Arc<Signal>,
    context: Context,
    number: Option<u64>,
}

/// The thread of the connection, which sleeps while nothing is to do.
#[derive(Debug)]
struct Sleeper {
    thread: Thread,
    called: AtomicBool,
}

/// Whether one task is to be polled.
#[derive(Debug)]
struct Signal {
    sleeper: Arc<Sleeper>,
    set: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set.store(true, Ordering::Release);
        self.sleeper.called.store(true, Ordering::Release);
        self.sleeper.thread.unpark();
    }
}

impl Signal {
    fn new(sleeper: &Arc<Sleeper>) -> Arc<Self> {
        Arc::new(Self {
            sleeper: sleeper.clone(),
            set: AtomicBool::new(false),
        })
    }
}

impl Tasks {
    /// Those of a connection that this thread serves.
    pub(super) fn new(link: Arc<Link>) -> Self {
        let sleeper = Arc::new(Sleeper {
            thread: thread::current(),
            called: AtomicBool::new(false),
        });
        Self {
            link,
            running: Vec::new(),
            arrival: Signal::new(&sleeper),
            sleeper,
            spare: Vec::new(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.running.len()
    }

    /// Polls a method for the first time, and keeps it if it waits.
    pub(super) fn start(
        &mut self,
        running: Running,
        context: Context,
        number: Option<u64>,
    ) -> Result<(), Ended> {
        let signal = self.spare.pop();
        let signal = signal.unwrap_or_else(|| Signal::new(&self.sleeper));
        let mut task = Task {
            running,
            signal,
            context,
            number,
        };
        match task.poll(&self.link) {
            None => {
                self.running.push(task);
                Ok(())
            }
            Some(outcome) => self.finish(task, outcome),
        }
    }

    /// Ends the method of a call that was given up, if it waits.
    pub(super) fn cancel(&mut self, number: u64) -> Result<(), Ended> {
        let place = (self.running.iter()).position(|task| task.number == Some(number));
        let Some(place) = place else { return Ok(()) };
        let task = self.running.swap_remove(place);
        self.finish(task, Outcome::Refused(Code::GivenUp))
    }

    /// What to do next; polls those that were woken until there is something. `None` when the connection
    /// has ended.
    pub(super) fn next(&mut self, first: Option<Duration>, patience: Duration) -> Option<Next> {
        let mut without_room = None;
        loop {
            if self.sleeper.called.swap(false, Ordering::Acquire) {
                self.poll_woken().ok()?;
            }
            if let Some(next) = self.link.take_ahead() {
                return Some(next);
            }
            if self.running.is_empty() {
                let message = self.link.receive(first, patience)?;
                return Some(Next::Message(message, Instant::now()));
            }
            let waker = Waker::from(self.arrival.clone());
            let mut context = std::task::Context::from_waker(&waker);
            let mut nap = Duration::MAX;
            match self.link.poll_receive(&mut context) {
                Poll::Ready(Ok(message)) => return Some(Next::Message(message, Instant::now())),
                Poll::Ready(Err(RecvError::NoBuffer { .. })) => {
                    // Room may come when others leave it.
                    let since = *without_room.get_or_insert_with(Instant::now);
                    if since.elapsed() > patience {
                        return None;
                    }
                    nap = Duration::from_millis(10);
                }
                Poll::Ready(Err(_)) => return None,
                Poll::Pending => {}
            }
            self.end_overdue().ok()?;
            if !self.sleeper.called.load(Ordering::Acquire) && !self.running.is_empty() {
                match self.soonest() {
                    Some(deadline) => {
                        let left = deadline.saturating_duration_since(Instant::now());
                        thread::park_timeout(left.min(nap));
                    }
                    None if nap < Duration::MAX => thread::park_timeout(nap),
                    None => thread::park(),
                }
            }
        }
    }

    fn poll_woken(&mut self) -> Result<(), Ended> {
        let mut place = 0usize;
        while let Some(task) = self.running.get_mut(place) {
            let woken = task.signal.set.swap(false, Ordering::Acquire);
            let outcome = if woken { task.poll(&self.link) } else { None };
            match outcome {
                None => place = place.saturating_add(1),
                Some(outcome) => {
                    let task = self.running.swap_remove(place);
                    self.finish(task, outcome)?;
                }
            }
        }
        Ok(())
    }

    fn soonest(&self) -> Option<Instant> {
        let deadlines = self.running.iter().filter_map(|task| task.context.deadline);
        deadlines.min()
    }

    fn end_overdue(&mut self) -> Result<(), Ended> {
        let Some(soonest) = self.soonest() else {
            return Ok(());
        };
        let now = Instant::now();
        if soonest > now {
            return Ok(());
        }
        let overdue = |task: &mut Task| task.context.deadline.is_some_and(|then| then <= now);
        let overdue: Vec<_> = extract(&mut self.running, overdue);
        for task in overdue {
            self.finish(task, Outcome::Refused(Code::Overdue))?;
        }
        Ok(())
    }

    fn finish(&mut self, task: Task, outcome: Outcome) -> Result<(), Ended> {
        let Task {
            running,
            signal,
            number,
            mut context,
        } = task;
        signal.set.store(false, Ordering::Relaxed);
        self.spare.push(signal);
        // What the method holds is dropped here, by the program's code.
        let ended = unless_it_panics(|| entered(&mut context, || running.end()));
        let outcome = if ended.is_some() {
            outcome
        } else {
            outcome.or_panicked()
        };
        settle(&self.link, number, outcome)
    }
}

impl Task {
    fn poll(&mut self, link: &Link) -> Option<Outcome> {
        let waker = Waker::from(self.signal.clone());
        let mut context = std::task::Context::from_waker(&waker);
        link.runs(self.number);
        let running = &mut self.running;
        let polled = unless_it_panics(|| entered(&mut self.context, || running.poll(&mut context)));
        link.runs(None);
        match polled {
            Some(Poll::Pending) => None,
            Some(Poll::Ready(result)) => Some(Outcome::Of(result)),
            None => Some(Outcome::Refused(Code::Panicked)),
        }
    }
}

/// Takes out those that a function tells, in no order.
fn extract(from: &mut Vec<Task>, mut which: impl FnMut(&mut Task) -> bool) -> Vec<Task> {
    let mut out = Vec::new();
    let mut place = 0usize;
    while let Some(task) = from.get_mut(place) {
        if which(task) {
            out.push(from.swap_remove(place));
        } else {
            place = place.saturating_add(1);
        }
    }
    out
}
