//! Changes of the state of a connection, as a program observes them.

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::options::ConnectionState;
use super::reconnection::Reconnection;
use crate::session::until_ready;
use crate::support::may_block;

/// The changes of the state of a client's connection; see
/// [`Client::state_changes`](crate::Client::state_changes). A change that is followed by another one
/// before it was observed is skipped. Keeps the connection open, like the client.
pub struct StateChanges {
    reconnection: Arc<Reconnection>,
    /// Number of the last change that was observed, and the key of the wait.
    seen: u64,
    key: Option<u64>,
}

impl StateChanges {
    pub(crate) fn new(reconnection: Arc<Reconnection>) -> Self {
        Self {
            seen: reconnection.changes(),
            reconnection,
            key: None,
        }
    }

    /// Waits, as a task, for the next change, and returns the state after it.
    pub async fn next(&mut self) -> ConnectionState {
        let Self {
            reconnection,
            seen,
            key,
        } = self;
        poll_fn(|context| reconnection.poll_change(seen, key, context)).await;
        reconnection.state()
    }

    /// Blocks until the next change, and returns the state after it; `None` if there is none in
    /// this time.
    ///
    /// # Panics
    ///
    /// With the feature `tokio`, in debug builds, if the thread runs tasks of tokio.
    #[track_caller]
    pub fn wait(&mut self, time: Duration) -> Option<ConnectionState> {
        may_block("StateChanges::wait");
        let until = Instant::now().checked_add(time);
        let Self {
            reconnection,
            seen,
            key,
        } = self;
        until_ready(
            || None,
            until,
            |context| reconnection.poll_change(seen, key, context),
        )?;
        Some(reconnection.state())
    }
}

impl Drop for StateChanges {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.reconnection.cancel(key);
        }
    }
}

impl fmt::Debug for StateChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateChanges").finish_non_exhaustive()
    }
}
