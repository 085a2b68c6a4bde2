//! Sends of borrowed memory that are posted, and end before the memory does.

use std::cell::RefCell;
use std::fmt;
use std::io::IoSlice;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use super::Endpoint;
use super::ops::Notify;
use super::shared::{Patience, Shared};
use super::ticket::SendOp;
use crate::device::connection::Body;
use crate::error::SendError;
use crate::header::Header;

/// Where borrowed memory is posted to be sent; see [`Endpoint::scope`].
pub struct Scope<'scope, 'env: 'scope> {
    shared: &'env Arc<Shared>,
    posted: RefCell<Vec<Posted>>,
    /// Neither lifetime can be chosen shorter or longer.
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A send, and what it reads: the memory behind `segments` is borrowed for longer than the scope.
struct Posted {
    /// Ends before `segments`.
    op: SendOp,
    result: Option<Result<(), SendError>>,
    /// The device may read it until the operation has ended.
    #[allow(dead_code, reason = "is read by the device")]
    segments: Arc<[IoSlice<'static>]>,
}

impl Posted {
    /// Waits until the device is done with the memory.
    fn wait(&mut self, patience: Patience) {
        if self.result.is_none() {
            self.result = self.op.wait(patience).map(|sent| sent.result);
        }
    }
}

/// A send that was posted in a [`Scope`]. When it is dropped, the message is still sent.
#[must_use = "says whether the message was sent"]
pub struct ScopedTicket<'scope> {
    posted: &'scope RefCell<Vec<Posted>>,
    index: usize,
}

impl Endpoint {
    /// Runs `work`, which may post memory that it borrows from outside, and returns when the device is
    /// done with all of it: also when `work` panics, and then what the device has not begun is not sent.
    ///
    /// How long that may take is limited by [`Options::send_timeout`](crate::Options::send_timeout).
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
        let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
        let guard = AbortOnUnwind;
        let mut posted = scope.posted.take();
        for posted in &mut posted {
            if result.is_err() && posted.result.is_none() {
                posted.op.cancel();
            }
            posted.wait(Patience::Endless);
            if posted.result.is_none() {
                unreachable!("who waits for ever waits until it has ended");
            }
        }
        std::mem::forget(guard);
        match result {
            Ok(result) => result,
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Ends the process where going on would free memory that a device may read.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        process::abort();
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Posts a message whose payload is all of `segments`, one after another, behind everything posted
    /// before. Whatever is wrong with it the ticket says.
    pub fn post_send(
        &'scope self,
        header: Header,
        segments: &[IoSlice<'scope>],
    ) -> ScopedTicket<'scope> {
        let length = segments
            .iter()
            .try_fold(0u64, |sum, segment| sum.checked_add(segment.len() as u64));
        let segments: Arc<[IoSlice<'static>]> = segments.iter().map(outliving).collect();
        // SAFETY: the list is freed with its `Arc`, which stays with the operation until that has ended;
        // then nothing of the message is read any more.
        let lent = unsafe { slice::from_raw_parts(segments.as_ptr(), segments.len()) };
        let mut posted = self.posted.borrow_mut();
        posted.reserve(1);
        // Between these lines an operation is known to nobody who waits for it.
        let guard = AbortOnUnwind;
        let (message, refused) = self.shared.outbound(header, length, Body::Borrowed(lent));
        let id = self.shared.post_send(message, refused, Notify::Ticket);
        let index = posted.len();
        posted.push(Posted {
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

/// The same segment for longer than it is borrowed.
fn outliving(segment: &IoSlice<'_>) -> IoSlice<'static> {
    // SAFETY: it is borrowed for `'scope`, which ends after `Endpoint::scope` has waited until the
    // operation has ended that it is for. Then nothing of the message is read any more.
    IoSlice::new(unsafe { slice::from_raw_parts(segment.as_ptr(), segment.len()) })
}

impl ScopedTicket<'_> {
    /// Waits until the device is done with the memory.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub fn wait(self) -> Result<(), SendError> {
        let mut posted = self.posted.borrow_mut();
        let Some(posted) = posted.get_mut(self.index) else {
            unreachable!("what was posted stays in the list");
        };
        posted.wait(Patience::Endless);
        match &mut posted.result {
            // Nobody else asks for it.
            Some(result) => std::mem::replace(result, Ok(())),
            None => unreachable!("who waits for ever waits until it has ended"),
        }
    }

    /// As [`wait`](Self::wait), for so long at most: the ticket comes back when the device is not done then.
    ///
    /// # Errors
    ///
    /// The ticket.
    pub(crate) fn wait_timeout(self, timeout: Duration) -> Result<Result<(), SendError>, Self> {
        if let Some(posted) = self.posted.borrow_mut().get_mut(self.index) {
            posted.wait(Patience::For(timeout));
            if let Some(result) = &mut posted.result {
                // Nobody else asks for it.
                return Ok(std::mem::replace(result, Ok(())));
            }
        }
        Err(self)
    }

    /// Whether the device is done with the memory.
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
