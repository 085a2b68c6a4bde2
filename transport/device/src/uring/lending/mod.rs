//! Zero-copy sends of large buffers.
//!
//! A normal send copies the message and is done when the call returns. In a zero-copy send, the
//! kernel reads the buffer until the peer has received the data, and then reports it. No thread
//! waits for that. Instead, the buffer is *lent*: from then on it belongs to the `lender` of the
//! thread that sent it, and returns to its pool when the kernel has released it. So only owned
//! buffers are lent, because they can be kept, and never memory that the program has borrowed out
//! for a call.
//!
//! Modules: `lender` is the ring through which a thread lends, `loans` are the sends that the
//! kernel has not released, and `regions` are the memory regions registered with the kernel. A
//! [`Lending`] is the state of one socket.
//!
//! Decision 042 has the reasons.

mod lender;
mod loans;
mod regions;
#[cfg(test)]
mod tests;

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard};

use jstream::buffer::{MessageBuffer, Pool};
use socket2::SockRef;

use self::lender::{LendOutcome, Lender};
use self::loans::Account;
use crate::stream::Wire;
use crate::stream::lent::Lent;
use crate::stream::socket::SocketWire;
use jstream_base::Options;
use jstream_base::events::emit;
use jstream_sync::lock;
use tracing::Level;

/// Number of lenders that a socket remembers even if none of their loans is outstanding.
const KEPT: usize = 8;

/// State of a socket for lending large buffers.
pub(super) struct Lending {
    /// The shortest buffer that is lent, in bytes.
    from: usize,
    /// The pool of most buffers, whose regions can be registered with the kernel.
    pool: Pool,
    account: Arc<Account>,
    /// The lenders that have sent through this socket, the most recent first.
    lenders: Mutex<Vec<Arc<Lender>>>,
}

impl Lending {
    /// Creates the state for a socket whose peer is on another host. Also returns the features that
    /// the socket has to do without.
    pub(super) fn new(socket: &SocketWire, options: &Options) -> (Option<Self>, Vec<String>) {
        let wanted = options.uring_zero_copy < usize::MAX
            && (options.uring_zero_copy_on_host || !is_on_host(socket.fd()));
        if !wanted {
            return (None, Vec::new());
        }
        match Lender::of_thread() {
            Ok(lender) => {
                let lacks = lender.unregistered().map(|error| {
                    format!(
                        "the memory of jbufs is not registered with io_uring, so the kernel looks it up \
                         for each message or copies it: {error}"
                    )
                });
                let lending = Self {
                    // An empty buffer is never lent.
                    from: options.uring_zero_copy.max(1),
                    pool: options.pool.clone(),
                    account: Arc::new(Account::new(options.uring_zero_copy_on_host)),
                    lenders: Mutex::new(vec![lender]),
                };
                (Some(lending), lacks.into_iter().collect())
            }
            Err(error) => {
                let lacks = format!("no zero-copy sends, large jbufs are copied: {error}");
                (None, vec![lacks])
            }
        }
    }

    /// Returns true if a buffer of that length is to be lent.
    pub(super) fn takes(&self, length: usize) -> bool {
        length >= self.from && self.account.is_open()
    }

    /// Prepares a buffer that is about to be sent.
    pub(super) fn begin(&self, jbuf: MessageBuffer) -> Lent {
        match self.thread_lender() {
            Some(lender) => lender.begin(jbuf),
            None => Lent::new(jbuf),
        }
    }

    /// Ends the sending of a buffer.
    pub(super) fn end(&self, lent: Lent) {
        let lender = self.lenders().first().cloned();
        if let Some(lender) = lender {
            lender.end(lent);
        }
    }

    /// Sends as many of a buffer's bytes from the offset `from` on as is possible without blocking.
    /// If the kernel does not lend, the bytes are copied.
    pub(super) fn try_send(
        &self,
        socket: &SocketWire,
        lent: &Lent,
        from: usize,
    ) -> io::Result<Option<usize>> {
        let lender = self.thread_lender().filter(|_| self.account.is_open());
        let sent = match lender {
            Some(lender) => lender.send(socket.fd(), (lent, from), &self.account, &self.pool)?,
            None => LendOutcome::Busy,
        };
        match sent {
            LendOutcome::Bytes(n) => Ok(Some(n)),
            LendOutcome::Full => Ok(None),
            LendOutcome::Busy => copy(socket, lent, from),
            LendOutcome::Refused(errno) => {
                if self.account.close() {
                    let error = io::Error::from(errno);
                    emit(Level::INFO, move || {
                        tracing::info!("no more zero-copy sends, large jbufs are copied: {error}");
                    });
                }
                copy(socket, lent, from)
            }
            LendOutcome::Failed(errno) => Err(errno.into()),
        }
    }

    /// If loans are outstanding, checks if the kernel has released some.
    pub(super) fn check_loans(&self) {
        if self.account.has_some_out() {
            self.look_now();
        }
    }

    fn look_now(&self) {
        for at in 0.. {
            // The lock is not held while returned buffers are dropped.
            let lender = self.lenders().get(at).cloned();
            let Some(lender) = lender else {
                return;
            };
            lender.look_if_free();
        }
    }

    /// Returns the lender of this thread, if there can be one.
    fn thread_lender(&self) -> Option<Arc<Lender>> {
        let own = Lender::of_thread().ok()?;
        let mut lenders = self.lenders();
        let is_own = |lender: &Arc<Lender>| Arc::ptr_eq(lender, &own);
        if lenders.first().is_some_and(is_own) {
            return Some(own);
        }
        let known = lenders.iter().position(is_own);
        match known.and_then(|at| lenders.get_mut(..=at)) {
            Some(others) => others.rotate_right(1),
            None => lenders.insert(0, own.clone()),
        }
        if lenders.len() <= KEPT {
            return Some(own);
        }
        let all = std::mem::take(&mut *lenders);
        let (kept, free): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|lender| is_own(lender) || lender.has_some_out());
        *lenders = kept;
        drop(lenders);
        free.into_iter().for_each(Lender::release);
        Some(own)
    }

    /// Locks the list.
    fn lenders(&self) -> MutexGuard<'_, Vec<Arc<Lender>>> {
        lock(&self.lenders)
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        let lenders = std::mem::take(&mut *self.lenders());
        lenders.into_iter().for_each(Lender::release);
        lender::sweep();
    }
}

fn copy(socket: &SocketWire, lent: &Lent, from: usize) -> io::Result<Option<usize>> {
    let rest = lent.bytes().get(from..).unwrap_or_default();
    socket.try_write(&[IoSlice::new(rest)])
}

/// Returns true if the addresses indicate that the peer is on this host, where the kernel copies in
/// any case.
fn is_on_host(socket: BorrowedFd<'_>) -> bool {
    let socket = SockRef::from(&socket);
    let ends = [socket.local_addr(), socket.peer_addr()];
    let [Ok(ours), Ok(theirs)] = ends.map(|end| end.map(|end| end.as_socket())) else {
        return true;
    };
    match (ours, theirs) {
        (Some(ours), Some(theirs)) => same_host(ours, theirs),
        _ => true,
    }
}

fn same_host(ours: SocketAddr, theirs: SocketAddr) -> bool {
    let [ours, theirs]: [IpAddr; 2] = [ours, theirs].map(|end| end.ip().to_canonical());
    ours == theirs || theirs.is_loopback()
}
