//! Calls whose results are references.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use jstream::{Limits, MessageBuffer};

use crate::call::outgoing::in_flight::Call;
use crate::call::outgoing::reply::Reply;
use crate::frame::{CallTrailer, read};
use crate::interface::{Interface, Method, MethodMap, VersionPairs};
use crate::reference::{Ahead, Between, Leads, Object, Passed, Remotable, Stub, Taking};
use crate::session::Connection;
use crate::support::{CallError, may_block};

/// A call whose result is a [`Remote`](crate::Remote), or an [`Option`], [`Vec`] or [`Result`] of
/// that. Works like [`Call`], except that the result is owned.
#[must_use = "the outcome of a call is known only after waiting for it, and dropping it cancels it"]
pub struct RemoteCall<P> {
    /// A trait object, so that the compiler can prove that every async method holding this call is
    /// `Send`.
    fetch: Box<dyn Fetch<P> + Send>,
}

/// A call, with the type of its wire result erased.
trait Fetch<P> {
    fn wait(self: Box<Self>) -> Result<P, CallError>;

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P, CallError>>;

    /// Returns the placeholder for the object that the call will return.
    fn ahead(&self) -> Arc<Ahead>;

    /// Returns the methods of that object, if its interface has another version.
    fn methods(&self, interface: &'static Interface) -> Option<Arc<MethodMap>>;
}

struct Fetched<P: Passed> {
    call: Call<P::Wire>,
    from: Between,
    /// The interfaces that the other side has in another version.
    versions: Option<Arc<VersionPairs>>,
    method: &'static Method,
    expected: Expected,
}

/// Placeholder for the result, if the program makes pipelined calls of it or passes it on.
struct Expected {
    made: Option<CallTrailer>,
    ahead: OnceLock<Arc<Ahead>>,
}

impl Expected {
    fn complete<P: Passed>(&self, result: &Result<P, CallError>) {
        if let Some(ahead) = self.ahead.get() {
            ahead.complete(result.as_ref().ok().and_then(P::object).cloned());
        }
    }
}

/// If the call is dropped, pipelined calls of its result fail.
impl Drop for Expected {
    fn drop(&mut self) {
        // Also after a result: `complete` keeps what came first.
        if let Some(ahead) = self.ahead.get() {
            ahead.complete(None);
        }
    }
}

impl<P: Passed> Fetch<P> for Fetched<P> {
    fn wait(self: Box<Self>) -> Result<P, CallError> {
        let this = *self;
        let reply = this.call.outcome();
        let result = reply.and_then(|reply| taken(&reply, (this.from, this.versions), this.method));
        this.expected.complete(&result);
        result
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P, CallError>> {
        let polled = Pin::new(&mut self.call).poll(context);
        polled.map(|reply| {
            let from = (self.from.clone(), self.versions.clone());
            let result = reply.and_then(|reply| taken(&reply, from, self.method));
            self.expected.complete(&result);
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
            // A call that was not sent never returns an object.
            if self.call.has_failed() {
                ahead.complete(None);
            }
            Arc::new(ahead)
        });
        ahead.clone()
    }

    fn methods(&self, interface: &'static Interface) -> Option<Arc<MethodMap>> {
        let versions = self.versions.as_ref()?;
        versions.methods(interface, versions.their_id(interface)?)
    }
}

impl<P> RemoteCall<P> {
    pub(crate) fn new(
        call: Call<P::Wire>,
        (from, versions): (Between, Option<Arc<VersionPairs>>),
        method: &'static Method,
        made: Option<CallTrailer>,
    ) -> Self
    where
        P: Passed,
    {
        let ahead = OnceLock::new();
        Self {
            fetch: Box::new(Fetched {
                call,
                from,
                versions,
                method,
                expected: Expected { made, ahead },
            }),
        }
    }

    /// Returns a stub of the object that this call will return, before the result has arrived.
    /// Calls of this stub are sent at once (pipelined), and the server holds them until this call
    /// is over. They then start in the order in which they were made. Each starts when the one
    /// before it has ended or is suspended, at a future or at a call of its own. A method that
    /// blocks its thread in another way delays the calls after it. After the caller has received
    /// the result, and the earlier calls have ended, the stub behaves like the result itself.
    ///
    /// If the server returns this call as busy and the call is retried, calls that depend on it
    /// wait for the retry. Only a caller that waits for this call retries it; without such a
    /// caller, dependent calls fail after five seconds.
    ///
    /// Dependent calls fail with [`CallError::NotGiven`], and do not run, if this call fails, is
    /// dropped before its result has arrived, or returns no object of the server: `None`, an object
    /// of the caller, or an object of a third party. At most 64 calls can wait for each other in a
    /// chain. Held calls count as [suspended methods](crate::ServerOptions::max_waiting), and end
    /// with [`CallError::Ending`] when the server shuts down. The server remembers the results of
    /// the last 1,024 such calls, so take a result before that many others have arrived. If this
    /// call is a call of an object in the same program, this method blocks until the result is
    /// available.
    ///
    /// [`Remote::from_stub`](crate::Remote::from_stub) makes a reference of the stub, which can be
    /// an argument of another call over the same connection before the result has arrived, also in
    /// lists, structs and enums. The server holds that call until this one is over. Its method gets
    /// an ordinary reference to the returned object. If the object that is called is a pipelined
    /// stub as well, later calls of it wait behind the call, whose argument they may need. No order
    /// is defined between calls that pass an object and calls of that object. A call that passes an
    /// object that is not returned fails in the same way as a call of it. One call passes the
    /// results of at most 16 calls that are not over. The result of a call over another connection,
    /// and the result of a method, can't be a reference of this kind: wait for this call first.
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
    ///     fn compare(&self, one: Remote<dyn File>, other: Remote<dyn File>) -> bool;
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
    ///
    ///     fn compare(&self, one: Remote<dyn File>, other: Remote<dyn File>) -> bool {
    ///         let lengths = [one, other].map(|file| file.length().wait().map(|reply| *reply.get()).ok());
    ///         lengths[0] == lengths[1]
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::default();
    /// server.bind::<dyn Folder>("folder", Arc::new(Plain(server.downgrade())))?;
    /// let serving = server.listen(&"inproc://doc-pipelined".parse()?)?;
    /// let client = Client::connect(serving.address()).wait()?;
    /// let folder = client.lookup::<dyn Folder>("folder").wait()?;
    /// // One round trip.
    /// let open = folder.open("abc");
    /// assert_eq!(*open.pipelined().length().wait()?.get(), 3);
    /// // Another one: the arguments are results of calls in flight.
    /// let files = [folder.open("abc"), folder.open("xyz")];
    /// let [one, other] = files.each_ref().map(|open| Remote::from_stub(open.pipelined()));
    /// assert!(*folder.compare(one, other).wait()?.get());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn pipelined(&self) -> <P::To as Remotable>::Stub
    where
        P: Leads,
    {
        let methods = self.fetch.methods(<P::To as Remotable>::interface());
        Stub::new(Object::ahead(self.fetch.ahead()).mapped(methods))
    }

    /// Blocks until the result arrives.
    ///
    /// # Errors
    ///
    /// A [`CallError`], which states what failed and whether the method ran.
    ///
    /// # Panics
    ///
    /// As for [`Call::wait`].
    #[track_caller]
    pub fn wait(self) -> Result<P, CallError> {
        may_block("RemoteCall::wait");
        self.fetch.wait()
    }
}

impl<P> Future for RemoteCall<P> {
    type Output = Result<P, CallError>;

    /// # Panics
    ///
    /// If the call has returned its result before.
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
    (from, versions): (Between, Option<Arc<VersionPairs>>),
    method: &'static Method,
) -> Result<P, CallError> {
    let taking = Taking::new(from).with_versions(versions);
    let taken = reply.0.with(|form| P::take(form, &taking));
    taken.map_err(|unfit| CallError::Unfit {
        method: method.name(),
        reason: unfit.0,
    })
}

/// Drops the result of an abandoned call, so that the owner of its references is notified.
pub(crate) fn drop_result<P: Passed>(connection: &Connection, payload: MessageBuffer) {
    // A result that can't be read gives no references, so nothing can be given back. Their owner
    // keeps them until the connection ends.
    if let Ok(received) = read::<P::Wire>(payload, Limits::default()) {
        let taking = Taking::new(Between::Peers(connection.clone()));
        let taken = received.with(|form| P::take(form, &taking));
        drop(taken);
    }
}
