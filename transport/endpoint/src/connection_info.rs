//! Properties that both directions of a connection share, and the ways in which a direction ends.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use jstream::buffer::{Pool, PoolError};

use super::trimmer::Trimmer;
use jstream_base::Address;
use jstream_base::Header;
use jstream_base::Options;
use jstream_base::byte_limit::Evict;
use jstream_base::events::emit;
use jstream_base::process::Origin;
use jstream_base::{HeaderError, RecvError, SendError};
use jstream_device::Outbox;
use jstream_device::connection::{Control, Fault, Limits, PeerIdentity};
use tracing::Level;

/// Properties of a connection that do not change during its lifetime.
pub struct ConnectionInfo {
    /// Address that the connection was made with.
    pub(crate) address: Address,
    pub(crate) peer: Address,
    /// The identity of the peer, as far as the device knows it.
    pub(crate) identity: PeerIdentity,
    /// The process to which the connection belongs.
    pub(crate) origin: Origin,
    pub(crate) scheme: &'static str,
    pub limits: Limits,
    pub(crate) degraded: Vec<String>,
    /// Closes the device; `None` after the device was released.
    control: Mutex<Option<Arc<dyn Control>>>,
    /// Same as `control`, if the device has an outbox.
    outbox: Option<Arc<dyn Control>>,
    pub pool: Pool,
    pub(crate) trimmer: Arc<Trimmer>,
    pub(crate) message_timeout: Duration,
    pub(crate) send_timeout: Duration,
    pub spin: Duration,
    pub(crate) trace_messages: bool,
    /// Maximum number of messages that are kept for later receives, and of their bytes.
    pub(crate) kept_messages: usize,
    pub(crate) kept_bytes: u64,
    /// True if the device was told to close for another reason than a request of the program.
    broken: AtomicBool,
    /// True if the reason was a protocol violation of the peer.
    peer_erred: AtomicBool,
    /// The reason, if the connection was ended to make room for others.
    evicted: OnceLock<&'static str>,
}

/// Reason why a direction has ended.
#[derive(Debug)]
pub(crate) enum EndReason {
    ClosedLocally,
    Ended,
    Lost { received: u64, source: io::Error },
    TooLarge { length: u64 },
    Malformed(HeaderError),
    Stalled { received: u64 },
    Forked,
}

/// Meaning of a fault of a half: a permanent end, or a temporary lack of buffers.
pub(crate) enum Trouble {
    End(EndReason),
    NoBuffer { length: u64, source: PoolError },
}

impl Trouble {
    /// Classifies a fault. `begun` is the number of bytes of a message that were received.
    pub(crate) fn new(fault: Fault, begun: u64) -> Self {
        Self::End(match fault {
            Fault::ClosedLocally => EndReason::ClosedLocally,
            Fault::Ended => EndReason::Ended,
            Fault::Lost(source) => EndReason::Lost {
                received: begun,
                source,
            },
            Fault::TooLarge { length } => EndReason::TooLarge { length },
            Fault::Malformed(error) => EndReason::Malformed(error),
            Fault::NoBuffer { length, source } => return Self::NoBuffer { length, source },
        })
    }
}

impl EndReason {
    /// Returns true if the other direction is useless as well.
    pub(crate) fn breaks(&self) -> bool {
        !matches!(self, Self::ClosedLocally | Self::Ended | Self::Forked)
    }

    /// Returns true if a send direction with this end leaves nothing to receive either. Messages
    /// that a peer sent before it went away can still be received.
    pub(crate) fn silences(&self) -> bool {
        // These two errors say only that the peer does not receive any more.
        match self {
            Self::Lost { source, .. } => !matches!(
                source.kind(),
                io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
            ),
            other => other.breaks(),
        }
    }

    /// Returns one word for logs.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::ClosedLocally => "closed",
            Self::Ended => "ended",
            Self::Lost { .. } => "lost",
            Self::TooLarge { .. } => "too large",
            Self::Malformed(_) => "malformed",
            Self::Stalled { .. } => "stalled",
            Self::Forked => "forked",
        }
    }
}

impl ConnectionInfo {
    #[allow(clippy::too_many_arguments, reason = "one place makes it")]
    pub(crate) fn new(
        address: Address,
        (peer, identity): (Address, PeerIdentity),
        scheme: &'static str,
        limits: Limits,
        degraded: Vec<String>,
        control: Arc<dyn Control>,
        options: &Options,
    ) -> Self {
        Self {
            address,
            peer,
            identity,
            origin: Origin::here(),
            scheme,
            limits,
            degraded,
            // Kept beside `control`, because `outbox` returns a reference that is valid after the
            // release of the device.
            outbox: control.outbox().is_some().then(|| control.clone()),
            control: Mutex::new(Some(control)),
            pool: options.pool.clone(),
            trimmer: Trimmer::new(options.pool.clone()),
            message_timeout: options.message_timeout,
            send_timeout: options.send_timeout,
            spin: options.spin,
            trace_messages: options.trace_messages,
            kept_messages: options.queue_messages.max(1),
            kept_bytes: options.queue_bytes,
            broken: AtomicBool::new(false),
            peer_erred: AtomicBool::new(false),
            evicted: OnceLock::new(),
        }
    }

    /// Ends the connection because one direction failed.
    pub(crate) fn break_off(&self) {
        // Stored before the device is closed: whoever finds the local end then reads that it was
        // not the program's wish.
        self.broken.store(true, Ordering::Release);
        if self.peer_erred.load(Ordering::Relaxed) {
            self.reject();
        } else {
            self.close();
        }
    }

    /// Records that the connection is ended to make room for others, before it is closed.
    pub(crate) fn record_eviction(&self, why: &'static str) {
        // The first reason stays.
        let _ = self.evicted.set(why);
        self.broken.store(true, Ordering::Release);
    }

    /// Closes both directions of the device.
    pub(crate) fn close(&self) {
        if let Some(control) = self.control() {
            control.close();
        }
    }

    /// As [`close`](Self::close), because the peer violates the protocol.
    pub fn reject(&self) {
        if let Some(control) = self.control() {
            control.reject();
        }
    }

    /// Returns true if the peer is known to receive nothing any more. This is a system call.
    pub fn is_gone(&self) -> bool {
        self.control().is_some_and(|control| control.is_gone())
    }

    /// Releases a device that was closed. Its descriptors are closed when both halves are dropped
    /// too. A device with an outbox stays as long as the connection.
    pub(crate) fn release(&self) {
        // The guard is gone at the end of this statement, so the destructor of the device runs
        // without the lock.
        let control = self.lock_control().take();
        drop(control);
    }

    /// Returns the outbox, if the device has one: a source of buffers that the peer reads in place.
    #[inline]
    pub(crate) fn outbox(&self) -> Option<&Outbox> {
        self.outbox.as_ref()?.outbox()
    }

    fn control(&self) -> Option<Arc<dyn Control>> {
        self.lock_control().clone()
    }

    fn lock_control(&self) -> MutexGuard<'_, Option<Arc<dyn Control>>> {
        jstream_sync::lock(&self.control)
    }

    /// Records whether the peer is at fault for an end, before the connection is closed.
    pub(crate) fn blame(&self, end: &EndReason) {
        if matches!(end, EndReason::TooLarge { .. } | EndReason::Malformed(_)) {
            self.peer_erred.store(true, Ordering::Relaxed);
        }
    }

    /// Logs the end of a direction.
    pub(crate) fn note_end(&self, end: &EndReason, direction: &'static str) {
        let (peer, scheme, end) = (self.peer.clone(), self.scheme, end.word());
        emit(Level::DEBUG, move || {
            tracing::debug!(%peer, scheme, direction, end, "ended");
        });
    }

    /// Logs a message, if message traces are enabled.
    #[inline]
    pub(crate) fn trace(&self, header: &Header, direction: &'static str) {
        if self.trace_messages {
            self.trace_slowly(header, direction);
        }
    }

    #[cold]
    fn trace_slowly(&self, header: &Header, direction: &'static str) {
        let Header { kind, length, .. } = *header;
        let peer = self.peer.clone();
        emit(Level::TRACE, move || {
            tracing::trace!(%peer, direction, kind, length, "message");
        });
    }

    /// Returns true if an end that looks like a local close was caused by a failure.
    fn was_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Returns the error of a message whose push met this end.
    pub(crate) fn send_error(&self, end: &EndReason) -> SendError {
        let peer = self.peer.clone();
        match end {
            EndReason::Lost { source, .. } => SendError::Lost {
                peer,
                source: copy_of(source),
            },
            _ => self.unsendable(end),
        }
    }

    /// Returns the error of a message that is sent after this end.
    pub(crate) fn unsendable(&self, end: &EndReason) -> SendError {
        let peer = self.peer.clone();
        match end {
            EndReason::ClosedLocally if !self.was_broken() => SendError::ClosedLocally { peer },
            EndReason::Forked => SendError::Forked { peer },
            _ => SendError::Closed { peer },
        }
    }

    pub(crate) fn recv_error(&self, end: &EndReason) -> RecvError {
        let peer = self.peer.clone();
        match end {
            EndReason::ClosedLocally if self.was_broken() => RecvError::Lost {
                received: 0,
                peer,
                source: match self.evicted.get() {
                    Some(why) => io::Error::new(io::ErrorKind::ConnectionAborted, *why),
                    None => io::ErrorKind::ConnectionAborted.into(),
                },
            },
            EndReason::ClosedLocally => RecvError::ClosedLocally { peer },
            EndReason::Ended => RecvError::Closed { peer },
            EndReason::Forked => RecvError::Forked { peer },
            EndReason::Lost { received, source } => RecvError::Lost {
                received: *received,
                peer,
                source: copy_of(source),
            },
            EndReason::TooLarge { length } => RecvError::TooLarge {
                length: *length,
                max: self.limits.max_receive,
                peer,
            },
            EndReason::Malformed(source) => RecvError::Malformed {
                peer,
                source: *source,
            },
            EndReason::Stalled { received } => RecvError::Stalled {
                received: *received,
                after: self.message_timeout,
                peer,
            },
        }
    }
}

/// Maximum number of times for which the timeout of a message is granted: 64 GiB with the default
/// limit of a message.
const MAX_PARTS: u32 = 1024;

/// Returns the time that a message of `length` bytes may take, if one of `max` bytes may take
/// `timeout`. A message that is longer than the limit of the connection may take the same time for
/// each part of that length, so that the least rate stays the same. The number of parts is limited,
/// because a peer may announce any length.
pub(crate) fn time_for(timeout: Duration, length: u64, max: u64) -> Duration {
    let parts = length.div_ceil(max.max(1)).clamp(1, u64::from(MAX_PARTS));
    timeout.saturating_mul(u32::try_from(parts).unwrap_or(MAX_PARTS))
}

/// Ends the connection without a lock of its directions, which the threads that use them find out
/// from the device.
impl Evict for ConnectionInfo {
    fn evict(&self, why: &'static str) {
        self.record_eviction(why);
        self.close();
    }
}

/// Duplicates an error, because each operation gets its own.
fn copy_of(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_message_is_limited_whatever_its_length() {
        let second = Duration::from_secs(1);
        assert_eq!(time_for(second, 0, 100), second);
        assert_eq!(time_for(second, 100, 100), second);
        assert_eq!(time_for(second, 101, 100), 2 * second);
        assert_eq!(time_for(second, u64::MAX, 1), MAX_PARTS * second);
        assert_eq!(time_for(second, 1, 0), second);
    }
}
