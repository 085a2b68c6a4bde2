//! Services of tower whose requests are calls.

use std::fmt;
use std::task::{Context, Poll};

use jstream_active::Attendant;

use crate::interface::BoxFuture;
use crate::reference::Stub;

/// A [`tower_service::Service`] whose requests are calls of a stub, for middleware of tower.
///
/// `call` makes the call of each request. The service is ready when the server accepts a call at
/// once; a call that is made earlier is queued.
///
/// ```
/// use jstream_rmi::{Client, Reply, Server, StubService, remote};
/// use std::future::poll_fn;
/// use std::sync::Arc;
/// use tower_service::Service;
///
/// #[remote]
/// trait Squares {
///     fn square(&self, of: u64) -> u64;
/// }
///
/// struct Plain;
///
/// impl Squares for Plain {
///     fn square(&self, of: u64) -> u64 {
///         of * of
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// server.bind::<dyn Squares>("squares", Arc::new(Plain))?;
/// let serving = server.listen(&"inproc://doc-stub-service".parse()?)?;
/// let squares = Client::connect(serving.address()).wait()?.lookup::<dyn Squares>("squares").wait()?;
///
/// let mut service = StubService::new(squares, |squares: &SquaresStub, of| squares.square(of));
/// let answer = async move {
///     poll_fn(|context| service.poll_ready(context)).await?;
///     let reply: Reply<u64> = service.call(7).await?;
///     Ok::<u64, jstream_rmi::CallError>(*reply.get())
/// };
/// # let answer = tokio::runtime::Builder::new_current_thread().build()?.block_on(answer);
/// assert_eq!(answer?, 49);
/// # Ok(())
/// # }
/// ```
pub struct StubService<S, F> {
    stub: S,
    call: F,
    ready: Option<BoxFuture<'static, ()>>,
}

impl<S, F> StubService<S, F> {
    /// Creates the service of a stub, with the function that makes the call of a request.
    #[must_use]
    pub fn new<Request, Called>(stub: S, call: F) -> Self
    where
        F: FnMut(&S, Request) -> Called,
    {
        Self {
            stub,
            call,
            ready: None,
        }
    }
}

impl<S, F, Request, Called, Response, Error> tower_service::Service<Request> for StubService<S, F>
where
    S: Stub,
    F: FnMut(&S, Request) -> Called,
    Called: Future<Output = Result<Response, Error>>,
{
    type Response = Response;
    type Error = Error;
    type Future = Called;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let Some(attendant) = attendant(&self.stub) else {
            return Poll::Ready(Ok(()));
        };
        let ready = self.ready.get_or_insert_with(|| {
            // If the connection has ended, the next call returns the error.
            Box::pin(async move { drop(attendant.ready(0).await) })
        });
        if ready.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        self.ready = None;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Called {
        (self.call)(&self.stub, request)
    }
}

/// Returns the attendant of the stub's connection, if it has one.
fn attendant(stub: &impl Stub) -> Option<Attendant> {
    let connection = stub.object().connection()?;
    Some(connection.peer().attendant())
}

impl<S: Clone, F: Clone> Clone for StubService<S, F> {
    fn clone(&self) -> Self {
        Self {
            stub: self.stub.clone(),
            call: self.call.clone(),
            // A permission to call belongs to one service, see
            // `tower_service::Service::poll_ready`.
            ready: None,
        }
    }
}

impl<S, F> fmt::Debug for StubService<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StubService").finish_non_exhaustive()
    }
}
