//! Calls whose results are references.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use jstream::{Filled, Limits};

use super::{Call, Reply};
use crate::error::CallError;
use crate::interface::{Method, Remotable, Stub};
use crate::message::read;
use crate::object::Object;
use crate::promise::{Ahead, Made};
use crate::reference::{Between, Leads, Passed, Taking};
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

    /// What it will give.
    fn ahead(&self) -> Arc<Ahead>;
}

struct Fetched<P: Passed> {
    call: Call<P::Wire>,
    from: Between,
    method: &'static Method,
    expected: Expected,
}

/// What is called before it has come.
struct Expected {
    made: Option<Made>,
    ahead: OnceLock<Arc<Ahead>>,
}

impl Expected {
    fn settle<P: Passed>(&self, result: &Result<P, CallError>) {
        if let Some(ahead) = self.ahead.get() {
            ahead.settle(result.as_ref().ok().and_then(P::object).cloned());
        }
    }
}

/// What was given up gives nothing.
impl Drop for Expected {
    fn drop(&mut self) {
        if let Some(ahead) = self.ahead.get() {
            ahead.settle(None);
        }
    }
}

impl<P: Passed> Fetch<P> for Fetched<P> {
    fn wait(self: Box<Self>) -> Result<P, CallError> {
        let this = *self;
        let reply = this.call.wait();
        let result = reply.and_then(|reply| taken(&reply, this.from, this.method));
        this.expected.settle(&result);
        result
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P, CallError>> {
        let polled = Pin::new(&mut self.call).poll(context);
        polled.map(|reply| {
            let result = reply.and_then(|reply| taken(&reply, self.from.clone(), self.method));
            self.expected.settle(&result);
            result
        })
    }

    fn ahead(&self) -> Arc<Ahead> {
        let ahead = self.expected.ahead.get_or_init(|| {
            let at = match (&self.from, self.expected.made) {
                (Between::Peers(at), Some(made)) => Some((at.clone(), made.number)),
                _ => None,
            };
            let ahead = Ahead::new(at);
            // The server does not know of it.
            if self.call.has_failed() {
                ahead.settle(None);
            }
            Arc::new(ahead)
        });
        ahead.clone()
    }
}

impl<P> RemoteCall<P> {
    pub(crate) fn new(
        call: Call<P::Wire>,
        from: Between,
        method: &'static Method,
        made: Option<Made>,
    ) -> Self
    where
        P: Passed,
    {
        let ahead = OnceLock::new();
        Self {
            fetch: Box::new(Fetched {
                call,
                from,
                method,
                expected: Expected { made, ahead },
            }),
        }
    }

    /// What calls the object that this call will give, before it has. Such calls are sent at once, and held by the server
    /// until this one is over. They begin then in the order in which they were made, each when the one before it has ended
    /// or waits: for a future, or for a call of its own. A method that blocks its thread in another way holds up those behind
    /// it. Once the result was taken here, and the calls that were made before have ended, the stub calls as the result does.
    ///
    /// Where this call goes back as busy and is sent again, those that name it wait for that. While nobody waits for it,
    /// which is what sends it again, they fail after five seconds.
    ///
    /// They fail with [`CallError::NotGiven`], and do not run, where this call fails, is dropped before its
    /// result has come, or gives no object of the server: none, one of the caller, or one of somebody else. At most 64 calls
    /// wait for each other in a row; held calls count among [those that
    /// wait](crate::ServerOptions::max_waiting), and end with [`CallError::Ending`] when the server is shut down. The
    /// server knows what the last 1,024 such calls have given: take a result before so many others have come.
    /// The result of a call of an object of this program is waited for first.
    ///
    /// ```
    /// use jstream_rmi::{Client, Remote, Server, WeakServer, remote};
    /// use std::sync::Arc;
    ///
    /// #[remote]
    /// trait File {
    ///     fn length(&self) -> u64;
    /// }
    ///
    /// #[remote]
    /// trait Folder {
    ///     fn open(&self, name: &str) -> Option<Remote<dyn File>>;
    /// }
    ///
    /// struct Text(String);
    ///
    /// impl File for Text {
    ///     fn length(&self) -> u64 {
    ///         self.0.len() as u64
    ///     }
    /// }
    ///
    /// struct Plain(WeakServer);
    ///
    /// impl Folder for Plain {
    ///     fn open(&self, name: &str) -> Option<Remote<dyn File>> {
    ///         let file = Arc::new(Text(name.to_owned()));
    ///         Some(self.0.upgrade()?.export::<dyn File>(file).into_remote())
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::default();
    /// server.bind::<dyn Folder>("folder", Arc::new(Plain(server.downgrade())))?;
    /// let serving = server.listen(&"inproc://doc-pipelined".parse()?)?;
    /// let folder = Client::connect(serving.address())?.lookup::<dyn Folder>("folder")?;
    /// // One round trip.
    /// let open = folder.open("abc");
    /// assert_eq!(*open.pipelined().length().wait()?.get(), 3);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn pipelined(&self) -> <P::To as Remotable>::Stub
    where
        P: Leads,
    {
        Stub::new(Object::ahead(self.fetch.ahead()))
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
