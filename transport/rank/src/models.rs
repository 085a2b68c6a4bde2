//! Loom models of a rank that goes to sleep while another thread sends to it. Each model has
//! mutants with a mistake that it must detect.

use loom::thread;

use super::attention::Attention;
use jstream_sync::ring::{Emptier, Filler, ring};
use jstream_sync::{Arc, Mutex, lock};

/// Simplified model of an inbox.
struct ModelInbox {
    attention: Attention,
    state: Mutex<ModelState>,
}

struct ModelState {
    emptier: Emptier<u32>,
    arrived: Vec<u32>,
    /// True if the sleeping thread has to be notified.
    sleeps: bool,
    is_told: bool,
}

impl ModelState {
    fn take_in(&mut self) {
        while let Some(number) = self.emptier.front(|number| *number) {
            self.emptier.pop();
            self.arrived.push(number);
        }
    }
}

/// The steps of the sender and of the thread that goes to sleep.
#[derive(Clone, Copy)]
struct Parts {
    may_stay: fn(&Attention) -> bool,
    before_bringing: fn(&mut ModelState),
    before_sleep: fn(&Attention, &mut ModelState),
}

const RIGHT: Parts = Parts {
    may_stay: Attention::is_given_after_fence,
    before_bringing: ModelState::take_in,
    before_sleep: |attention, state| {
        if attention.withdraw() {
            state.take_in();
        }
    },
};

impl ModelInbox {
    fn send(&self, filler: &mut Filler<u32>, number: u32, parts: Parts) {
        // Messages with odd numbers are too long for the queue.
        let is_short = number % 2 == 0;
        if is_short && self.attention.is_given() && filler.fill(|place| *place = number) {
            if !(parts.may_stay)(&self.attention) {
                self.work(ModelState::take_in);
            }
        } else {
            self.work(|state| {
                (parts.before_bringing)(state);
                state.arrived.push(number);
            });
        }
    }

    fn work(&self, work: impl FnOnce(&mut ModelState)) {
        let mut state = lock(&self.state);
        work(&mut state);
        state.is_told |= state.sleeps;
    }
}

/// A thread sends `count` messages, the first of which may find the rank awake.
fn falling_asleep(count: u32, parts: Parts) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (mut filler, emptier) = ring::<u32>(2);
        let inbox = Arc::new(ModelInbox {
            attention: Attention::new(),
            state: Mutex::new(ModelState {
                emptier,
                arrived: Vec::new(),
                sleeps: false,
                is_told: false,
            }),
        });
        inbox.attention.grant();
        let sender = {
            let inbox = inbox.clone();
            thread::spawn(move || {
                for number in 0..count {
                    inbox.send(&mut filler, number, parts);
                }
            })
        };
        let mut state = lock(&inbox.state);
        (parts.before_sleep)(&inbox.attention, &mut state);
        state.sleeps = state.arrived.is_empty();
        drop(state);
        sender.join().unwrap();
        let mut state = lock(&inbox.state);
        assert_eq!(state.sleeps, state.is_told, "it would sleep for ever");
        state.take_in();
        assert!((0..count).eq(state.arrived.drain(..)), "out of order");
    }
}

#[test]
fn no_message_is_left_to_who_sleeps() {
    loom::model(falling_asleep(1, RIGHT));
}

#[test]
fn messages_keep_their_order() {
    loom::model(falling_asleep(2, RIGHT));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_sender_that_does_not_look_again_is_found() {
    let may_stay = |_: &_| true;
    loom::model(falling_asleep(1, Parts { may_stay, ..RIGHT }));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_sleeper_that_has_looked_before_is_found() {
    let before_sleep = |attention: &Attention, state: &mut ModelState| {
        state.take_in();
        attention.withdraw();
    };
    let parts = Parts {
        before_sleep,
        ..RIGHT
    };
    loom::model(falling_asleep(1, parts));
}

#[test]
#[should_panic(expected = "out of order")]
fn a_message_that_passes_the_queue_is_found() {
    let before_bringing = |_: &mut _| {};
    let parts = Parts {
        before_bringing,
        ..RIGHT
    };
    loom::model(falling_asleep(2, parts));
}
