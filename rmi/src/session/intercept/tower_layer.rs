//! Services of tower around calls.
//!
//! All calls share one service, which a call takes out of its place to ask whether it is ready, and
//! to make the call at once if it is. No call keeps the service while it waits: a call that nobody
//! polls would keep it from all others. So the service wakes all calls that wait for it, and the
//! first that is polled takes it.
//!
//! INVARIANT: a call registers its waker before it takes the service, so the service can wake it
//! at once. A call that finds the place empty leaves its waker there under the same lock, and the
//! call that puts the service back wakes it.
//!
//! Decision 129 has the reasons.

use std::error::Error;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

use jstream_sync::callbacks;
use jstream_sync::wakers::WakerList;
use tower_layer::Layer;
use tower_service::Service;

use crate::session::intercept::call_layer::{CallFuture, CallLayer, CallRequest, CallResponse};
use crate::support::{CallError, lock};

/// The innermost service of the layers of tower around calls: it makes the call, or runs its
/// method.
///
/// The service is always ready. The limits of the connection and of the server apply to each call.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct CallService;

impl Service<CallRequest> for CallService {
    type Response = CallResponse;
    type Error = CallError;
    type Future = CallFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: CallRequest) -> CallFuture {
        request.run()
    }
}

/// A service around all calls, which need not be `Clone`.
struct ServiceLayer<S> {
    place: Mutex<ServicePlace<S>>,
    waiters: Arc<ServiceWaiters>,
    /// The runtime in which the layer was made, for its timers.
    #[cfg(feature = "tokio")]
    runtime: Option<tokio::runtime::Handle>,
}

/// The place of the service.
struct ServicePlace<S> {
    /// `None` while a call has it.
    service: Option<Box<S>>,
    /// The calls that have not found the service. Only they have to look again when it is back.
    missed: WakerList,
}

/// The calls that wait for the service. As a waker, it wakes all of them.
struct ServiceWaiters(Mutex<WakerList>);

impl Wake for ServiceWaiters {
    fn wake(self: Arc<Self>) {
        wake_all(&mut lock(&self.0));
    }
}

/// Calls all wakers of a list, after the lock of the list is released.
fn wake_all(wakers: &mut WakerList) {
    while let Some(waker) = wakers.pop() {
        callbacks::wake(waker);
    }
}

/// The registration of a call that waits for the service.
struct ServiceWait<'w> {
    waiters: &'w ServiceWaiters,
    key: Option<u64>,
}

impl ServiceWait<'_> {
    fn register(&mut self, waker: &Waker) {
        // The waker is cloned without the lock, because that may run code of the program.
        let waker = waker.clone();
        let mut wakers = lock(&self.waiters.0);
        callbacks::discard(wakers.register(&mut self.key, waker));
    }
}

impl Drop for ServiceWait<'_> {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            callbacks::discard(lock(&self.waiters.0).remove(key));
        }
    }
}

/// The service, taken out of its place. It is put back when this is dropped.
struct TakenService<'s, S> {
    layer: &'s ServiceLayer<S>,
    service: Option<Box<S>>,
}

impl<S> Drop for TakenService<'_, S> {
    fn drop(&mut self) {
        let mut place = lock(&self.layer.place);
        place.service = self.service.take();
        wake_all(&mut place.missed);
    }
}

impl<S> ServiceLayer<S> {
    /// Takes the service, unless another call has it. Then the waker is called when it is back.
    /// `key` is that of the call among those that have missed the service.
    fn take(&self, key: &mut Option<u64>, waker: &Waker) -> Option<TakenService<'_, S>> {
        // The waker is cloned without the lock, because that may run code of the program.
        let waker = waker.clone();
        let mut place = lock(&self.place);
        let Some(service) = place.service.take() else {
            callbacks::discard(place.missed.register(key, waker));
            return None;
        };
        drop(place);
        callbacks::discard(Some(waker));
        Some(TakenService {
            layer: self,
            service: Some(service),
        })
    }

    /// Waits until the service is ready, and gives it the request. Returns the future of the call.
    async fn begin(&self, request: CallRequest) -> Result<S::Future, S::Error>
    where
        S: Service<CallRequest>,
    {
        let mut request = Some(request);
        let mut wait = ServiceWait {
            waiters: &self.waiters,
            key: None,
        };
        let mut missed = None;
        poll_fn(|context| {
            wait.register(context.waker());
            let Some(mut taken) = self.take(&mut missed, context.waker()) else {
                return Poll::Pending;
            };
            let Some(service) = &mut taken.service else {
                unreachable!("the service is put back at the end");
            };
            let waker = Waker::from(self.waiters.clone());
            let ready = service.poll_ready(&mut Context::from_waker(&waker));
            ready.map_ok(|()| match request.take() {
                Some(request) => service.call(request),
                None => unreachable!("the request is given once"),
            })
        })
        .await
    }
}

/// Returns the layer of a service that `layer` makes of [`CallService`].
pub(super) fn layer_of<L>(layer: &L) -> Arc<dyn CallLayer>
where
    L: Layer<CallService>,
    L::Service: Service<CallRequest, Response = CallResponse> + Send + Sync + 'static,
    <L::Service as Service<CallRequest>>::Error: Into<Box<dyn Error + Send + Sync>>,
    <L::Service as Service<CallRequest>>::Future: Send + 'static,
{
    Arc::new(ServiceLayer {
        place: Mutex::new(ServicePlace {
            service: Some(Box::new(layer.layer(CallService))),
            missed: WakerList::new(),
        }),
        waiters: Arc::new(ServiceWaiters(Mutex::default())),
        #[cfg(feature = "tokio")]
        runtime: tokio::runtime::Handle::try_current().ok(),
    })
}

impl<S> CallLayer for ServiceLayer<S>
where
    S: Service<CallRequest, Response = CallResponse> + Send + Sync + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send + 'static,
{
    fn surround(self: Arc<Self>, request: CallRequest) -> CallFuture {
        #[cfg(feature = "tokio")]
        let runtime = self.runtime.clone();
        let (method, inner_call) = (request.method(), request.inner_call().clone());
        let is_idempotent = request.is_idempotent();
        let call = async move {
            let response = self.begin(request).await?;
            response.await
        };
        let call = async move {
            let result: Result<CallResponse, S::Error> = call.await;
            result.map_err(|error| match error.into().downcast::<CallError>() {
                Ok(error) => *error,
                Err(error) => CallError::Layer {
                    method,
                    reason: error.to_string(),
                    outcome: inner_call.outcome(),
                    idempotent: is_idempotent,
                },
            })
        };
        #[cfg(feature = "tokio")]
        if let Some(runtime) = runtime {
            return Box::pin(in_runtime(runtime, call));
        }
        Box::pin(call)
    }
}

/// Polls a future within a runtime, so that timers of tokio work in any thread.
#[cfg(feature = "tokio")]
async fn in_runtime<F: Future>(runtime: tokio::runtime::Handle, future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    poll_fn(|context| {
        let _entered = runtime.enter();
        future.as_mut().poll(context)
    })
    .await
}
