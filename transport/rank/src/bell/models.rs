//! Loom models of a thread that sleeps on a bell while other threads ring it. Each model has
//! mutants with a mistake that it must detect. Instead of sleeping, the thread stops, and the bell
//! must have been rung.

use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::Expected;

/// Model of an inbox, its bell and a connection.
struct Model {
    expected: Expected,
    /// A ring that the operating system keeps until a thread has slept.
    event: AtomicBool,
    epoch: AtomicU32,
    /// Under the lock of the inbox.
    is_watched: Mutex<bool>,
    /// Under the lock of the direction.
    line: Mutex<Line>,
}

#[derive(Default)]
struct Line {
    has_more: bool,
    is_armed: bool,
}

/// The point at which the thread that is going to sleep enables rings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// Before other threads see that it sleeps, and before it arms the connection.
    First,
    /// When the connection is armed.
    Armed,
    /// After its last poll.
    Last,
}

impl Model {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            expected: Expected::new(),
            event: AtomicBool::new(false),
            epoch: AtomicU32::new(0),
            is_watched: Mutex::new(false),
            line: Mutex::new(Line::default()),
        })
    }

    fn ring(&self) {
        if self.expected.take() {
            self.event.store(true, Ordering::Release);
        }
    }

    /// Ends a request, as another thread of the process does.
    fn tell(&self) {
        let is_watched = self.is_watched.lock().unwrap();
        self.epoch.fetch_add(1, Ordering::Release);
        if *is_watched {
            self.ring();
        }
    }

    /// Delivers a message over the connection.
    fn deliver(&self) {
        let mut line = self.line.lock().unwrap();
        line.has_more = true;
        let is_armed = std::mem::take(&mut line.is_armed);
        drop(line);
        if is_armed {
            self.ring();
        }
    }

    /// Receives what has arrived, or arms the connection if there is nothing.
    fn drive(&self, arms: bool) {
        let mut line = self.line.lock().unwrap();
        if std::mem::take(&mut line.has_more) {
            self.epoch.fetch_add(1, Ordering::Release);
        } else {
            line.is_armed = arms;
        }
    }

    /// Returns true if the thread goes to sleep.
    fn goes_to_sleep(&self, seen: u32, expects: Expects) -> bool {
        let is_new = || self.epoch.load(Ordering::Acquire) != seen;
        let mut is_watched = self.is_watched.lock().unwrap();
        if is_new() {
            return false;
        }
        *is_watched = true;
        if expects == Expects::First {
            self.expected.set();
        }
        drop(is_watched);
        self.drive(true);
        if expects == Expects::Armed {
            self.expected.set();
        }
        let sleeps = !is_new();
        if sleeps && expects == Expects::Last {
            self.expected.set();
        }
        if !sleeps {
            self.wakes_up();
        }
        sleeps
    }

    fn wakes_up(&self) {
        self.expected.forget();
        self.event.store(false, Ordering::Relaxed);
        self.line.lock().unwrap().is_armed = false;
        *self.is_watched.lock().unwrap() = false;
    }
}

/// Waits until all `ringers` have rung.
fn waiting(ringers: &'static [fn(&Model)], expects: Expects) {
    loom::model(move || {
        let model = Model::new();
        let ringing = ringers.iter().map(|ring| {
            let model = model.clone();
            thread::spawn(move || ring(&model))
        });
        let mut ringing: Vec<_> = ringing.collect();
        loop {
            model.drive(false);
            let seen = model.epoch.load(Ordering::Acquire);
            if seen as usize == ringers.len() {
                break;
            }
            if model.goes_to_sleep(seen, expects) {
                for ringer in ringing.drain(..) {
                    ringer.join().unwrap();
                }
                let is_rung = model.event.load(Ordering::Acquire);
                assert!(is_rung, "it would sleep for ever");
                model.wakes_up();
            }
        }
        for ringer in ringing {
            ringer.join().unwrap();
        }
    });
}

#[test]
fn no_news_are_slept_through() {
    waiting(&[Model::tell, Model::tell], Expects::First);
}

#[test]
fn nothing_that_comes_is_slept_through() {
    waiting(&[Model::deliver, Model::tell], Expects::First);
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_bell_that_is_not_heard_while_the_connection_is_armed_is_found() {
    waiting(&[Model::deliver], Expects::Armed);
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn news_between_the_last_look_and_the_bell_are_found() {
    waiting(&[Model::tell], Expects::Last);
}
