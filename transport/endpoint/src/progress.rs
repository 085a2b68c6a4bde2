//! Thread that drives the posted operations of endpoints.

use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use super::carrier::WorkQueue;
use super::endpoint::Endpoint;

/// A thread that drives the posted operations of endpoints while the program computes.
///
/// Without it, an operation makes progress only while a thread waits for it, or for another
/// operation of the same direction. With it, messages are received into the buffers that were
/// posted for them, and large messages are sent, as fast as the peer permits. The thread sleeps
/// while none of its endpoints can make progress.
///
/// Dropping the handle ends the thread. Posted operations stay posted.
#[derive(Debug)]
pub struct Progress {
    work: Arc<WorkQueue>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts a thread.
    ///
    /// # Errors
    ///
    /// The error of the system if it is out of threads.
    pub fn start() -> io::Result<Self> {
        let (work, thread) = WorkQueue::start()?;
        Ok(Self {
            work,
            thread: Some(thread),
        })
    }

    /// Drives the current and future operations of `endpoint` until the connection ends or the
    /// handle is dropped. The connection is not kept alive.
    pub fn attach(&self, endpoint: &Endpoint) {
        self.work.attend(endpoint.shared());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.work.stop();
        if let Some(thread) = self.thread.take() {
            // The thread catches panics, so `join` returns no error.
            let _ = thread.join();
        }
    }
}
