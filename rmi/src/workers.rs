//! Where methods run that can't run where their calls are received.

use std::fmt;
use std::sync::Arc;

use jstream_transport::active::{Executor, ThreadPool};

/// How many plain methods may wait at other threads than those that receive.
pub(crate) const MOST_WAITING: usize = 16;

/// Does something inside something else.
type Around = dyn Fn(&mut dyn FnMut()) + Send + Sync;

/// Where the async methods of a server go on when they have waited, and where plain ones run that can't be nested
/// deeper.
///
/// No runtime is needed: by default it is a few threads, which are started when they are needed.
#[derive(Clone)]
pub struct Workers {
    tasks: Arc<dyn Executor>,
    spare: Arc<dyn Executor>,
    around: Option<Arc<Around>>,
}

impl Workers {
    /// So many threads at most for methods that have waited.
    #[must_use]
    pub fn threads(most: usize) -> Self {
        Self::of(Arc::new(ThreadPool::new(most)))
    }

    /// An executor of one's own.
    #[must_use]
    pub fn of(executor: Arc<dyn Executor>) -> Self {
        Self {
            tasks: executor,
            spare: Arc::new(ThreadPool::new(MOST_WAITING)),
            around: None,
        }
    }

    /// Everything at one place, as that says.
    pub(crate) fn only(executor: Arc<dyn Executor>) -> Self {
        Self {
            tasks: executor.clone(),
            spare: executor,
            around: None,
        }
    }

    /// The runtime of tokio. Methods may use what needs it, also before they wait: the threads that receive have
    /// entered it.
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

    /// Does the work of a thread that receives.
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

    /// Jobs as tasks. What is spawned when the runtime has ended is dropped.
    pub(super) struct Tasks(pub(super) Handle);

    impl Executor for Tasks {
        fn execute(&self, job: Job) {
            drop(self.0.spawn(async move { job.run() }));
        }
    }

    /// Jobs that may block.
    pub(super) struct Spare(pub(super) Handle);

    impl Executor for Spare {
        fn execute(&self, job: Job) {
            drop(self.0.spawn_blocking(move || job.run()));
        }
    }
}
