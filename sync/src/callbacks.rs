//! Calls into code of the program.
//!
//! The library calls the program in many places: wakers, subscribers of `tracing`, reclaim
//! functions of pools, and destructors of values that the program gave it. Such code may panic, and
//! it may use the library, also the very object that calls it. Both are harmless if the calling
//! thread holds no lock of the library, and if no change of a state is half done.
//!
//! Therefore, a guard of a lock under which callbacks arise contains a [`Deferral`], which is
//! dropped after the lock was released. Meanwhile callbacks are queued, and the end of the last
//! deferral of the thread runs them in order. A callback that panics is reported by the panic hook,
//! and ends neither the thread nor the other callbacks: what it was told has happened in any case.
//!
//! Decision 115 has the reasons.

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ops::{Deref, DerefMut};
use std::task::Waker;

use crate::panics::catch_panic;

/// Number of queued callbacks that need no allocation.
const FEW: usize = 4;

/// Flag in `STATE`: callbacks are queued.
const QUEUED: u32 = 1 << 31;

thread_local! {
    /// The number of deferrals of this thread, and the flag `QUEUED`.
    static STATE: Cell<u32> = const { Cell::new(0) };

    /// The queued callbacks. They have no destructor, so that they can be used while the
    /// thread-local values of the thread are dropped. The end of the last deferral takes them out.
    static QUEUE: RefCell<ManuallyDrop<Queue>> =
        const { RefCell::new(ManuallyDrop::new(Queue::new())) };
}

/// Queued callbacks, in order.
#[derive(Default)]
struct Queue {
    /// The first callbacks, which need no allocation.
    first: [Option<Callback>; FEW],
    rest: Vec<Callback>,
}

/// A queued callback.
enum Callback {
    Wake(Waker),
    Discard(Waker),
    Run(Box<dyn FnOnce()>),
}

impl Queue {
    const fn new() -> Self {
        Self {
            first: [const { None }; FEW],
            rest: Vec::new(),
        }
    }

    fn push(&mut self, callback: Callback) {
        match self.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(callback),
            None => self.rest.push(callback),
        }
    }

    fn run(mut self) {
        for place in &mut self.first {
            // Most often there is a single callback. The others follow it without a gap.
            let Some(callback) = place.take() else {
                return;
            };
            callback.call();
        }
        for callback in mem::take(&mut self.rest) {
            callback.call();
        }
    }
}

impl Callback {
    fn call(self) {
        match self {
            Self::Wake(waker) => catch_panic(|| waker.wake()),
            Self::Discard(waker) => catch_panic(|| drop(waker)),
            Self::Run(run) => catch_panic(run),
        }
    }
}

/// Guard during which this thread does not call the program.
///
/// When the last deferral of a thread is dropped, the queued callbacks run. So a deferral is
/// dropped after the locks that it belongs to: it is the last field of their guard.
#[derive(Debug)]
#[must_use = "callbacks are deferred only while the guard exists"]
pub struct Deferral {
    /// The guard belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl Deferral {
    /// Begins to defer the callbacks of this thread.
    #[inline]
    pub fn begin() -> Self {
        STATE.set(STATE.get().wrapping_add(1));
        Self {
            thread: PhantomData,
        }
    }

    /// Returns true if dropping this guard runs callbacks. A thread does so before it sleeps.
    #[inline]
    #[must_use]
    pub fn has_queued(&self) -> bool {
        STATE.get() == QUEUED.wrapping_add(1)
    }
}

impl Drop for Deferral {
    #[inline]
    fn drop(&mut self) {
        let left = STATE.get().wrapping_sub(1);
        STATE.set(left);
        if left == QUEUED {
            run_queued();
        }
    }
}

/// Guard of a lock under which callbacks arise. They run after the lock was released.
#[derive(Debug)]
pub struct DeferringGuard<G> {
    guard: G,
    /// Dropped after the guard.
    _deferral: Deferral,
}

impl<G> DeferringGuard<G> {
    /// Defers the callbacks of this thread until the lock is released.
    #[inline]
    pub fn new(guard: G) -> Self {
        Self {
            guard,
            _deferral: Deferral::begin(),
        }
    }
}

impl<G: Deref> Deref for DeferringGuard<G> {
    type Target = G::Target;

    #[inline]
    fn deref(&self) -> &G::Target {
        &self.guard
    }
}

impl<G: DerefMut> DerefMut for DeferringGuard<G> {
    #[inline]
    fn deref_mut(&mut self) -> &mut G::Target {
        &mut self.guard
    }
}

/// Runs the queued callbacks. Those that they queue in turn were run by the end of the deferral
/// that queued them.
#[cold]
fn run_queued() {
    STATE.set(0);
    let queue = QUEUE.replace(ManuallyDrop::new(Queue::new()));
    ManuallyDrop::into_inner(queue).run();
}

/// Returns true if callbacks wait for the end of this thread's deferrals. A thread whose deferral
/// outlasts a call that may sleep ends the deferral first.
#[inline]
#[must_use]
pub fn are_queued() -> bool {
    STATE.get() & QUEUED != 0
}

/// Returns true if this thread defers callbacks.
#[inline]
fn is_deferring() -> bool {
    STATE.get() != 0
}

fn queue(callback: Callback) {
    // No callback runs during the borrow.
    QUEUE.with_borrow_mut(|queue| queue.push(callback));
    STATE.set(STATE.get() | QUEUED);
}

/// Calls code of the program, as soon as this thread defers no callbacks. Its panic is caught.
#[inline]
pub fn run(call: impl FnOnce() + 'static) {
    if is_deferring() {
        queue(Callback::Run(Box::new(call)));
    } else {
        catch_panic(call);
    }
}

/// Calls a waker of the program, as soon as this thread defers no callbacks. Its panic is caught.
pub fn wake(waker: Waker) {
    if is_deferring() {
        queue(Callback::Wake(waker));
    } else {
        catch_panic(|| waker.wake());
    }
}

/// Drops wakers, whose destructors may be code of the program, as soon as this thread defers no
/// callbacks. Their panics are caught.
#[inline]
pub fn discard(wakers: impl IntoIterator<Item = Waker>) {
    for waker in wakers {
        if is_deferring() {
            queue(Callback::Discard(waker));
        } else {
            catch_panic(|| drop(waker));
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::rc::Rc;
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    type Log = Rc<Cell<Vec<u32>>>;

    fn record(log: &Log, number: u32) {
        let mut numbers = log.take();
        numbers.push(number);
        log.set(numbers);
    }

    fn noted(log: &Log) -> impl FnOnce() + 'static + use<> {
        let log = log.clone();
        move || record(&log, 1)
    }

    #[test]
    fn callbacks_run_immediately_without_a_deferral() {
        let log = Log::default();
        run(noted(&log));
        assert_eq!(log.take(), [1]);
    }

    #[test]
    fn callbacks_run_in_order_at_the_end_of_the_last_deferral() {
        let log = Log::default();
        let outer = Deferral::begin();
        let inner = Deferral::begin();
        for number in 0..3 {
            let log = log.clone();
            run(move || record(&log, number));
        }
        assert!(!inner.has_queued());
        drop(inner);
        assert!(outer.has_queued());
        assert_eq!(log.take(), []);
        drop(outer);
        assert!(!is_deferring());
        assert_eq!(log.take(), [0, 1, 2]);
    }

    #[test]
    fn a_callback_that_panics_does_not_keep_others_from_running() {
        struct PanicsWhenDropped;

        impl Drop for PanicsWhenDropped {
            fn drop(&mut self) {
                panic!("a destructor panics");
            }
        }

        struct PanicsWhenWoken;

        impl Wake for PanicsWhenWoken {
            fn wake(self: Arc<Self>) {
                panic!("a waker panics");
            }
        }

        impl Wake for PanicsWhenDropped {
            fn wake(self: Arc<Self>) {}
        }

        let log = Log::default();
        let deferral = Deferral::begin();
        run(|| panic!("a callback panics"));
        discard([Waker::from(Arc::new(PanicsWhenDropped))]);
        wake(Arc::new(PanicsWhenWoken).into());
        run(noted(&log));
        drop(deferral);
        assert_eq!(log.take(), [1]);
    }

    #[test]
    fn callbacks_that_defer_in_turn_run_theirs() {
        let log = Log::default();
        let deferral = Deferral::begin();
        run({
            let log = log.clone();
            move || {
                let deferral = Deferral::begin();
                run(noted(&log));
                assert_eq!(log.take(), []);
                drop(deferral);
                let mut numbers = log.take();
                numbers.push(2);
                log.set(numbers);
            }
        });
        drop(deferral);
        assert_eq!(log.take(), [1, 2]);
        assert!(!is_deferring());
    }

    #[test]
    fn callbacks_run_while_the_thread_unwinds() {
        let log = Log::default();
        let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _deferral = Deferral::begin();
            run(noted(&log));
            run(|| panic!("a callback panics while another panic unwinds"));
            run(noted(&log));
            panic!("the library's caller panics");
        }));
        assert!(unwound.is_err());
        assert_eq!(log.take(), [1, 1]);
    }

    #[test]
    fn callbacks_run_in_destructors_of_thread_local_values() {
        use std::sync::mpsc;

        struct RunsWhenDropped(mpsc::Sender<u32>);

        impl Drop for RunsWhenDropped {
            fn drop(&mut self) {
                let deferral = Deferral::begin();
                let sender = self.0.clone();
                run(move || sender.send(7).unwrap());
                drop(deferral);
            }
        }

        thread_local! {
            static LAST: Cell<Option<RunsWhenDropped>> = const { Cell::new(None) };
        }

        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || LAST.set(Some(RunsWhenDropped(sender))))
            .join()
            .unwrap();
        assert_eq!(receiver.recv(), Ok(7));
    }
}
