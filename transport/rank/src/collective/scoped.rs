//! Posted collective operations: methods of a scope, and their request.

use std::fmt;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use jstream_device::deadline::Deadline;

use super::execution::Execution;
use super::operations::combines_nothing;
use super::plans::{Plan, Plans};
use super::posted::PostedExecution;
use crate::element::Element;
use crate::error::Error;
use crate::node::Node;
use crate::operation::Operation;
use crate::progress::{self, PostedOperation};
use crate::requests::{Request, Waitable};
use crate::scope::Scope;

/// A collective operation that was posted in a [`Scope`]. The scope waits for it at its end, even
/// if the request was dropped.
///
/// The request is a future too.
#[must_use = "the request reports whether the operation has succeeded"]
pub struct ScopedCollective<'scope> {
    node: &'scope Arc<Node>,
    state: CollectiveState<'scope>,
}

enum CollectiveState<'scope> {
    Posted(Rc<dyn PostedOperation + 'scope>),
    /// The result, until it is taken.
    Ended(Option<Result<(), Error>>),
}

impl ScopedCollective<'_> {
    /// Blocks until the part of this rank is done.
    ///
    /// # Errors
    ///
    /// [`Error`] of the arguments, or of a member that is gone or has failed. [`Error::TimedOut`]
    /// in [`Error::Collective`] if messages take longer than
    /// [`Options::collective_timeout`](crate::Options::collective_timeout) from now on.
    ///
    /// # Panics
    ///
    /// Panics if the outcome was taken before, and if the operation on elements has panicked.
    pub fn wait(mut self) -> Result<(), Error> {
        if let CollectiveState::Posted(operation) = &self.state {
            operation.wait();
        }
        match self.take_result() {
            Some(result) => result,
            None => panic!("the outcome was taken before"),
        }
    }

    /// Like [`wait`](Self::wait), for at most `timeout`. Returns `None` if the operation has not
    /// ended by then, or if the outcome was taken before. The operation continues.
    ///
    /// # Panics
    ///
    /// Panics if the operation on elements has panicked.
    pub fn wait_timeout(&mut self, timeout: Duration) -> Option<Result<(), Error>> {
        self.ends_by(Deadline::after(timeout));
        self.take_result()
    }

    /// Takes the outcome, if the operation has ended. The outcome can be taken once.
    ///
    /// # Panics
    ///
    /// Panics if the operation on elements has panicked.
    pub fn test(&mut self) -> Option<Result<(), Error>> {
        self.wait_timeout(Duration::ZERO)
    }

    /// Returns true if the operation has ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.ends_by(Deadline::after(Duration::ZERO))
    }

    /// Waits until the operation has ended. Returns false if the deadline passes.
    fn ends_by(&self, deadline: Deadline) -> bool {
        let CollectiveState::Posted(operation) = &self.state else {
            return true;
        };
        let has_ended = || {
            operation.advance();
            operation.round().is_none().then_some(())
        };
        let ended = self.node.wait_unlocked(None, || deadline, has_ended);
        ended.is_some()
    }

    /// Takes the result, if the operation has ended.
    fn take_result(&mut self) -> Option<Result<(), Error>> {
        let outcome = match &mut self.state {
            CollectiveState::Posted(operation) => operation.take()?,
            CollectiveState::Ended(result) => return result.take(),
        };
        self.state = CollectiveState::Ended(None);
        progress::remove_ended();
        Some(outcome.unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

impl Future for ScopedCollective<'_> {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        // The round in which the connections have been driven for the task.
        // Driving registers the task with the connections. In the same round it is not done twice,
        // because nothing would have changed.
        let mut driven = None;
        loop {
            if let CollectiveState::Posted(operation) = &self.state {
                operation.advance();
                let round = operation.round();
                if round.is_some() {
                    // A message has ended before the task could be registered with it.
                    if !operation.register_task(context.waker()) {
                        continue;
                    }
                    if driven == round {
                        return Poll::Pending;
                    }
                    self.node.drive_for_task(context.waker());
                    driven = round;
                    continue;
                }
            }
            return match self.take_result() {
                Some(result) => Poll::Ready(result),
                None => panic!("polled after it was ready"),
            };
        }
    }
}

impl Request for ScopedCollective<'_> {
    type Output = Result<(), Error>;
}

impl Waitable for ScopedCollective<'_> {
    fn pending(&self) -> Option<&Arc<Node>> {
        match &self.state {
            CollectiveState::Posted(_) => Some(self.node),
            CollectiveState::Ended(result) => result.as_ref().map(|_| self.node),
        }
    }

    fn is_done(&self) -> bool {
        match &self.state {
            CollectiveState::Posted(operation) => {
                operation.advance();
                operation.round().is_none()
            }
            CollectiveState::Ended(_) => true,
        }
    }

    fn take(&mut self) -> Option<<Self as Request>::Output> {
        if let CollectiveState::Posted(operation) = &self.state {
            operation.advance();
        }
        self.take_result()
    }
}

/// # Posted collective operations
///
/// These are the [collective operations of a rank](crate::Rank#collective-operations), with the
/// same arguments. They begin at once and return a request, so that the rank can compute before it
/// [waits](ScopedCollective::wait). The members of the communicator begin all collective operations
/// in the same order, whether they are posted or block. Several may be under way at the same time,
/// and they may end in any order. Errors are those of the request.
///
/// ```
/// use jstream_transport::rank::{self, operation::Sum};
///
/// # fn main() -> Result<(), rank::Error> {
/// let ranks = rank::threads(3, &rank::Options::default());
/// std::thread::scope(|threads| {
///     for rank in &ranks {
///         threads.spawn(move || -> Result<(), rank::Error> {
///             let (own, mut sum) = ([f64::from(rank.rank())], [0.0]);
///             let other = rank.scope(|scope| {
///                 let total = scope.iall_reduce(&own, &mut sum, &Sum);
///                 // Computes something that does not need the sum.
///                 let other = (1..100).sum::<u32>();
///                 total.wait().map(|()| other)
///             })?;
///             assert_eq!((sum, other), ([3.0], 4950));
///             Ok(())
///         });
///     }
/// });
/// # Ok(())
/// # }
/// ```
///
/// # Progress
///
/// An operation has several rounds of messages. Its next round begins, and elements are combined,
/// when the thread of the scope calls `wait`, `test` or `is_done` of the request, polls it as a
/// future, or blocks in any other call of a rank. No thread does so in the background. So a rank
/// that computes for long should call `test` from time to time, or the ranks that need its messages
/// have to wait.
///
/// A rank that waits, or that has reached the end of the scope, gives up an operation of which a
/// round takes longer than [`Options::collective_timeout`](crate::Options::collective_timeout). The
/// time of computations does not count. `test`, `wait_timeout`, futures, and functions such as
/// [`wait_any`](crate::wait_any) give up nothing.
///
/// # Failures
///
/// If the function of the scope panics, its operations fail, as other operations that fail at one
/// rank do: ranks that depend on this one fail with [`Error::FailedAt`]. The messages that they
/// send to this rank are waited for and dropped before the panic continues. If an operation on
/// elements panics, the request panics when its outcome is taken, or else the scope at its end.
impl<'scope> Scope<'scope, '_> {
    /// Posts [`Rank::barrier`](crate::Rank::barrier).
    pub fn ibarrier(&'scope self) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).barrier();
        self.post_collective::<u8, _>(plan, &[], &mut [], combines_nothing)
    }

    /// Posts [`Rank::broadcast`](crate::Rank::broadcast).
    pub fn ibroadcast<E: Element>(
        &'scope self,
        root: u32,
        elements: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).broadcast::<E>(root, elements.len());
        self.post_collective(plan, &[], elements, combines_nothing)
    }

    /// Posts [`Rank::scatter`](crate::Rank::scatter).
    pub fn iscatter<E: Element>(
        &'scope self,
        root: u32,
        sent: &'scope [E],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).scatter::<E>(root, received.len());
        let sent = if self.rank().rank() == root {
            sent
        } else {
            &[]
        };
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::scatter_v`](crate::Rank::scatter_v).
    pub fn iscatter_v<E: Element>(
        &'scope self,
        root: u32,
        sent: &'scope [E],
        counts: &[usize],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).scatter_v::<E>(root, counts, received.len());
        let sent = if self.rank().rank() == root {
            sent
        } else {
            &[]
        };
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::gather`](crate::Rank::gather).
    pub fn igather<E: Element>(
        &'scope self,
        root: u32,
        sent: &'scope [E],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).gather::<E>(root, sent.len());
        let received = if self.rank().rank() == root {
            received
        } else {
            &mut []
        };
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::gather_v`](crate::Rank::gather_v).
    pub fn igather_v<E: Element>(
        &'scope self,
        root: u32,
        sent: &'scope [E],
        counts: &[usize],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).gather_v::<E>(root, counts, sent.len());
        let received = if self.rank().rank() == root {
            received
        } else {
            &mut []
        };
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::all_gather`](crate::Rank::all_gather).
    pub fn iall_gather<E: Element>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).all_gather::<E>(sent.len());
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::all_gather_v`](crate::Rank::all_gather_v).
    pub fn iall_gather_v<E: Element>(
        &'scope self,
        sent: &'scope [E],
        counts: &[usize],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).all_gather_v::<E>(counts);
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::reduce`](crate::Rank::reduce).
    pub fn ireduce<E: Element, O: Operation<E>>(
        &'scope self,
        root: u32,
        sent: &'scope [E],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).reduce::<E, O>(root, sent.len());
        let received = if self.rank().rank() == root {
            received
        } else {
            &mut []
        };
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::all_reduce`](crate::Rank::all_reduce).
    pub fn iall_reduce<E: Element, O: Operation<E>>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).all_reduce::<E, O>(sent.len());
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::scan`](crate::Rank::scan).
    pub fn iscan<E: Element, O: Operation<E>>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).scan::<E, O>(sent.len());
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::exclusive_scan`](crate::Rank::exclusive_scan).
    pub fn iexclusive_scan<E: Element, O: Operation<E>>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).exclusive_scan::<E, O>(sent.len());
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::reduce_scatter`](crate::Rank::reduce_scatter).
    pub fn ireduce_scatter<E: Element, O: Operation<E>>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).reduce_scatter::<E, O>(received.len());
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::reduce_scatter_v`](crate::Rank::reduce_scatter_v).
    pub fn ireduce_scatter_v<E: Element, O: Operation<E>>(
        &'scope self,
        sent: &'scope [E],
        counts: &[usize],
        received: &'scope mut [E],
        operation: &'scope O,
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).reduce_scatter_v::<E, O>(counts);
        let combine = |first: &E, second: &E| operation.combine(first, second);
        self.post_collective(plan, sent, received, combine)
    }

    /// Posts [`Rank::all_to_all`](crate::Rank::all_to_all).
    pub fn iall_to_all<E: Element>(
        &'scope self,
        sent: &'scope [E],
        received: &'scope mut [E],
    ) -> ScopedCollective<'scope> {
        let plan = Plans(self.rank()).all_to_all::<E>(sent.len());
        self.post_collective(plan, sent, received, combines_nothing)
    }

    /// Posts [`Rank::all_to_all_v`](crate::Rank::all_to_all_v).
    pub fn iall_to_all_v<E: Element>(
        &'scope self,
        sent: &'scope [E],
        sent_counts: &[usize],
        received: &'scope mut [E],
        received_counts: &[usize],
    ) -> ScopedCollective<'scope> {
        let rank = self.rank();
        let plan = Plans(rank).all_to_all_v::<E>(sent_counts, received_counts);
        self.post_collective(plan, sent, received, combines_nothing)
    }

    fn post_collective<E: Element, C: Fn(&E, &E) -> E + 'scope>(
        &'scope self,
        plan: Plan<'_>,
        input: &'scope [E],
        output: &'scope mut [E],
        combine: C,
    ) -> ScopedCollective<'scope> {
        let rank = self.rank();
        let state = match plan {
            Ok((call, schedule)) => {
                let schedule = schedule.into_owned();
                let execution = Execution::new(rank, call, schedule, input, output, combine);
                let operation: Rc<dyn PostedOperation + 'scope> =
                    Rc::new(PostedExecution::new(self, execution));
                self.add_collective(operation.clone());
                operation.advance();
                CollectiveState::Posted(operation)
            }
            Err(error) => CollectiveState::Ended(Some(Err(error))),
        };
        ScopedCollective {
            node: rank.node(),
            state,
        }
    }
}

impl fmt::Debug for ScopedCollective<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScopedCollective").finish_non_exhaustive()
    }
}
