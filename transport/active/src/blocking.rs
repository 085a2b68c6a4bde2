//! Blocking waits of handlers. A handler may run inside the wait of an outer stack frame for
//! credit, which then can't send before the handler has ended.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::link::Link;
use super::turn;

/// An entry in the send queue of a connection, and the nesting depth at which its thread waits.
struct OuterWait {
    link: Arc<Link>,
    number: u64,
    depth: usize,
}

thread_local! {
    /// Entries of this thread in send queues, each beneath the handlers that run inside its wait.
    static OUTER_WAITS: RefCell<Vec<OuterWait>> = const { RefCell::new(Vec::new()) };
}

/// Calls `work`, which blocks, maybe inside a handler; see [`turn::waiting`]. The outer waits of
/// the handler step aside first.
pub(super) fn waiting<R>(work: impl FnOnce() -> R) -> R {
    turn::waiting(yield_turn, work)
}

/// Guard of a registration by [`beneath`].
pub(super) struct Beneath(PhantomData<*const ()>);

/// Registers that this thread waits for credit in the send queue of a connection.
pub(super) fn beneath(link: Arc<Link>, number: u64) -> Beneath {
    let wait = OuterWait {
        link,
        number,
        depth: turn::depth(),
    };
    OUTER_WAITS.with_borrow_mut(|waits| waits.push(wait));
    Beneath(PhantomData)
}

impl Drop for Beneath {
    fn drop(&mut self) {
        drop(OUTER_WAITS.with_borrow_mut(Vec::pop));
    }
}

/// Makes the outer waits of this thread step aside in their send queues if a handler runs inside
/// them: they can't send before it has ended.
pub(super) fn yield_turn() {
    let count = OUTER_WAITS.with_borrow(Vec::len);
    // By index, because sending from a queue may run callbacks that wait, and so change the list.
    for place in 0..count {
        yield_turn_at(place);
    }
}

fn yield_turn_at(place: usize) {
    let depth = turn::depth();
    let wait = OUTER_WAITS.with_borrow(|waits| {
        let wait = waits.get(place)?;
        // A wait at the same depth is the one that is about to begin, not one beneath it.
        (wait.depth < depth).then(|| (wait.link.clone(), wait.number))
    });
    if let Some((link, number)) = wait {
        link.yield_turn(number);
    }
}
