//! Acceptor of members. Each connection is handled in its own thread, so a silent peer does not
//! delay the others.

use std::io;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::error::Refusal;
use super::words::{Ask, Unheard, Word};
use jstream_base::AcceptError;
use jstream_endpoint::{Closer, Endpoint, Incoming, Listener};

/// Maximum number of connections that are being handled. Further ones wait to be accepted. Limits
/// the cost of peers that connect and stay silent.
const MAX_ENTERING: usize = 64;

/// Time for which a refused peer may take to close its connection.
const GOODBYE: Duration = Duration::from_millis(200);

/// A listener, and the thread that accepts its connections. Dropping this frees the address.
pub(super) struct MemberAcceptor {
    closer: Closer,
    entering: Arc<Entering>,
    thread: Option<JoinHandle<()>>,
}

/// Counter of the connections that are being handled.
#[derive(Default)]
struct Entering {
    /// The count, and true if the acceptor is closed.
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl MemberAcceptor {
    /// Starts to accept connections, and calls `admit` with each of them.
    pub(super) fn open(
        listener: Listener,
        admit: impl Fn(Incoming) -> Result<(), String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let closer = listener.closer();
        let entering = Arc::new(Entering::default());
        let (counting, admit) = (entering.clone(), Arc::new(admit));
        let stand_open = move || {
            while counting.begin() {
                match listener.accept() {
                    Ok(incoming) => enter(incoming, &counting, &admit),
                    Err(error) => {
                        counting.end();
                        if matches!(error, AcceptError::ClosedLocally { .. }) {
                            return;
                        }
                        // The listener pauses by itself before it accepts again.
                        tracing::debug!(%error, "accepting a member failed");
                    }
                }
            }
        };
        let builder = Builder::new().name("jstream-world".to_owned());
        Ok(Self {
            closer,
            entering,
            thread: Some(builder.spawn(stand_open)?),
        })
    }
}

fn enter<F>(incoming: Incoming, entering: &Arc<Entering>, admit: &Arc<F>)
where
    F: Fn(Incoming) -> Result<(), String> + Send + Sync + 'static,
{
    let (counting, admit) = (entering.clone(), admit.clone());
    let builder = Builder::new().name("jstream-join".to_owned());
    let spawned = builder.spawn(move || {
        let peer = incoming.peer().clone();
        if let Err(reason) = admit(incoming) {
            tracing::debug!(%peer, reason, "did not join the world");
        }
        counting.end();
    });
    if spawned.is_err() {
        entering.end();
    }
}

impl Entering {
    /// Waits until another connection may be handled. Returns false if the acceptor is closed.
    fn begin(&self) -> bool {
        let mut state = jstream_sync::lock(&self.state);
        while state.0 >= MAX_ENTERING && !state.1 {
            let waited = self.changed.wait(state);
            state = jstream_sync::unpoisoned(waited);
        }
        state.0 = state.0.saturating_add(1);
        !state.1
    }

    fn end(&self) {
        let mut state = jstream_sync::lock(&self.state);
        state.0 = state.0.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    fn close(&self) {
        let mut state = jstream_sync::lock(&self.state);
        state.1 = true;
        drop(state);
        self.changed.notify_all();
    }
}

impl Drop for MemberAcceptor {
    fn drop(&mut self) {
        self.closer.close();
        self.entering.close();
        // The threads that handle connections are not joined.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Receives the request of a member, and returns the result of `check`. A refused member is told
/// the reason.
pub(super) fn ask<R>(
    endpoint: &Endpoint,
    wait: Duration,
    check: impl FnOnce(&Ask) -> Result<R, Refusal>,
) -> Result<R, String> {
    let refusal = match Word::hear(endpoint, wait) {
        Ok(Word::Ask(ask)) => match check(&ask) {
            Ok(accepted) => return Ok(accepted),
            Err(refusal) => refusal,
        },
        Ok(_) | Err(Unheard::Nonsense(_)) => Refusal::Nonsense,
        Err(unheard) => return Err(unheard.to_string()),
    };
    if Word::Refused(refusal).say(endpoint).is_ok() && endpoint.finish().is_ok() {
        // Unread data is received and discarded, because otherwise the operating system would reset
        // the connection.
        while Word::hear(endpoint, GOODBYE).is_ok() {}
    }
    Err(format!("refused: {refusal}"))
}
