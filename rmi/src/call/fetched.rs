//! Calls whose results are references.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use jstream::{Filled, Limits};

use super::{Call, Reply, read};
use crate::error::CallError;
use crate::interface::Method;
use crate::reference::{Between, Passed, Taking};
use crate::session::Connection;

/// A call whose result is a [`Remote`](crate::Remote), or an [`Option`], [`Vec`] or [`Result`] of that: as [`Call`], but for
/// the result, which is owned.
#[must_use = "a call's result, or failure, is known only after waiting for it, and dropping it gives it up"]
pub struct RemoteCall<P> {
    /// What its parts are is not named here, so that the compiler sees in every async method that it is `Send`.
    fetch: Box<dyn Fetch<P> + Send>,
}

/// A call, whatever stands for its result.
trait Fetch<P> {
    fn wait(self: Box<Self>) -> Result<P, CallError>;

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P, CallError>>;
}

struct Fetched<P: Passed> {
    call: Call<P::Wire>,
    from: Between,
    method: &'static Method,
}

impl<P: Passed> Fetch<P> for Fetched<P> {
    fn wait(self: Box<Self>) -> Result<P, CallError> {
        taken(&self.call.wait()?, self.from, self.method)
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P, CallError>> {
        let polled = Pin::new(&mut self.call).poll(context);
        polled.map(|reply| taken(&reply?, self.from.clone(), self.method))
    }
}

impl<P> RemoteCall<P> {
    pub(crate) fn new(call: Call<P::Wire>, from: Between, method: &'static Method) -> Self
    where
        P: Passed,
    {
        Self {
            fetch: Box::new(Fetched { call, from, method }),
        }
    }

    /// Blocks until the result has come.
    ///
    /// # Errors
    ///
    /// A [`CallError`] that says what failed, and whether the method ran.
    ///
    /// # Panics
    ///
    /// When the call was polled before, and has given its result.
    pub fn wait(self) -> Result<P, CallError> {
        self.fetch.wait()
    }
}

impl<P> Future for RemoteCall<P> {
    type Output = Result<P, CallError>;

    /// # Panics
    ///
    /// When it has given its result before.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.fetch.poll(context)
    }
}

impl<P> fmt::Debug for RemoteCall<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteCall").finish_non_exhaustive()
    }
}

fn taken<P: Passed>(
    reply: &Reply<P::Wire>,
    from: Between,
    method: &'static Method,
) -> Result<P, CallError> {
    let taking = Taking::new(from);
    let taken = reply.0.with(|form| P::take(form, &taking));
    taken.map_err(|unfit| CallError::Unfit {
        method: method.name(),
        reason: unfit.0,
    })
}

/// Drops the result of a call that was given up, so that its owner knows.
pub(crate) fn drop_result<P: Passed>(connection: &Connection, payload: Filled) {
    if let Ok(received) = read::<P::Wire>(payload, Limits::default()) {
        let taking = Taking::new(Between::Peers(connection.clone()));
        let taken = received.with(|form| P::take(form, &taking));
        drop(taken);
    }
}
