//! Panics of methods whose cause is the use of a runtime. Their callers are told what to change at
//! the server. The text of any other panic stays at the server.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use jstream_active::Replier;

use crate::frame::Code;
use crate::session::{Failed, Incoming, refuse};

/// Parts of the texts of panics, with the advice for the caller.
const CURES: [(&str, &str); 3] = [
    (
        "there is no reactor running",
        "it needs a runtime of tokio: start the server inside the runtime, with the feature \
         `tokio`, or set `ServerOptions::workers` to `Workers::tokio`",
    ),
    (
        "A Tokio 1.x context was found, but",
        "it needs a driver that the server's runtime of tokio lacks: build the runtime with \
         `enable_all`",
    ),
    (
        "would block a thread that runs tasks of tokio",
        "it blocks a thread of the server's runtime of tokio: it must `.await` instead of `.wait()`",
    ),
];

/// State of a thread that polls the future of a method.
enum PollState {
    /// The thread polls no such future.
    Off,
    Watched,
    /// The future has panicked and has dropped its answer.
    Unanswered(Replier),
}

thread_local! {
    static POLL_STATE: RefCell<PollState> = const { RefCell::new(PollState::Off) };
}

fn cure(panic: &(dyn Any + Send)) -> Option<&'static str> {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))?;
    let known = CURES.iter().find(|(part, _)| text.contains(part))?;
    Some(known.1)
}

/// Calls a plain method. If it panics, its caller is told the cause, if that is known.
pub(super) fn call_method(
    call: &mut Incoming,
    method: impl FnOnce(&mut Incoming) -> Result<bool, Failed>,
) -> Result<bool, Failed> {
    // The panic is caught while the call is still here, and resumed: what a panic means for the
    // connection is decided by the transport.
    match catch_unwind(AssertUnwindSafe(|| method(call))) {
        Ok(called) => called,
        Err(panic) => report_panic(call, panic),
    }
}

fn report_panic(call: &mut Incoming, panic: Box<dyn Any + Send>) -> ! {
    /// Restores the state of a future inside whose poll the thread has called the method.
    struct RestoreState(Option<PollState>);
    impl Drop for RestoreState {
        fn drop(&mut self) {
            if let Some(outer) = self.0.take() {
                POLL_STATE.set(outer);
            }
        }
    }
    // Locals are dropped in reverse order, so the answer is dropped first.
    let _outer = RestoreState(Some(POLL_STATE.replace(PollState::Off)));
    // Moved out, so that it is dropped while the panic is unwinding. The answer then sees that the
    // thread panics, and reports that.
    let mut call = call.take();
    if let Some(why) = cure(&*panic) {
        call.answer.refuse(Code::Panicked, why);
    }
    resume_unwind(panic)
}

/// Polls the future of a method by `poll`. If it panics, its caller is told the cause, if that is
/// known.
pub(super) fn poll_method<R>(poll: impl FnOnce() -> R) -> R {
    // The outer state is kept, because a method may poll a future whose executor serves other calls
    // in this thread.
    let before = POLL_STATE.replace(PollState::Watched);
    // The future has dropped its answer when the panic arrives here, but only the panic tells the
    // cause. So the replier waits in the state of the thread.
    let polled = catch_unwind(AssertUnwindSafe(poll));
    // If the cause is unknown, the answer is dropped during the panic, which the caller is told.
    let unanswered = POLL_STATE.replace(before);
    match (polled, unanswered) {
        (Ok(polled), _) => polled,
        (Err(panic), PollState::Unanswered(replier)) => match cure(&*panic) {
            Some(why) => {
                refuse(replier, Code::Panicked, why);
                resume_unwind(panic)
            }
            None => {
                // Dropped while the panic is unwinding, which returns the call as one whose method
                // has panicked.
                let _replier = replier;
                resume_unwind(panic)
            }
        },
        (Err(panic), _) => resume_unwind(panic),
    }
}

/// Takes the replier of an answer that is dropped without a reply. If a panic in [`poll_method`]
/// drops it, the replier waits for the cause.
pub(super) fn keep_replier(replier: Replier) {
    if !std::thread::panicking() {
        return;
    }
    // If the thread is ending, the caller is told of the panic only.
    let _ = POLL_STATE.try_with(|state| {
        let mut state = state.borrow_mut();
        // The first answer is that of the method. Another one that its future owns is returned at
        // once.
        if let PollState::Watched = *state {
            *state = PollState::Unanswered(replier);
        }
    });
}
