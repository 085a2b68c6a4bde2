//! Posted sends of borrowed memory, which end before the borrow does.
//!
//! Decision 033 has the reasons.

use std::cell::RefCell;
use std::fmt;
use std::io::IoSlice;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use super::endpoint::Endpoint;
use super::ops::Notify;
use super::shared::{Patience, Shared};
use super::ticket::SendOp;
use jstream_base::Header;
use jstream_base::SendError;
use jstream_device::connection::Body;

/// A scope in which borrowed memory can be posted to be sent; see [`Endpoint::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    shared: &'env Arc<Shared>,
    posted: RefCell<Vec<ScopedSend>>,
    /// Makes both lifetimes invariant: neither can be shortened or extended.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A send and the list of segments that it reads. The memory behind the segments is borrowed for
/// longer than the scope.
struct ScopedSend {
    /// Declared, and so dropped, before `segments`.
    op: SendOp,
    result: Option<Result<(), SendError>>,
    /// Read by the device until the operation has ended.
    #[allow(dead_code, reason = "is read by the device")]
    segments: Arc<[IoSlice<'static>]>,
}

impl ScopedSend {
    /// Waits until the device is done with the memory.
    fn wait(&mut self, patience: Patience) {
        if self.result.is_none() {
            self.result = self.op.wait(patience).map(|sent| sent.result);
        }
    }
}

/// Handle of a send that was posted in a [`Scope`]. If it is dropped, the message is still sent.
#[must_use = "contains the outcome of the send"]
pub struct ScopedTicket<'scope> {
    posted: &'scope RefCell<Vec<ScopedSend>>,
    index: usize,
}

impl Endpoint {
    /// Calls `work`, which may post memory that it borrows from outside. Returns when the device is
    /// done with all of that memory, also if `work` panics. After a panic, messages that the device
    /// has not begun are not sent.
    ///
    /// [`Options::send_timeout`](jstream_base::Options::send_timeout) limits the time that this
    /// takes.
    ///
    /// ```
    /// use std::io::IoSlice;
    ///
    /// use jstream_transport::{Header, Options, connect, listen};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let listener = listen(&"inproc://scope".parse()?, &Options::default())?;
    /// # let server = std::thread::spawn(move || {
    /// #     let endpoint = listener.accept().unwrap().establish().unwrap();
    /// #     [(); 2].map(|()| endpoint.recv_message().unwrap().payload.as_bytes().to_vec())
    /// # });
    /// # let endpoint = connect(&"inproc://scope".parse()?, &Options::default())?;
    /// let (one, two) = (vec![1; 1000], vec![2; 1000]);
    /// endpoint.scope(|scope| {
    ///     let first = scope.post_send(Header::default(), &[IoSlice::new(&one)]);
    ///     let second = scope.post_send(Header::default(), &[IoSlice::new(&two)]);
    ///     first.wait()?;
    ///     second.wait()
    /// })?;
    /// # assert_eq!(server.join().unwrap(), [one, two]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'env, R>(
        &'env self,
        work: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> R {
        let scope = Scope {
            shared: self.shared(),
            posted: RefCell::default(),
            scope: PhantomData,
            env: PhantomData,
        };
        // The panic waits until the device has let go of the memory that the unwinding would free.
        let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
        let guard = AbortOnUnwind;
        let mut posted = scope.posted.take();
        for posted in &mut posted {
            if result.is_err() && posted.result.is_none() {
                posted.op.cancel();
            }
            posted.wait(Patience::Endless);
            if posted.result.is_none() {
                unreachable!("a wait without a deadline ends with the operation");
            }
        }
        std::mem::forget(guard);
        match result {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Aborts the process if unwinding would free memory that a device may read.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Posts a message whose payload is the concatenation of `segments`, behind everything posted
    /// before. The ticket reports any error.
    pub fn post_send(
        &'scope self,
        header: Header,
        segments: &[IoSlice<'scope>],
    ) -> ScopedTicket<'scope> {
        let length = segments
            .iter()
            .try_fold(0u64, |sum, segment| sum.checked_add(segment.len() as u64));
        let segments: Arc<[IoSlice<'static>]> = segments.iter().map(outliving).collect();
        // SAFETY: the list is freed with its `Arc`. `ScopedSend` holds the `Arc` together with the
        // operation, and drops the operation first. Nothing of the message is read any more once
        // the operation has ended.
        let lent = unsafe { slice::from_raw_parts(segments.as_ptr(), segments.len()) };
        let mut posted = self.posted.borrow_mut();
        // Memory is reserved before the operation exists, because a failed allocation would unwind.
        posted.reserve(1);
        // Between these lines, the operation exists but is not in the list that `Endpoint::scope`
        // waits for.
        let guard = AbortOnUnwind;
        let (message, refused) = self.shared.outbound(header, length, Body::Borrowed(lent));
        let id = self.shared.post_send(message, refused, Notify::Ticket);
        let index = posted.len();
        posted.push(ScopedSend {
            op: SendOp::new(self.shared.clone(), id),
            result: None,
            segments,
        });
        std::mem::forget(guard);
        ScopedTicket {
            posted: &self.posted,
            index,
        }
    }
}

/// Extends the lifetime of a segment beyond its borrow.
fn outliving(segment: &IoSlice<'_>) -> IoSlice<'static> {
    // SAFETY: the segment is borrowed for `'scope`, and `'scope` ends only after `Endpoint::scope`
    // has waited for the end of the operation that reads the segment. Nothing of the message is
    // read any more after that.
    IoSlice::new(unsafe { slice::from_raw_parts(segment.as_ptr(), segment.len()) })
}

impl ScopedTicket<'_> {
    /// Blocks until the device is done with the memory.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn wait(self) -> Result<(), SendError> {
        let mut posted = self.posted.borrow_mut();
        let Some(posted) = posted.get_mut(self.index) else {
            unreachable!("a posted operation stays in the list");
        };
        posted.wait(Patience::Endless);
        match &mut posted.result {
            // No other caller asks for the result.
            Some(result) => std::mem::replace(result, Ok(())),
            None => unreachable!("a wait without a deadline ends with the operation"),
        }
    }

    /// As [`wait`](Self::wait), but does not block for longer than `timeout`.
    ///
    /// # Errors
    ///
    /// The ticket, if the device is not done in time.
    pub fn wait_timeout(self, timeout: Duration) -> Result<Result<(), SendError>, Self> {
        if let Some(posted) = self.posted.borrow_mut().get_mut(self.index) {
            posted.wait(Patience::For(timeout));
            if let Some(result) = &mut posted.result {
                // No other caller asks for the result.
                return Ok(std::mem::replace(result, Ok(())));
            }
        }
        Err(self)
    }

    /// Returns true if the device is done with the memory.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let mut posted = self.posted.borrow_mut();
        posted.get_mut(self.index).is_none_or(|posted| {
            posted.wait(Patience::None);
            posted.result.is_some()
        })
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl fmt::Debug for ScopedTicket<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedTicket").finish_non_exhaustive()
    }
}
