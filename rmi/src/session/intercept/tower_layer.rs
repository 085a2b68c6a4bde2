//! Services of tower around calls.
//!
//! Decision 129 has the reasons.

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::interface::Exclusive;
use crate::session::intercept::call_layer::{CallFuture, CallLayer, CallRequest, CallResponse};
use crate::support::CallError;

/// The innermost service of the layers of tower around calls: it makes the call, or runs its
/// method.
///
/// It is always ready. The limits of the connection and of the server apply to each call.
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

/// A service around all calls. They take turns to wait until it is ready, so it need not be
/// `Clone`.
struct ServiceLayer<S> {
    service: Exclusive<S>,
    /// The runtime in which the layer was made, for its timers.
    #[cfg(feature = "tokio")]
    runtime: Option<tokio::runtime::Handle>,
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
        service: Exclusive::new(layer.layer(CallService)),
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
        let (method, core) = (request.method(), request.core().clone());
        let is_idempotent = request.is_idempotent();
        let call = async move {
            let mut service = self.service.write().await;
            poll_fn(|context| service.poll_ready(context)).await?;
            let response = service.call(request);
            // Others may have their turn while this call runs.
            drop(service);
            response.await
        };
        let call = async move {
            let result: Result<CallResponse, S::Error> = call.await;
            result.map_err(|error| match error.into().downcast::<CallError>() {
                Ok(error) => *error,
                Err(error) => CallError::Layer {
                    method,
                    reason: error.to_string(),
                    outcome: core.outcome(),
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
