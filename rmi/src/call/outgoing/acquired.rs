//! References that are acquired again after their connection was lost.
//!
//! The recipe is a call of another object, the *source*, which is found again itself. The
//! acquisition is a state machine that calls which wait for the reference poll in turn, so it needs
//! no thread.
//!
//! Invariants: the acquisition is polled without the lock, by the one thread that has taken it out
//! of the state. While it is in the state, each of its wake-ups wakes all who wait, so that one of
//! them polls it; one that ends its wait passes that on. A wake-up while it is polled is recorded,
//! and wakes them when it is back in the state.
//!
//! Decision 128 has the reasons.

use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use jstream_sync::callbacks;
use jstream_sync::panics::catch_panic;
use jstream_sync::wakers::{WakerList, wake_each};

use crate::call::outgoing::fetched::RemoteCall;
use crate::interface::Interface;
use crate::reference::{
    FoundObject, Leads, Object, Remotable, Remote, Renewal, RenewalError, RenewalWait,
    RenewedObject, Stub,
};
use crate::session::{self, CallLayers, Import};
use crate::support::{CallError, Outcome, lock};

/// Maximum number of repetitions of a recipe whose call may have run, or has returned an object
/// whose connection had ended.
const UNCERTAIN_REPETITIONS: u32 = 3;

/// The call of a recipe. Its result is `None` if the call has returned no object of the server.
type RecipeCall = Pin<Box<dyn Future<Output = Result<Option<FoundObject>, CallError>> + Send>>;

/// Function that makes the call of a recipe with a handle of the source.
type Recipe = Box<dyn Fn(&Object) -> RecipeCall + Send + Sync>;

impl<T: Remotable + ?Sized> Remote<T> {
    /// Returns a reference to the same object that is acquired again by `recipe` if its connection
    /// is lost, or its server is shutting down. The recipe calls a method of `source`, a stub that
    /// was found by name or is acquired by a recipe in turn.
    ///
    /// The first call after the loss waits for the source and runs the recipe; other calls wait for
    /// its result. If it fails, they fail with [`CallError::NotGiven`], and a later call runs it
    /// again. If its own connection is lost, it is repeated if its method did not run or is
    /// `#[remote(idempotent)]`. Its calls inherit no deadline and no metadata. They have the
    /// timeout of the source, and at most [`Reconnect::patience`](crate::Reconnect::patience).
    ///
    /// The recipe must return the call and not wait for it, since a task may run it. It gets a stub
    /// of the source over one connection, which it should call instead of another one. Clones of
    /// the returned reference and of its stub share the recipe. If the object belongs to this
    /// program, or the source can't be found again, the reference is returned unchanged.
    ///
    /// ```
    /// use jstream_rmi::{Client, Remote, Server, WeakServer, remote};
    /// use std::sync::Arc;
    ///
    /// #[remote]
    /// trait Shop {
    ///     fn cart(&self, customer: u64) -> Remote<dyn Cart>;
    /// }
    ///
    /// #[remote]
    /// trait Cart {
    ///     fn customer(&self) -> u64;
    /// }
    ///
    /// struct Carts(WeakServer);
    ///
    /// impl Shop for Carts {
    ///     fn cart(&self, customer: u64) -> Remote<dyn Cart> {
    ///         let server = self.0.upgrade().expect("the server calls this");
    ///         server.export::<dyn Cart>(Arc::new(Plain(customer))).into_remote()
    ///     }
    /// }
    ///
    /// struct Plain(u64);
    ///
    /// impl Cart for Plain {
    ///     fn customer(&self) -> u64 {
    ///         self.0
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let start = || -> Result<_, Box<dyn std::error::Error>> {
    /// #     let server = Server::default();
    /// #     server.bind::<dyn Shop>("shop", Arc::new(Carts(server.downgrade())))?;
    /// #     Ok(server.listen(&"inproc://doc-acquired-by".parse()?)?)
    /// # };
    /// # let serving = start()?;
    /// let client = Client::connect(serving.address()).wait()?;
    /// let shop = client.lookup::<dyn Shop>("shop").wait()?;
    /// let open = |shop: &ShopStub| shop.cart(7);
    /// let cart = open(&shop).wait()?.acquired_by(&shop, open);
    /// # serving.stop();
    /// # let _serving = start()?;
    /// // The server was restarted. This opens the cart again.
    /// assert_eq!(*cart.customer().wait()?.get(), 7);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use = "the original reference is unchanged"]
    pub fn acquired_by<S, P>(
        &self,
        source: &S,
        recipe: impl Fn(&S) -> RemoteCall<P> + Send + Sync + 'static,
    ) -> Self
    where
        S: Stub,
        P: Leads<To = T>,
    {
        let object = self.object();
        let (Some(import), Some(renewal)) = (object.import(), source.object().renewal()) else {
            return self.clone();
        };
        let methods = object.methods.clone();
        let import = import.clone();
        let acquired = AcquiredObject {
            source: source.object().clone(),
            renewal: renewal.clone(),
            recipe: Box::new(move |source| {
                let call = recipe(&S::new(source.clone()));
                Box::pin(async move { Ok(call.await?.object().and_then(found)) })
            }),
            interface: T::interface(),
            state: Mutex::new(AcquiredState {
                object: FoundObject { import, methods },
                progress: Progress::Idle,
                failure: None,
                waiters: WakerList::new(),
            }),
        };
        Self::from_object(object.clone().renewed_by(Arc::new(acquired)))
    }
}

/// Returns the object of a server behind a handle.
fn found(object: &Object) -> Option<FoundObject> {
    Some(FoundObject {
        import: object.import()?.clone(),
        methods: object.methods.clone(),
    })
}

/// An object that a recipe acquires again over each new connection.
struct AcquiredObject {
    source: Object,
    renewal: Arc<dyn Renewal>,
    recipe: Recipe,
    interface: &'static Interface,
    state: Mutex<AcquiredState>,
}

struct AcquiredState {
    /// The object as it was acquired last.
    object: FoundObject,
    progress: Progress,
    /// The failure of the last acquisition, until another call wants the object.
    failure: Option<RenewalError>,
    waiters: WakerList,
}

enum Progress {
    Idle,
    /// The acquisition, which the calls that wait poll.
    Waiting(Acquisition),
    /// A thread polls it.
    Polled(AcquisitionPoll),
}

/// A poll of an acquisition.
struct AcquisitionPoll {
    thread: ThreadId,
    /// Number of waits in which the thread blocked when the poll began.
    blocking_depth: u32,
    /// True while the thread runs the recipe.
    runs_recipe: bool,
    /// True if the acquisition was woken since the poll began.
    was_woken: bool,
}

impl AcquiredState {
    /// Returns the object, if its connection is open and its server is not shutting down.
    fn known(&self) -> Option<RenewedObject> {
        let is_open = !self.object.import.connection().peer().is_retired();
        is_open.then(|| RenewedObject::Single(self.object.clone()))
    }

    /// Takes the acquisition, which may be a new one, for this thread to poll it. Returns `None` if
    /// a thread polls it already. `is_left` is true if no call has waited for it until now.
    fn take_acquisition(&mut self, is_left: bool) -> Option<Acquisition> {
        let polled = Progress::Polled(AcquisitionPoll {
            thread: thread::current().id(),
            blocking_depth: session::blocking_depth(),
            runs_recipe: false,
            was_woken: false,
        });
        match std::mem::replace(&mut self.progress, polled) {
            Progress::Idle => Some(Acquisition::default()),
            Progress::Waiting(mut acquisition) => {
                acquisition.restarts = is_left && acquisition.is_over();
                Some(acquisition)
            }
            polled @ Progress::Polled(_) => {
                self.progress = polled;
                None
            }
        }
    }

    /// Returns the error of a wait that can't end, because this thread polls the acquisition. A
    /// task that it polls meanwhile, in a callback, can wait.
    fn own_wait(&self) -> Option<RenewalError> {
        let Progress::Polled(poll) = &self.progress else {
            return None;
        };
        if poll.thread != thread::current().id() {
            None
        } else if poll.runs_recipe {
            Some(not_acquired("its recipe needs the reference itself"))
        } else {
            let blocks = session::blocking_depth() > poll.blocking_depth;
            let reason = "the thread that waits for it is the one that acquires it";
            blocks.then(|| not_acquired(reason))
        }
    }
}

impl AcquiredObject {
    fn wake_waiters(&self) {
        let locked = || lock(&self.state);
        wake_each(locked(), locked, |state| &mut state.waiters);
    }

    /// Polls an acquisition that this thread has taken out of the state.
    fn poll_taken(self: &Arc<Self>, mut acquisition: Acquisition) {
        let waker = Waker::from(Arc::new(AcquisitionWaker(Arc::downgrade(self))));
        let mut context = Context::from_waker(&waker);
        let mut polled = Poll::Ready(Err(not_acquired("its recipe has panicked")));
        catch_panic(|| polled = acquisition.poll(self, &mut context));
        let mut replaced = None;
        let mut state = lock(&self.state);
        let was_woken = matches!(&state.progress, Progress::Polled(poll) if poll.was_woken);
        // Those who were registered when it was woken have found that this thread polls it.
        let wakes = was_woken || polled.is_ready();
        match polled {
            Poll::Pending => state.progress = Progress::Waiting(acquisition),
            Poll::Ready(result) => {
                state.progress = Progress::Idle;
                match result {
                    Ok(object) => replaced = Some(std::mem::replace(&mut state.object, object)),
                    Err(error) => state.failure = Some(error),
                }
            }
        }
        drop(state);
        if wakes {
            self.wake_waiters();
        }
        // Releases the object of the old connection, without the lock.
        drop(replaced);
    }

    /// Runs the recipe, on the thread that polls the acquisition.
    fn run_recipe(&self, source: &Object) -> RecipeCall {
        let _mark = RecipeMark::new(self);
        // The call is made for all who wait, and not for the method that polls it.
        let without = session::Context::default();
        without.enter(|| (self.recipe)(source))
    }

    /// Returns the outcome of a wait, if there is one.
    fn outcome(&self, state: &AcquiredState) -> Option<Result<RenewedObject, RenewalError>> {
        let failure = || state.failure.clone().map(Err);
        state.known().map(Ok).or_else(failure)
    }
}

impl Renewal for AcquiredObject {
    fn layers(&self) -> Option<CallLayers> {
        self.renewal.layers()
    }

    fn known(&self) -> Option<RenewedObject> {
        lock(&self.state).known()
    }

    /// Polls the acquisition once. A call that does not wait, such as a one-way call, fails until
    /// the object was acquired; each such call lets the acquisition go on.
    fn begin(self: Arc<Self>) {
        let mut state = lock(&self.state);
        if state.known().is_some() {
            return;
        }
        state.failure = None;
        let is_left = state.waiters.is_empty();
        let taken = state.take_acquisition(is_left);
        drop(state);
        if let Some(acquisition) = taken {
            self.poll_taken(acquisition);
        }
    }

    fn poll(
        self: Arc<Self>,
        key: &mut Option<u64>,
        context: &mut Context<'_>,
    ) -> Poll<Result<RenewedObject, RenewalError>> {
        let mut state = lock(&self.state);
        let is_left = key.is_none() && state.waiters.is_empty();
        if key.is_none() {
            // Each call runs a recipe that has failed again.
            state.failure = None;
        }
        if let Some(outcome) = self.outcome(&state) {
            return Poll::Ready(outcome);
        }
        if let Some(error) = state.own_wait() {
            return Poll::Ready(Err(error));
        }
        // Registered first, so that no wake-up of the acquisition is missed.
        let replaced = state.waiters.register(key, context.waker().clone());
        let taken = state.take_acquisition(is_left);
        drop(state);
        callbacks::discard(replaced);
        match taken {
            Some(acquisition) => self.poll_taken(acquisition),
            None => return Poll::Pending,
        }
        let state = lock(&self.state);
        match self.outcome(&state) {
            Some(outcome) => Poll::Ready(outcome),
            None => Poll::Pending,
        }
    }

    fn cancel(&self, key: u64) {
        let mut state = lock(&self.state);
        let removed = state.waiters.remove(key);
        // This call may have been the one that was to poll the acquisition next.
        let is_waiting = matches!(state.progress, Progress::Waiting(_));
        drop(state);
        callbacks::discard(removed);
        if is_waiting {
            self.wake_waiters();
        }
    }

    fn abandon(&self, import: &Import) {
        import.connection().retire();
    }

    fn takes_repetition(&self) -> bool {
        self.renewal.takes_repetition()
    }

    fn patience(&self) -> Duration {
        self.renewal.patience()
    }

    fn failure(&self) -> RenewalError {
        if let Some(failure) = &lock(&self.state).failure {
            return failure.clone();
        }
        match self.renewal.known() {
            Some(_) => not_acquired("its recipe has not returned in time"),
            None => self.renewal.failure(),
        }
    }

    fn interface(&self) -> &'static Interface {
        self.interface
    }
}

/// Wakes the calls that wait for an object. Does not keep the object, which has the acquisition
/// that keeps this waker.
struct AcquisitionWaker(Weak<AcquiredObject>);

impl Wake for AcquisitionWaker {
    fn wake(self: Arc<Self>) {
        let Some(object) = self.0.upgrade() else {
            return;
        };
        let mut state = lock(&object.state);
        if let Progress::Polled(poll) = &mut state.progress {
            // None of those who wait could poll it now.
            poll.was_woken = true;
            return;
        }
        drop(state);
        object.wake_waiters();
    }
}

/// Guard of a recipe that runs: a call of the reference on its thread would wait for itself.
struct RecipeMark<'a>(&'a AcquiredObject);

impl<'a> RecipeMark<'a> {
    fn new(of: &'a AcquiredObject) -> Self {
        let mark = Self(of);
        mark.set(true);
        mark
    }

    fn set(&self, runs: bool) {
        if let Progress::Polled(poll) = &mut lock(&self.0.state).progress {
            poll.runs_recipe = runs;
        }
    }
}

impl Drop for RecipeMark<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

/// One acquisition of an object: the wait for the source, and the call of the recipe.
#[derive(Default)]
struct Acquisition {
    /// The wait for the source, if it has begun and the call was not made yet.
    source: Option<RenewalWait>,
    call: Option<RecipeCall>,
    /// The source that the call was made to.
    called: Option<Arc<Import>>,
    /// The end of the time of the call.
    call_until: Option<Instant>,
    /// The time that the acquisition may still wait for the source. `None` before the first wait.
    patience: Option<Duration>,
    /// True if a failure does not count: the time of the acquisition has passed while no call
    /// waited for it.
    restarts: bool,
    /// Number of repetitions of a call that may have run.
    uncertain_repetitions: u32,
}

impl Acquisition {
    /// Returns true if the time of the present step has passed.
    fn is_over(&self) -> bool {
        let until = match &self.source {
            Some(source) => source.until(),
            None => self.call_until,
        };
        until.is_some_and(|until| until <= Instant::now())
    }

    fn poll(
        &mut self,
        of: &AcquiredObject,
        context: &mut Context<'_>,
    ) -> Poll<Result<FoundObject, RenewalError>> {
        let polled = self.poll_steps(of, context);
        if self.restarts && matches!(polled, Poll::Ready(Err(_))) {
            *self = Self::default();
            return self.poll_steps(of, context);
        }
        polled
    }

    fn poll_steps(
        &mut self,
        of: &AcquiredObject,
        context: &mut Context<'_>,
    ) -> Poll<Result<FoundObject, RenewalError>> {
        loop {
            if let Some(call) = &mut self.call {
                let Poll::Ready(ended) = call.as_mut().poll(context) else {
                    return Poll::Pending;
                };
                self.call = None;
                let called = self.called.take();
                match ended {
                    Ok(Some(object)) if !object.import.connection().peer().is_retired() => {
                        return Poll::Ready(Ok(object));
                    }
                    // The recipe is not repeated without an end.
                    Ok(Some(_)) if self.counts_repetition(of) => {}
                    Ok(Some(_)) => {
                        let reason = "the connections of its results have ended at once";
                        return Poll::Ready(Err(not_acquired(reason)));
                    }
                    Ok(None) => {
                        let reason = "its recipe has returned no object of the server";
                        return Poll::Ready(Err(not_acquired(reason)));
                    }
                    Err(error) if self.repeats_after(of, called.as_deref(), &error) => {}
                    Err(error) => return Poll::Ready(Err(not_acquired(&error.to_string()))),
                }
            }
            let patience = *self.patience.get_or_insert_with(|| of.renewal.patience());
            let source = self
                .source
                .get_or_insert_with(|| RenewalWait::new(of.renewal.clone(), patience, None));
            match source.poll(context) {
                Poll::Ready(Ok(renewed)) => {
                    self.patience = Some(patience.saturating_sub(source.elapsed()));
                    self.source = None;
                    let source = of.source.at(renewed);
                    let time = source.span.time().min(of.patience());
                    self.call_until = Instant::now().checked_add(time);
                    self.called = source.import().cloned();
                    self.call = Some(of.run_recipe(&source.within(time)));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// Returns true if the recipe is run again because its connection was lost.
    fn repeats_after(
        &mut self,
        of: &AcquiredObject,
        called: Option<&Import>,
        error: &CallError,
    ) -> bool {
        let is_final = matches!(
            error,
            CallError::Disconnected { .. } | CallError::ObjectLost { .. }
        );
        if is_final || !error.is_disconnected() || !error.can_be_repeated() {
            return false;
        }
        if let (CallError::Ending { .. }, Some(import)) = (error, called) {
            // Else the source would be found at this server again, whose connection is open.
            of.renewal.abandon(import);
        }
        error.outcome() == Outcome::DidNotRun || self.counts_repetition(of)
    }

    /// Counts a repetition. Returns false if there are too many.
    fn counts_repetition(&mut self, of: &AcquiredObject) -> bool {
        self.uncertain_repetitions = self.uncertain_repetitions.saturating_add(1);
        self.uncertain_repetitions <= UNCERTAIN_REPETITIONS && of.takes_repetition()
    }
}

fn not_acquired(reason: &str) -> RenewalError {
    RenewalError::NotAcquired {
        reason: format!("the object could not be acquired again: {reason}"),
    }
}
