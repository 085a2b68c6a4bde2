//! Executors for methods that cannot run on the thread that received their call.

use std::fmt;
use std::sync::Arc;

use jstream_active::{Executor, ThreadPool};

use crate::call::MOST_WAITING;

/// Wrapper that runs work within an environment, such as a runtime.
type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// Executor on which the async methods of a server resume after they were suspended, and on which
/// plain methods run that are nested too deeply.
///
/// No runtime is needed. The default is the runtime of tokio in which the server starts, if the
/// feature `tokio` is on and there is one: a runtime is current in its tasks, and after
/// `Handle::enter`. Otherwise, the default is a small thread pool, whose threads are started on
/// demand. Suspended methods resume only while their runtime runs, so a server should stop before
/// its runtime does.
#[derive(Clone)]
pub struct Workers {
    tasks: Arc<dyn Executor>,
    spare: Arc<dyn Executor>,
    around: Option<Arc<Around>>,
    /// Runtime of `tasks` and `spare`, if they use one.
    #[cfg(feature = "tokio")]
    runtime: Option<Arc<tokio_runtime::ChosenRuntime>>,
}

/// The runtime in which the server starts, or a pool with one thread per processor, but at least
/// two.
#[cfg(not(feature = "tokio"))]
impl Default for Workers {
    fn default() -> Self {
        Self::of(Arc::new(ThreadPool::default()))
    }
}

/// The runtime in which the server starts, or a pool with one thread per processor, but at least
/// two.
#[cfg(feature = "tokio")]
impl Default for Workers {
    fn default() -> Self {
        Self::in_runtime(tokio_runtime::ChosenRuntime::default())
    }
}

impl Workers {
    /// Creates a pool of at most `most` threads for methods that were suspended.
    #[must_use]
    pub fn threads(most: usize) -> Self {
        Self::of(Arc::new(ThreadPool::new(most)))
    }

    /// Uses a custom executor.
    #[must_use]
    pub fn of(executor: Arc<dyn Executor>) -> Self {
        Self::fixed(executor, Arc::new(ThreadPool::new(MOST_WAITING)))
    }

    /// Uses the same executor for suspended and for deeply nested methods.
    pub(crate) fn only(executor: Arc<dyn Executor>) -> Self {
        Self::fixed(executor.clone(), executor)
    }

    /// Uses a tokio runtime. Methods may use features that need the runtime, even before they are
    /// suspended, because the receiving threads have entered it. Methods that resume after the
    /// runtime has shut down are dropped.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn tokio(runtime: tokio::runtime::Handle) -> Self {
        Self::in_runtime(tokio_runtime::ChosenRuntime::from_runtime(runtime))
    }

    #[cfg(feature = "tokio")]
    fn in_runtime(runtime: tokio_runtime::ChosenRuntime) -> Self {
        use tokio_runtime::{RuntimeExecutor, spawn, spawn_blocking};
        let runtime = Arc::new(runtime);
        let around = runtime.clone();
        let waiting = ThreadPool::new(MOST_WAITING);
        Self {
            tasks: RuntimeExecutor::new(&runtime, spawn, ThreadPool::default()),
            spare: RuntimeExecutor::new(&runtime, spawn_blocking, waiting),
            around: Some(Arc::new(move |work| around.run(work))),
            runtime: Some(runtime),
        }
    }

    fn fixed(tasks: Arc<dyn Executor>, spare: Arc<dyn Executor>) -> Self {
        Self {
            tasks,
            spare,
            around: None,
            #[cfg(feature = "tokio")]
            runtime: None,
        }
    }

    /// Returns the workers for one server. If the runtime is not chosen, each server chooses its
    /// own.
    pub(crate) fn of_server(&self) -> Self {
        #[cfg(feature = "tokio")]
        if self.runtime.as_ref().is_some_and(|of| !of.is_chosen()) {
            // Servers that are made of clones of one value may start in different runtimes.
            return Self::default();
        }
        self.clone()
    }

    /// Chooses the current runtime, if there is one and none was chosen before.
    pub(crate) fn start(&self) {
        #[cfg(feature = "tokio")]
        if let Some(runtime) = &self.runtime {
            runtime.choose_current();
        }
    }

    /// Returns true if methods run in a runtime of one thread, which runs them only while a thread
    /// of the program drives it.
    pub(crate) fn need_a_driver(&self) -> bool {
        #[cfg(feature = "tokio")]
        if let Some(runtime) = &self.runtime {
            return runtime.has_one_thread();
        }
        false
    }

    pub(crate) fn tasks(&self) -> &Arc<dyn Executor> {
        &self.tasks
    }

    pub(crate) fn spare(&self) -> &Arc<dyn Executor> {
        &self.spare
    }

    /// Runs the work of a receiving thread.
    pub(crate) fn around(&self, work: &mut dyn FnMut()) {
        match &self.around {
            Some(around) => around(work),
            None => work(),
        }
    }
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").finish_non_exhaustive()
    }
}

#[cfg(feature = "tokio")]
mod tokio_runtime {
    use std::sync::{Arc, OnceLock};

    use jstream_active::{Executor, Job, ThreadPool};
    use tokio::runtime::{Handle, RuntimeFlavor};

    /// A runtime that is chosen at most once: by the program, or when a server starts in it.
    #[derive(Default)]
    pub(crate) struct ChosenRuntime(OnceLock<Handle>);

    impl ChosenRuntime {
        pub(crate) fn from_runtime(runtime: Handle) -> Self {
            Self(runtime.into())
        }

        pub(crate) fn is_chosen(&self) -> bool {
            self.0.get().is_some()
        }

        pub(crate) fn choose_current(&self) {
            if let Ok(current) = Handle::try_current() {
                // The first start decides. A later one in another runtime must not move methods
                // that run already.
                self.0.get_or_init(|| current);
            }
        }

        pub(crate) fn has_one_thread(&self) -> bool {
            let flavor = self.0.get().map(Handle::runtime_flavor);
            flavor == Some(RuntimeFlavor::CurrentThread)
        }

        /// Runs the work of a receiving thread.
        pub(crate) fn run(&self, work: &mut dyn FnMut()) {
            let _entered = self.0.get().map(Handle::enter);
            work();
        }
    }

    /// Runs jobs in the runtime by `spawn`, or in a pool if no runtime was chosen.
    pub(crate) struct RuntimeExecutor {
        runtime: Arc<ChosenRuntime>,
        spawn: fn(&Handle, Job),
        pool: ThreadPool,
    }

    impl RuntimeExecutor {
        pub(crate) fn new(
            runtime: &Arc<ChosenRuntime>,
            spawn: fn(&Handle, Job),
            pool: ThreadPool,
        ) -> Arc<Self> {
            let runtime = runtime.clone();
            Arc::new(Self {
                runtime,
                spawn,
                pool,
            })
        }
    }

    impl Executor for RuntimeExecutor {
        fn execute(&self, job: Job) {
            match self.runtime.0.get() {
                Some(runtime) => (self.spawn)(runtime, job),
                None => self.pool.execute(job),
            }
        }
    }

    /// Runs a job as a task. If the runtime has shut down, the job is dropped.
    pub(crate) fn spawn(runtime: &Handle, job: Job) {
        drop(runtime.spawn(async move { job.run() }));
    }

    /// Runs a job that may block.
    pub(crate) fn spawn_blocking(runtime: &Handle, job: Job) {
        drop(runtime.spawn_blocking(move || job.run()));
    }
}
