//! Limits of suspended methods and held calls.

use std::sync::Arc;

use crate::session::pipelining::Promises;
use crate::session::state::Session;
use crate::session::waiting::ServerCounters;

/// Guard that counts a suspended method. It holds no reference to its connection, because the
/// connection may own it.
pub(crate) struct Waits(Arc<Promises>);

impl Waits {
    pub(crate) fn new(session: &Session) -> Self {
        session.counts.suspend();
        Self(session.promises.clone())
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        // The count falls before the stalled calls are looked for. The reverse order would let a
        // call stall after the look and before the decrement, and nobody would resume it.
        self.0.counts().resume();
        self.0.resume_stalled();
    }
}

impl Session {
    /// Returns the counters of the server.
    pub(crate) fn load(&self) -> &Arc<ServerCounters> {
        self.counts.all().load()
    }

    /// Returns true if one more method may be suspended, or one more call held.
    pub(crate) fn may_wait(&self) -> bool {
        let waiting = self.methods().saturating_add(self.counts.held());
        // The count of all connections is not read if this one alone decides: it is a cache line
        // that all connections write.
        let in_all = || self.load().waiting() < self.terms.max_waiting_in_all;
        // A connection may always suspend one method. Otherwise a few busy peers could keep a new
        // one from being served at all.
        waiting < self.terms.max_waiting && (waiting == 0 || in_all())
    }

    /// Returns true if the method of a pipelined call whose turn has come may be suspended. Held
    /// calls do not count here, because they may be waiting behind this very call.
    pub(crate) fn may_wait_in_turn(&self) -> bool {
        let in_all = || self.load().methods() < self.terms.max_waiting_in_all;
        !self.is_full() && (self.methods() == 0 || in_all())
    }

    /// Returns true if a call has to wait until a suspended method of this connection ends, which
    /// [resumes the held calls](crate::session::pipelining::Promises::resume_stalled).
    pub(crate) fn is_full(&self) -> bool {
        let methods = self.methods();
        // Only the end of a suspended method resumes a stalled call. Without one, a call that
        // stalls would wait for ever.
        methods > 0 && methods >= self.terms.max_waiting
    }

    fn methods(&self) -> usize {
        self.counts.methods()
    }

    /// Returns true if calls are no longer accepted.
    pub(crate) fn is_ending(&self) -> bool {
        self.counts.all().is_ending()
    }
}
