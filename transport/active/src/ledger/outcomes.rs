//! Outcomes of operations on a ledger.

/// A violation of the protocol by the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Violation(pub(crate) &'static str);

/// The peer's window is exhausted.
pub(crate) const FULL: Violation = Violation("message exceeds the window");

/// Reason for which a message can't be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    NoCredit,
    Ended,
}

/// Urgency of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    Now,
    /// Coalesced with frames that follow soon: answers are outstanding, and a thread that waits for
    /// one flushes first.
    Asking,
    /// Coalesced with other answers, while more received messages are to be answered.
    Answering,
}
