//! Acceptor of members. What a stranger can cause happens in the acceptor's one thread. A member
//! that is accepted gets a thread of its own for the rest.

use jstream_base::events::emit;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;
use tracing::Level;

use super::error::Refusal;
use super::words::{Ask, LONGEST, Word};
use jstream_endpoint::acceptor::{Acceptor, AcceptorLimits, Newcomer};
use jstream_endpoint::{Endpoint, Listener};

/// Maximum number of accepted members whose threads run at a time. Members beyond it are closed,
/// and try again.
const MAX_ENTERING: usize = 256;

/// A listener, and the thread that accepts its connections. Dropping this frees the address.
pub(super) struct MemberAcceptor {
    _acceptor: Acceptor,
    evicted: Arc<AtomicU64>,
}

impl MemberAcceptor {
    /// Starts to accept connections. `check` decides about the request of each of them, which must
    /// come within `wait`, and does not block. `admit` gets the result of `check` and the
    /// connection, in a thread of its own.
    pub(super) fn open<R: Send + 'static>(
        listener: Listener,
        wait: Duration,
        check: impl Fn(&Ask) -> Result<R, Refusal> + Send + Sync + 'static,
        admit: impl Fn(R, Endpoint) -> Result<(), String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        // The greeting of the device takes a part of the time.
        let limits = AcceptorLimits::new(wait.saturating_mul(2));
        let evicted = limits.evicted.clone();
        let (check, admit) = (Arc::new(check), Arc::new(admit));
        let entering = Arc::new(AtomicUsize::new(0));
        let greet = move |newcomer: Newcomer| {
            let (check, admit) = (check.clone(), admit.clone());
            let entering = entering.clone();
            async move {
                let peer = newcomer.peer().clone();
                let enter = |(accepted, endpoint)| {
                    let run = move || admit(accepted, endpoint);
                    // Each member that is admitted has a thread, so their number is limited. The
                    // guard counts until that thread has ended.
                    MemberThread::reserve(entering)?.spawn(run, peer.to_string())
                };
                let asked = ask(newcomer, &*check).await;
                if let Err(reason) = asked.and_then(enter) {
                    emit(Level::DEBUG, move || {
                        tracing::debug!(%peer, reason, "did not join the world");
                    });
                }
            }
        };
        Ok(Self {
            _acceptor: Acceptor::open("jstream-world", listener, limits, greet)?,
            evicted,
        })
    }

    /// Returns the number of connections that were closed during their handshakes, because too many
    /// came.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }
}

/// A place among the threads of accepted members. Dropping it gives the place back.
struct MemberThread(Arc<AtomicUsize>);

impl MemberThread {
    fn reserve(entering: Arc<AtomicUsize>) -> Result<Self, String> {
        let before = entering.fetch_add(1, Ordering::Relaxed);
        let thread = Self(entering);
        if before < MAX_ENTERING {
            return Ok(thread);
        }
        Err(format!("{MAX_ENTERING} members are being admitted already"))
    }

    fn spawn(
        self,
        run: impl FnOnce() -> Result<(), String> + Send + 'static,
        peer: String,
    ) -> Result<(), String> {
        let spawned = jstream_sync::threads::spawn("jstream-join", move || {
            if let Err(reason) = run() {
                emit(Level::DEBUG, move || {
                    tracing::debug!(peer, reason, "did not join the world");
                });
            }
            drop(self);
        });
        spawned.map(drop).map_err(|error| error.to_string())
    }
}

impl Drop for MemberThread {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Receives the request of a member, and returns the result of `check`. A refused member is told
/// the reason.
async fn ask<R>(
    newcomer: Newcomer,
    check: impl Fn(&Ask) -> Result<R, Refusal>,
) -> Result<(R, Endpoint), String> {
    let established = newcomer.establish().await;
    let candidate = established.map_err(|error| error.to_string())?;
    let message = candidate.receive(LONGEST).await;
    let message = message.map_err(|error| error.to_string())?;
    let refusal = match Word::from_message(&message.header, message.payload.as_bytes()) {
        Ok(Word::Ask(ask)) => match check(&ask) {
            Ok(accepted) => return Ok((accepted, candidate.admit())),
            Err(refusal) => refusal,
        },
        Ok(_) | Err(_) => Refusal::Nonsense,
    };
    let (header, payload) = Word::Refused(refusal).to_message();
    // The peer reads the refusal only if the connection is not reset before, which `dismiss`
    // prevents.
    if candidate.send(header, &payload).await.is_ok() {
        candidate.dismiss().await;
    }
    Err(format!("refused: {refusal}"))
}
