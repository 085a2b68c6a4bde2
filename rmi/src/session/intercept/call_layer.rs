//! Layers around calls: asynchronous interceptors, and services of tower.
//!
//! A layer gets the request of a call, and runs the rest of the call as a future within its own.
//! The arguments are not part of the request. They stay with the inner call: at the caller, that is
//! the thread that makes the call; at the callee, the request in its receive buffer.
//!
//! Decision 129 has the reasons.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use crate::frame::Metadata;
use crate::interface::BoxFuture;
use crate::session::intercept::interceptor::{CallEnd, Denied, Side};
use crate::session::peer_info::PeerInfo;
use crate::support::{CallError, Outcome};

/// The rest of a call, within a layer.
pub(crate) type CallFuture = BoxFuture<'static, Result<CallResponse, CallError>>;

/// A layer around all calls of a connection.
pub(crate) trait CallLayer: Send + Sync {
    /// Returns the future of the call, which [runs](CallRequest::run) the request.
    fn surround(self: Arc<Self>, request: CallRequest) -> CallFuture;
}

/// The innermost part of a call, which sends it or runs its method.
pub(crate) trait InnerCall: Send + Sync {
    /// Returns the future of one attempt of the call.
    fn run(self: Arc<Self>, request: CallRequest) -> CallFuture;

    /// Returns the execution state of the method, as far as this side knows it.
    fn outcome(&self) -> Outcome;
}

/// The layers around the calls of a connection, from the outside in.
#[derive(Clone)]
pub(crate) struct CallLayers {
    layers: Arc<[Arc<dyn CallLayer>]>,
    keeps_arguments: bool,
}

impl CallLayers {
    /// Returns these layers with another one inside them.
    pub(super) fn and(layers: Option<&Self>, layer: Arc<dyn CallLayer>) -> Self {
        let outer = layers.map_or(&[][..], |outer| &outer.layers);
        Self {
            layers: outer.iter().cloned().chain([layer]).collect(),
            keeps_arguments: layers.is_some_and(Self::keeps_arguments),
        }
    }

    pub(super) fn keeping_arguments(self) -> Self {
        Self {
            keeps_arguments: true,
            ..self
        }
    }

    pub(super) fn count(&self) -> usize {
        self.layers.len()
    }

    /// Returns true if the caller keeps the arguments of each call, so that a layer can make the
    /// call again.
    pub(crate) fn keeps_arguments(&self) -> bool {
        self.keeps_arguments
    }

    /// Returns the future of a call within the layers.
    pub(crate) fn run(&self, call: CallParts, inner_call: Arc<dyn InnerCall>) -> CallFuture {
        let request = CallRequest {
            call,
            layers: self.layers.clone(),
            next: 0,
            inner_call,
        };
        request.run()
    }
}

/// The description of a call.
#[derive(Debug, Clone)]
pub(crate) struct CallParts {
    pub(crate) side: Side,
    pub(crate) interface: &'static str,
    pub(crate) method: &'static str,
    pub(crate) is_idempotent: bool,
    pub(crate) deadline: Option<Instant>,
    pub(crate) peer: Option<PeerInfo>,
    pub(crate) bytes: Option<u64>,
    pub(crate) metadata: Metadata,
}

/// A call, as [asynchronous interceptors](AsyncInterceptor) and services of tower see it. It
/// describes the call, and does not contain its arguments.
///
/// Clones are requests of the same call. Only one of them makes it, unless the client [keeps the
/// arguments](crate::Interceptors::keeping_arguments).
#[derive(Clone)]
pub struct CallRequest {
    call: CallParts,
    layers: Arc<[Arc<dyn CallLayer>]>,
    /// Index of the layer that gets the request next.
    next: usize,
    inner_call: Arc<dyn InnerCall>,
}

impl CallRequest {
    /// Returns the side on which the layer runs.
    #[must_use]
    pub fn side(&self) -> Side {
        self.call.side
    }

    /// Returns the name of the object's trait. Empty at the caller of a call [by
    /// description](crate::Described).
    #[must_use]
    pub fn interface(&self) -> &'static str {
        self.call.interface
    }

    /// Returns the name of the method.
    #[must_use]
    pub fn method(&self) -> &'static str {
        self.call.method
    }

    /// Returns true if the method is declared `#[remote(idempotent)]`.
    #[must_use]
    pub fn is_idempotent(&self) -> bool {
        self.call.is_idempotent
    }

    /// Returns the deadline of the call, if it has one. It limits the time of all layers.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.call.deadline
    }

    /// Returns the other side of the connection. `None` at a caller that has no connection to the
    /// object at present, or chooses one of several servers later.
    #[must_use]
    pub fn peer(&self) -> Option<&PeerInfo> {
        self.call.peer.as_ref()
    }

    /// Returns the length of the arguments' message in bytes. `None` at the caller, which writes
    /// them later.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.call.bytes
    }

    /// Returns the metadata of the call.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.call.metadata
    }

    /// Returns the metadata of the call, to be changed: at the caller, before it is sent; at the
    /// callee, before the method [reads](crate::Context::metadata) it.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.call.metadata
    }

    /// Lets the call end at this time, if its deadline is later. Effective at the caller only.
    pub fn limit_deadline(&mut self, deadline: Instant) {
        let own = self.call.deadline.unwrap_or(deadline);
        self.call.deadline = Some(own.min(deadline));
    }

    /// Returns the future of the rest of the call.
    pub(crate) fn run(mut self) -> CallFuture {
        match self.layers.get(self.next).cloned() {
            Some(layer) => {
                self.next = self.next.saturating_add(1);
                layer.surround(self)
            }
            None => self.inner_call.clone().run(self),
        }
    }

    /// Returns the inner call.
    #[cfg(feature = "tower")]
    pub(super) fn inner_call(&self) -> &Arc<dyn InnerCall> {
        &self.inner_call
    }

    /// Returns the deadline and the metadata.
    pub(crate) fn terms(&self) -> (Option<Instant>, Metadata) {
        (self.call.deadline, self.call.metadata.clone())
    }
}

impl fmt::Debug for CallRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallRequest").field(&self.call).finish()
    }
}

/// The end of a call that has a result, as services of tower see it. At the caller, it contains the
/// result, so a layer has to return the response of the call that it was asked for.
pub struct CallResponse {
    inner_call: Arc<dyn InnerCall>,
    bytes: u64,
    result: Option<Box<dyn Any + Send>>,
}

impl CallResponse {
    pub(crate) fn new(
        inner_call: Arc<dyn InnerCall>,
        bytes: u64,
        result: Option<Box<dyn Any + Send>>,
    ) -> Self {
        Self {
            inner_call,
            bytes,
            result,
        }
    }

    /// Returns the length of the result's message in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the result, if this is the response of this inner call.
    pub(crate) fn into_result<T: 'static>(self, inner_call: *const ()) -> Option<T> {
        let is_own = std::ptr::addr_eq(Arc::as_ptr(&self.inner_call), inner_call);
        let result = self.result.filter(|_| is_own)?.downcast().ok()?;
        Some(*result)
    }
}

impl fmt::Debug for CallResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallResponse")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// An interceptor that may wait, before and after each call of a connection: for a token that it
/// fetches, or for a service that checks one. Add it by
/// [`Interceptors::and_async`](crate::Interceptors::and_async).
///
/// At the caller, the future is polled when the call is made, and then by whoever waits for the
/// call. At the callee, it is a task of the server. It ends with the call: at its deadline, if its
/// caller drops it, or if the connection ends. See the [guide](crate::guide::layers).
///
/// ```
/// use jstream_rmi::{
///     AsyncInterceptor, CallRequest, Client, Denied, Interceptors, Server, ServerOptions, remote,
/// };
/// use std::sync::Arc;
///
/// #[remote]
/// trait Door {
///     fn open(&self) -> bool;
/// }
///
/// struct Plain;
///
/// impl Door for Plain {
///     fn open(&self) -> bool {
///         true
///     }
/// }
///
/// struct Closed;
///
/// impl AsyncInterceptor for Closed {
///     async fn before(&self, call: &mut CallRequest) -> Result<(), Denied> {
///         // An `.await` of another service goes here.
///         match call.method() {
///             "open" => Err(Denied("closed".to_owned())),
///             _ => Ok(()),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut options = ServerOptions::default();
/// options.interceptors = Interceptors::default().and_async(Closed);
/// let server = Server::new(options);
/// server.bind::<dyn Door>("door", Arc::new(Plain))?;
/// let serving = server.listen(&"inproc://doc-async-interceptor".parse()?)?;
/// let door = Client::connect(serving.address()).wait()?.lookup::<dyn Door>("door").wait()?;
/// assert!(door.open().wait().unwrap_err().to_string().contains("closed"));
/// # Ok(())
/// # }
/// ```
pub trait AsyncInterceptor: Send + Sync + 'static {
    /// Waits before a call is sent, or before its method runs.
    ///
    /// # Errors
    ///
    /// [`Denied`] if the call must not run. Its caller gets
    /// [`CallError::Denied`](crate::CallError::Denied).
    fn before(&self, call: &mut CallRequest) -> impl Future<Output = Result<(), Denied>> + Send;

    /// Waits after a call that [`before`](Self::before) has let through. At the caller, the result
    /// is delivered after that. At the callee, it has been sent already. Not called if the call is
    /// dropped.
    fn after(&self, call: &CallRequest, end: &CallEnd) -> impl Future<Output = ()> + Send {
        let _ = (call, end);
        std::future::ready(())
    }
}

/// The layer of an asynchronous interceptor.
pub(super) struct AsyncLayer<I>(pub(super) I);

impl<I: AsyncInterceptor> CallLayer for AsyncLayer<I> {
    fn surround(self: Arc<Self>, mut request: CallRequest) -> CallFuture {
        Box::pin(async move {
            if let Err(Denied(reason)) = self.0.before(&mut request).await {
                let method = request.method();
                return Err(CallError::Denied { method, reason });
            }
            let (call, since) = (request.clone(), Instant::now());
            let result = request.run().await;
            let end = CallEnd {
                result: result.as_ref().map(drop).map_err(CallError::outcome),
                time: since.elapsed(),
                bytes: result.as_ref().map_or(0, CallResponse::bytes),
            };
            self.0.after(&call, &end).await;
            result
        })
    }
}
