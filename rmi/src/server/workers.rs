//! Executors for methods that cannot run on the thread that received their call.

use std::fmt;
use std::sync::Arc;

use jstream_transport::active::{Executor, ThreadPool};

use crate::call::MOST_WAITING;

/// Wrapper that runs work within an environment, such as a runtime.
type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// Executor on which the async methods of a server resume after they were suspended, and on which
/// plain methods run that are nested too deeply.
///
/// No runtime is needed: the default is a small thread pool, whose threads are started on demand.
#[derive(Clone)]
pub struct Workers {
    tasks: Arc<dyn Executor>,
    spare: Arc<dyn Executor>,
    around: Option<Arc<Around>>,
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
        Self {
            tasks: executor,
            spare: Arc::new(ThreadPool::new(MOST_WAITING)),
            around: None,
        }
    }

    /// Uses the same executor for suspended and for deeply nested methods.
    pub(crate) fn only(executor: Arc<dyn Executor>) -> Self {
        Self {
            tasks: executor.clone(),
            spare: executor,
            around: None,
        }
    }

    /// Uses a tokio runtime. Methods may use features that need the runtime, even before they are
    /// suspended, because the receiving threads have entered it.
    #[cfg(feature = "tokio")]
    #[must_use]
    pub fn tokio(runtime: tokio::runtime::Handle) -> Self {
        let around = runtime.clone();
        Self {
            tasks: Arc::new(tokio_runtime::Tasks(runtime.clone())),
            spare: Arc::new(tokio_runtime::Spare(runtime)),
            around: Some(Arc::new(move |work| {
                let _entered = around.enter();
                work();
            })),
        }
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
    use jstream_transport::active::{Executor, Job};
    use tokio::runtime::Handle;

    /// Runs jobs as tasks. If the runtime has shut down, they are dropped.
    pub(crate) struct Tasks(pub(crate) Handle);

    impl Executor for Tasks {
        fn execute(&self, job: Job) {
            drop(self.0.spawn(async move { job.run() }));
        }
    }

    /// Runs jobs that may block.
    pub(crate) struct Spare(pub(crate) Handle);

    impl Executor for Spare {
        fn execute(&self, job: Job) {
            drop(self.0.spawn_blocking(move || job.run()));
        }
    }
}
