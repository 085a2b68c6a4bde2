//! Loom models of the bell and of the end of a direction, with variants that have a bug, which loom
//! must find. The models of `jstream_sync` cover the ring, and ringing without a barrier.

use std::task::Waker;

use loom::thread;

use super::bell::Bell;
use super::halves::EndedHalves;
use crate::connection::{Armed, Fault};
use crate::deadline::Deadline;
use jstream_sync::ring::{Emptier, Filler, ring};
use jstream_sync::{Arc, AtomicU32, Ordering};

/// A thread sleeps until another thread has queued a value and rung the bell.
#[test]
fn no_value_comes_unheard() {
    loom::model(|| {
        let (mut filler, mut emptier) = ring::<u32>(1);
        let bell = Arc::new(Bell::new());
        let ringer = {
            let bell = bell.clone();
            thread::spawn(move || {
                assert!(filler.fill(|value| *value = 7));
                bell.ring();
            })
        };
        while !emptier.is_filled() {
            bell.wait(Deadline::NEVER, || emptier.is_filled());
        }
        assert_eq!(emptier.front(|value| *value), Some(7));
        ringer.join().unwrap();
    });
}

/// A waker that counts its wake-ups.
struct WakeCounter(std::sync::atomic::AtomicU32);

impl std::task::Wake for WakeCounter {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// As above, with a waker instead of a blocked thread.
fn waking(arm: fn(&Bell, &Waker, &Emptier<u32>) -> Armed) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (mut filler, emptier) = ring::<u32>(1);
        let bell = Arc::new(Bell::new());
        let woken = std::sync::Arc::new(WakeCounter(0.into()));
        let ringer = {
            let bell = bell.clone();
            thread::spawn(move || {
                assert!(filler.fill(|value| *value = 7));
                bell.ring();
            })
        };
        let waker = Waker::from(woken.clone());
        let armed = arm(&bell, &waker, &emptier);
        ringer.join().unwrap();
        let calls = woken.0.load(std::sync::atomic::Ordering::SeqCst);
        match armed {
            Armed::Waker => assert_eq!(calls, 1, "it would sleep for ever"),
            Armed::Ready => assert!(emptier.is_filled()),
            Armed::Source => unreachable!("there is a waker"),
        }
    }
}

#[test]
fn a_waker_is_called_unless_there_is_no_need_to_sleep() {
    loom::model(waking(|bell, waker, emptier| {
        bell.arm(Some(waker), || emptier.is_filled())
    }));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_sleeper_that_has_looked_before_misses() {
    loom::model(waking(|bell, waker, emptier| {
        if emptier.is_filled() {
            return Armed::Ready;
        }
        bell.arm(Some(waker), || false)
    }));
}

/// The sender ends after one message while the receiver polls. `look` returns the next message, if
/// any, and fails at the end.
fn ending(
    look: fn(&EndedHalves, &mut Emptier<u32>) -> Result<Option<u32>, Fault>,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let (mut filler, mut emptier): (Filler<u32>, _) = ring(2);
        let ends = Arc::new(EndedHalves::new());
        let sent = Arc::new(AtomicU32::new(0));
        let sender = {
            let (ends, sent) = (ends.clone(), sent.clone());
            thread::spawn(move || {
                assert!(filler.fill(|value| *value = 7));
                sent.fetch_add(1, Ordering::Relaxed);
                ends.drop_sender();
            })
        };
        let mut got = 0;
        loop {
            match look(&ends, &mut emptier) {
                Ok(Some(value)) => {
                    assert_eq!(value, 7);
                    emptier.pop();
                    got += 1;
                }
                Ok(None) => thread::yield_now(),
                Err(_) => break,
            }
        }
        sender.join().unwrap();
        assert_eq!(got, sent.load(Ordering::Relaxed), "a message was lost");
    }
}

#[test]
fn the_end_comes_after_all_messages() {
    loom::model(ending(|ends, emptier| {
        ends.next(|| emptier.front(|value| *value))
    }));
}

#[test]
#[should_panic(expected = "a message was lost")]
fn an_end_that_is_looked_at_afterwards_comes_before_messages() {
    loom::model(ending(|ends, emptier| {
        match emptier.front(|value| *value) {
            None => ends.next(|| None),
            found => Ok(found),
        }
    }));
}
