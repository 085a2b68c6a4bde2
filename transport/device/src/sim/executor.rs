//! Single-threaded executor that runs tasks in an order decided by a seed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use jstream_derive::ErrorDebug;
use thiserror::Error;

use super::settings::Settings;
use super::world::World;
use jstream_sync::lock;

/// Hosts with a network between them, and the tasks of the hosts. All tasks run on the thread that
/// calls [`run`](Self::run). See the [module](super).
pub struct Simulation {
    pub(super) world: Arc<World>,
    tasks: Rc<SimTasks>,
    max_steps: u64,
}

impl Simulation {
    /// Creates a simulation at time 0, without tasks.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let max_steps = settings.max_steps;
        let world = Arc::new(World::new(settings, true));
        Self {
            tasks: Rc::new(SimTasks::new(Arc::clone(&world))),
            world,
            max_steps,
        }
    }

    /// Runs `main`, and the tasks that it [spawns](spawn), until `main` has finished. Unfinished
    /// tasks are dropped.
    ///
    /// # Errors
    ///
    /// [`Stuck`] if no task can run any more, or if the run exceeds [`Settings::max_steps`].
    ///
    /// # Panics
    ///
    /// If a simulation already runs on this thread. Panics of tasks are propagated.
    pub fn run<F: Future>(&mut self, main: F) -> Result<F::Output, Stuck> {
        let _entered = Entered::new(&self.tasks);
        let mut main = pin!(main);
        let id = self.tasks.add("main", None);
        let waker = self.tasks.waker(id);
        let outcome = loop {
            match self.tasks.choose() {
                Some(chosen) if chosen == id => {
                    self.tasks.record(id);
                    let poll = main.as_mut().poll(&mut Context::from_waker(&waker));
                    if let Poll::Ready(output) = poll {
                        break Ok(output);
                    }
                }
                Some(chosen) => self.tasks.poll(chosen),
                None if self.world.process_event() => {}
                None => {
                    let waiting = self.tasks.names();
                    break Err(Stuck::Deadlock { waiting });
                }
            }
            if self.tasks.steps.get() > self.max_steps {
                let steps = self.max_steps;
                break Err(Stuck::Steps { steps });
            }
        };
        self.tasks.clear();
        outcome
    }

    /// Returns the simulated time since the start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.world.now()
    }

    /// Returns a hash of all events so far and their order. Two runs with equal hashes were
    /// identical.
    #[must_use]
    pub fn trace(&self) -> u64 {
        self.world.trace()
    }

    /// Returns the number of faults that have occurred so far.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.world.struck()
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

/// Reason why a run did not finish.
#[derive(ErrorDebug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Stuck {
    /// Every task waits, and no event is pending.
    #[error("deadlock: no task can run any more; these tasks wait: {}", waiting.join(", "))]
    Deadlock {
        /// The names of the tasks, in the order of their spawning.
        waiting: Vec<String>,
    },
    /// The run exceeded [`Settings::max_steps`].
    #[error("the run did not finish within {steps} steps (Settings::max_steps)")]
    Steps {
        /// The number of steps that were made.
        steps: u64,
    },
}

/// Spawns a task in the simulation of this thread. The task also runs if the handle is dropped.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub fn spawn<F>(name: &str, future: F) -> Task<F::Output>
where
    F: Future + 'static,
{
    let shared = Rc::new(RefCell::new(TaskOutcome {
        output: None,
        waker: None,
    }));
    let outcome = Rc::clone(&shared);
    let body = Box::pin(async move {
        let output = future.await;
        let waker = {
            let mut outcome = outcome.borrow_mut();
            outcome.output = Some(output);
            outcome.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    });
    current("spawn").add(name, Some(body));
    Task { shared }
}

/// Spawns an internal task of the library, like [`spawn`]. Does nothing if no simulation runs on
/// this thread.
pub fn spawn_beside(name: &str, body: impl Future<Output = ()> + 'static) {
    if let Some(tasks) = try_current() {
        tasks.add(name, Some(Box::pin(body)));
    }
}

/// A handle to a spawned task: a future of its output.
pub struct Task<T> {
    shared: Rc<RefCell<TaskOutcome<T>>>,
}

struct TaskOutcome<T> {
    output: Option<T>,
    waker: Option<Waker>,
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let mut outcome = self.shared.borrow_mut();
        match outcome.output.take() {
            Some(output) => Poll::Ready(output),
            None => {
                outcome.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

/// Waits for a duration of simulated time, which takes no real time.
///
/// # Panics
///
/// If no simulation runs on this thread.
pub async fn sleep(duration: Duration) {
    let world = Arc::clone(&current("sleep").world);
    let mut timer = None;
    std::future::poll_fn(|context| match timer {
        Some(at) if world.now() >= at => Poll::Ready(()),
        _ => {
            timer = Some(world.wake_after(duration, timer, context.waker()));
            Poll::Pending
        }
    })
    .await;
}

/// Yields to other tasks. The seed decides which of them run first, if any.
pub async fn yield_now() {
    let mut yielded = false;
    std::future::poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

type Body = Pin<Box<dyn Future<Output = ()>>>;

/// The tasks of one simulation.
pub(super) struct SimTasks {
    world: Arc<World>,
    tasks: RefCell<BTreeMap<u64, TaskSlot>>,
    next: Cell<u64>,
    steps: Cell<u64>,
    woken: Arc<RunQueue>,
    /// The instant that corresponds to time 0 of the simulation.
    began: Instant,
}

struct TaskSlot {
    name: String,
    /// `None` for `main`, and while the task is being polled.
    body: Option<Body>,
    waker: Waker,
}

/// The tasks that can run. Wakers may be called on any thread.
#[derive(Default)]
struct RunQueue(Mutex<Vec<u64>>);

impl RunQueue {
    fn add(&self, id: u64) {
        let mut woken = lock(&self.0);
        if !woken.contains(&id) {
            woken.push(id);
        }
    }
}

struct TaskWaker {
    id: u64,
    woken: Arc<RunQueue>,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.add(self.id);
    }
}

impl SimTasks {
    fn new(world: Arc<World>) -> Self {
        Self {
            world,
            tasks: RefCell::default(),
            next: Cell::new(0),
            steps: Cell::new(0),
            woken: Arc::default(),
            began: Instant::now(),
        }
    }

    fn add(&self, name: &str, body: Option<Body>) -> u64 {
        let id = self.next.get();
        self.next.set(id.wrapping_add(1));
        let woken = Arc::clone(&self.woken);
        let slot = TaskSlot {
            name: name.into(),
            body,
            waker: Arc::new(TaskWaker { id, woken }).into(),
        };
        self.tasks.borrow_mut().insert(id, slot);
        self.woken.add(id);
        id
    }

    fn waker(&self, id: u64) -> Waker {
        let tasks = self.tasks.borrow();
        tasks
            .get(&id)
            .map_or_else(|| Waker::noop().clone(), |slot| slot.waker.clone())
    }

    /// Chooses a task that can run. Returns `None` if the network continues first, or if no task
    /// can run.
    fn choose(&self) -> Option<u64> {
        self.steps.set(self.steps.get().wrapping_add(1));
        let mut woken = lock(&self.woken.0);
        let index = self.world.choose(woken.len())?;
        Some(woken.swap_remove(index))
    }

    /// Chooses a task that can run and is not being polled on the stack below.
    fn choose_other(&self) -> Option<u64> {
        self.steps.set(self.steps.get().wrapping_add(1));
        let mut woken = lock(&self.woken.0);
        let tasks = self.tasks.borrow();
        let free: Vec<_> = woken
            .iter()
            .enumerate()
            .filter(|(_, id)| tasks.get(id).is_some_and(|slot| slot.body.is_some()))
            .map(|(index, _)| index)
            .collect();
        let index = free.get(self.world.choose(free.len())?)?;
        Some(woken.swap_remove(*index))
    }

    fn record(&self, id: u64) {
        self.world.record(&[0, id]);
    }

    fn poll(&self, id: u64) {
        let taken = {
            let mut tasks = self.tasks.borrow_mut();
            tasks
                .get_mut(&id)
                .and_then(|slot| Some((slot.body.take()?, slot.waker.clone())))
        };
        let Some((mut body, waker)) = taken else {
            return;
        };
        self.record(id);
        let poll = body.as_mut().poll(&mut Context::from_waker(&waker));
        let mut tasks = self.tasks.borrow_mut();
        if poll.is_ready() {
            tasks.remove(&id);
        } else if let Some(slot) = tasks.get_mut(&id) {
            slot.body = Some(body);
        }
    }

    /// Runs another task, or processes an event of the network, on behalf of a task that blocks and
    /// cannot yield. Returns false if there was nothing to do.
    fn step_beside(&self) -> bool {
        match self.choose_other() {
            Some(id) => {
                self.poll(id);
                true
            }
            None => self.world.process_event(),
        }
    }

    fn names(&self) -> Vec<String> {
        let tasks = self.tasks.borrow();
        tasks.values().map(|slot| slot.name.clone()).collect()
    }

    /// Drops all tasks. Dropping a task may wake or remove others.
    fn clear(&self) {
        loop {
            let first = self.tasks.borrow_mut().pop_first();
            if first.is_none() {
                break;
            }
        }
        let mut woken = lock(&self.woken.0);
        woken.clear();
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<SimTasks>>> = const { RefCell::new(None) };
}

/// Guard that makes a simulation the current one of this thread.
struct Entered;

impl Entered {
    fn new(tasks: &Rc<SimTasks>) -> Self {
        CURRENT.with_borrow_mut(|current| {
            assert!(
                current.is_none(),
                "a simulation runs on this thread already"
            );
            *current = Some(Rc::clone(tasks));
        });
        Self
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let tasks = CURRENT.take();
        if let Some(tasks) = tasks {
            // Also done after a panic, because tasks and the simulation may refer to each other in
            // a cycle.
            tasks.clear();
        }
    }
}

fn try_current() -> Option<Rc<SimTasks>> {
    CURRENT.try_with(|current| current.borrow().clone()).ok()?
}

fn current(details: &str) -> Rc<SimTasks> {
    try_current().unwrap_or_else(|| panic!("sim::{details} requires a simulation on this thread"))
}

/// Returns the time for waits on this thread: the simulated time if a simulation runs, else the
/// real time.
pub fn clock() -> Instant {
    let tasks = try_current();
    tasks.map_or_else(Instant::now, |tasks| {
        let elapsed = tasks.world.tick();
        tasks.began.checked_add(elapsed).unwrap_or(tasks.began)
    })
}

/// Returns the network of the simulation that runs on this thread.
pub(super) fn current_world() -> Option<Arc<World>> {
    Some(Arc::clone(&try_current()?.world))
}

/// Runs another task or processes an event, if this thread runs the simulation of `world`. Returns
/// false if there was nothing to do, and `None` if this thread does not run that simulation.
pub(super) fn step_beside(world: &Arc<World>) -> Option<bool> {
    let tasks = try_current().filter(|tasks| Arc::ptr_eq(&tasks.world, world))?;
    Some(tasks.step_beside())
}
