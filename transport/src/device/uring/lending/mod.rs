//! Large jbufs that the system sends from where they are.
//!
//! A message that is sent with a copy is done with when the call returns. Here the system reads the jbuf
//! until the peer has what was sent, and says so then. Nothing waits for that: a jbuf is *lent*, belongs
//! to the `lender` of the thread that sent it from then on, and goes back to its pool when the system has
//! let go of it. So only jbufs are lent, which can be kept, and never memory that the program has borrowed
//! out for a call.
//!
//! `lender` is the ring by which a thread lends, `loans` what it has out, `regions` what the system knows
//! beforehand. A [`Lending`] is one socket's part in it.

mod lender;
mod loans;
mod regions;
#[cfg(test)]
mod tests;

use std::io::{self, IoSlice};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jstream::buffer::{Filled, Pool};
use rustix::io::Errno;
use socket2::SockRef;

use self::lender::{Lender, Sent};
use self::loans::Account;
use crate::device::stream::Wire;
use crate::device::stream::lent::Lent;
use crate::device::stream::socket::SocketWire;
use crate::options::Options;

/// How many lenders a socket remembers, also if nothing is out by them.
const KEPT: usize = 8;

/// How a socket's large jbufs are lent.
pub(super) struct Lending {
    /// From which length on, in bytes.
    from: usize,
    /// Where most jbufs come from, whose regions the system may know.
    pool: Pool,
    account: Arc<Account>,
    /// That of the thread that sent last, and those of others.
    lenders: Mutex<Vec<Arc<Lender>>>,
}

impl Lending {
    /// For a socket whose peer is elsewhere, and what it has to do without.
    pub(super) fn of(socket: &SocketWire, options: &Options) -> (Option<Self>, Vec<String>) {
        let wanted = options.uring_zero_copy < usize::MAX
            && (options.uring_zero_copy_on_host || !is_on_host(socket.fd()));
        if !wanted {
            return (None, Vec::new());
        }
        match Lender::of_thread() {
            Ok(lender) => {
                let lacks = lender.unregistered().map(|why| {
                    format!(
                        "io_uring does not know the memory of jbufs beforehand, and looks it up for each \
                         message, or copies it: {why}"
                    )
                });
                let lending = Self {
                    // Nobody notices that an empty message is copied.
                    from: options.uring_zero_copy.max(1),
                    pool: options.pool.clone(),
                    account: Arc::new(Account::new(options.uring_zero_copy_on_host)),
                    lenders: Mutex::new(vec![lender]),
                };
                (Some(lending), lacks.into_iter().collect())
            }
            Err(error) => {
                let lacks = format!("large jbufs are copied when they are sent: {error}");
                (None, vec![lacks])
            }
        }
    }

    /// Whether a jbuf of that length is to be lent.
    pub(super) fn takes(&self, length: usize) -> bool {
        length >= self.from && self.account.is_open()
    }

    /// A jbuf that is about to be sent.
    pub(super) fn begin(&self, jbuf: Filled) -> Lent {
        match self.lender_here() {
            Some(lender) => lender.begin(jbuf),
            None => Lent::new(jbuf),
        }
    }

    /// Nothing more is sent of a jbuf.
    pub(super) fn end(&self, lent: Lent) {
        let lender = self.lenders().first().cloned();
        if let Some(lender) = lender {
            lender.end(lent);
        }
    }

    /// Sends what fits now of a jbuf's bytes from `from` on: with a copy where the system lends none.
    pub(super) fn try_send(
        &self,
        socket: &SocketWire,
        lent: &Lent,
        from: usize,
    ) -> io::Result<Option<usize>> {
        let lender = self.lender_here().filter(|_| self.account.is_open());
        let sent = match lender {
            Some(lender) => lender.send(socket.fd(), (lent, from), &self.account, &self.pool)?,
            None => Sent::Busy,
        };
        match sent {
            Sent::Bytes(n) => Ok(Some(n)),
            Sent::Full => Ok(None),
            Sent::Busy => copy(socket, lent, from),
            Sent::Refused(errno) => {
                if self.account.close() {
                    let why = io::Error::from(errno);
                    tracing::info!("large jbufs are copied when they are sent: {why}");
                }
                copy(socket, lent, from)
            }
            Sent::Failed(errno) => Err(errno.into()),
        }
    }

    /// Sees what the system has let go of, where something is out.
    #[inline]
    pub(super) fn look(&self) {
        if self.account.has_some_out() {
            self.look_now();
        }
    }

    #[cold]
    fn look_now(&self) {
        for at in 0.. {
            // Without the lock: what comes back is dropped by who looks.
            let lender = self.lenders().get(at).cloned();
            let Some(lender) = lender else {
                return;
            };
            lender.look_if_free();
        }
    }

    /// That of this thread, if there can be one.
    fn lender_here(&self) -> Option<Arc<Lender>> {
        let here = Lender::of_thread().ok()?;
        let mut lenders = self.lenders();
        let is_here = |lender: &Arc<Lender>| Arc::ptr_eq(lender, &here);
        if lenders.first().is_some_and(is_here) {
            return Some(here);
        }
        let known = lenders.iter().position(is_here);
        match known.and_then(|at| lenders.get_mut(..=at)) {
            Some(others) => others.rotate_right(1),
            None => lenders.insert(0, here.clone()),
        }
        if lenders.len() <= KEPT {
            return Some(here);
        }
        let all = std::mem::take(&mut *lenders);
        let (kept, free): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|lender| is_here(lender) || lender.has_some_out());
        *lenders = kept;
        drop(lenders);
        free.into_iter().for_each(Lender::leave);
        Some(here)
    }

    /// A panic elsewhere can't leave it half changed.
    fn lenders(&self) -> MutexGuard<'_, Vec<Arc<Lender>>> {
        self.lenders.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        let lenders = std::mem::take(&mut *self.lenders());
        lenders.into_iter().for_each(Lender::leave);
        lender::sweep();
    }
}

fn copy(socket: &SocketWire, lent: &Lent, from: usize) -> io::Result<Option<usize>> {
    let rest = lent.bytes().get(from..).unwrap_or_default();
    socket.try_write(&[IoSlice::new(rest)])
}

/// Whether the peer is on this host, as far as the addresses tell: then the system copies in any case.
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

/// Whether the system has no way to send so at all, for this socket or on this kernel.
fn is_refusal(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::OPNOTSUPP | Errno::PERM)
}
