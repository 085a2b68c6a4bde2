//! Interleavings of one who sleeps on a bell with those who ring it, tried by loom: each model beside twins with
//! a mistake that it must find. Who would sleep stops instead, and must then have been rung for.

use loom::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::Expected;

/// What an inbox, its bell and a connection are to each other.
struct Model {
    expected: Expected,
    /// What the system keeps of a ring until somebody has slept.
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

/// When whoever is going to sleep says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expects {
    /// Before others see that it does, and before it arms.
    First,
    /// When the connection is armed.
    Armed,
    /// When it has looked for the last time.
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

    /// Another thread of the process ends a request.
    fn tell(&self) {
        let is_watched = self.is_watched.lock().unwrap();
        self.epoch.fetch_add(1, Ordering::Release);
        if *is_watched {
            self.ring();
        }
    }

    /// Something comes over the connection.
    fn deliver(&self) {
        let mut line = self.line.lock().unwrap();
        line.has_more = true;
        let is_armed = std::mem::take(&mut line.is_armed);
        drop(line);
        if is_armed {
            self.ring();
        }
    }

    /// Takes what has come, and arms the connection where nothing has.
    fn drive(&self, arms: bool) {
        let mut line = self.line.lock().unwrap();
        if std::mem::take(&mut line.has_more) {
            self.epoch.fetch_add(1, Ordering::Release);
        } else {
            line.is_armed = arms;
        }
    }

    /// Whether it comes to a sleep.
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

/// One waits until all `ringers` have rung.
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
