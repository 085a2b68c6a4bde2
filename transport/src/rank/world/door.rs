//! Letting in those who connect, each in a thread of its own: one who is silent holds up nobody else.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use super::error::Refusal;
use super::hall::{Hall, Member, Place};
use super::words::{Unheard, Word};
use crate::endpoint::{Closer, Endpoint, Incoming, Listener};
use crate::error::AcceptError;

/// How many are about to come in at once; further ones wait outside. Answers those who connect and are
/// silent.
const MAX_ENTERING: usize = 64;

/// How long one who is refused may take to say goodbye.
const GOODBYE: Duration = Duration::from_millis(200);

/// A listener, and the thread that lets in those who come there. Dropping it frees the address.
pub(super) struct Door {
    closer: Closer,
    entering: Arc<Entering>,
    thread: Option<JoinHandle<()>>,
}

/// How many are about to come in.
#[derive(Default)]
struct Entering {
    /// And whether the door is closed.
    state: Mutex<(usize, bool)>,
    changed: Condvar,
}

impl Door {
    /// Calls `admit` with all who connect.
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
                        // It waits by itself before it asks the system again.
                        tracing::debug!(%error, "nobody came to the world");
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
    /// Waits until one more may come in. False when the door is closed.
    fn begin(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while state.0 >= MAX_ENTERING && !state.1 {
            let waited = self.changed.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.0 = state.0.saturating_add(1);
        !state.1
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0 = state.0.saturating_sub(1);
        drop(state);
        self.changed.notify_all();
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.1 = true;
        drop(state);
        self.changed.notify_all();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.closer.close();
        self.entering.close();
        // Those who are about to come in are not waited for.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Hears what one wants who came, and keeps a place for it; who is refused is told why.
pub(super) fn ask<'h, M: Member>(
    hall: &'h Hall<M>,
    endpoint: &Endpoint,
    wait: Duration,
) -> Result<Place<'h, M>, String> {
    let refusal = match Word::hear(endpoint, wait) {
        Ok(Word::Ask(ask)) => match hall.reserve(&ask) {
            Ok(place) => return Ok(place),
            Err(refusal) => refusal,
        },
        Ok(_) | Err(Unheard::Nonsense(_)) => Refusal::Nonsense,
        Err(unheard) => return Err(unheard.to_string()),
    };
    if Word::Refused(refusal).say(endpoint).is_ok() && endpoint.finish().is_ok() {
        // What it has said besides is read: else the system would reset the connection.
        while Word::hear(endpoint, GOODBYE).is_ok() {}
    }
    Err(format!("refused: {refusal}"))
}
