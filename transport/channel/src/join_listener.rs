//! The listener of a side that listens.

use std::thread::JoinHandle;

use jstream_endpoint::Closer;

/// A listener and its thread.
pub(super) struct JoinListener {
    closer: Closer,
    thread: Option<JoinHandle<()>>,
}

impl JoinListener {
    pub(super) fn new(closer: Closer, thread: JoinHandle<()>) -> Self {
        Self {
            closer,
            thread: Some(thread),
        }
    }

    /// Closes the listener. The address is free when this returns.
    pub(super) fn end(&mut self) {
        self.closer.close();
        // The thread holds no strong reference to the peers, so this does not wait for itself.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
