//! Models of a thread that goes to sleep while another one notifies it.

use loom::thread;

use crate::flag::DekkerFlag;
use crate::{Arc, AtomicU32, Ordering};

/// One thread changes the state and checks the flag by `check`. The other one prepares to sleep by
/// `arm`, and checks the state.
fn sleeping(
    check: fn(&DekkerFlag) -> bool,
    arm: fn(&DekkerFlag),
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let shared = Arc::new((DekkerFlag::new(), AtomicU32::new(0)));
        let notifier = {
            let shared = shared.clone();
            thread::spawn(move || {
                let (flag, state) = &*shared;
                state.store(1, Ordering::Relaxed);
                check(flag)
            })
        };
        let (flag, state) = &*shared;
        arm(flag);
        let sleeps = state.load(Ordering::Relaxed) == 0;
        let is_notified = notifier.join().unwrap();
        assert!(!sleeps || is_notified, "it would sleep for ever");
    }
}

fn arm(flag: &DekkerFlag) {
    flag.store(1, Ordering::Relaxed);
    flag.make_all_pass();
}

#[test]
fn no_change_is_slept_through() {
    loom::model(sleeping(DekkerFlag::is_set_after_change, arm));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_notifier_without_a_barrier_is_found() {
    loom::model(sleeping(|flag| flag.load(Ordering::Acquire) != 0, arm));
}

#[test]
#[should_panic(expected = "it would sleep for ever")]
fn a_sleeper_without_a_barrier_is_found() {
    loom::model(sleeping(DekkerFlag::is_set_after_change, |flag| {
        flag.store(1, Ordering::Release);
    }));
}
