//! The list of the interceptors and layers of a connection's calls.

use std::fmt;
use std::sync::Arc;

use crate::session::intercept::call_layer::{AsyncInterceptor, AsyncLayer, CallLayer, CallLayers};
#[cfg(feature = "tower")]
use crate::session::intercept::call_layer::{CallRequest, CallResponse};
use crate::session::intercept::interceptor::{CallInfo, Denied, Interceptor, Watched};
#[cfg(feature = "tower")]
use crate::session::intercept::tower_layer::{CallService, layer_of};

/// A list of interceptors that see each call, in order. Empty by default, which has no cost.
///
/// Asynchronous interceptors and layers of tower surround the others.
#[derive(Clone, Default)]
pub struct Interceptors {
    observers: Option<Arc<[Arc<dyn Interceptor>]>>,
    layers: Option<CallLayers>,
}

impl Interceptors {
    /// Adds an interceptor, which runs inside the previous ones.
    #[must_use]
    pub fn and(self, interceptor: impl Interceptor) -> Self {
        let mut all = self.observers.map_or_else(Vec::new, |all| all.to_vec());
        all.push(Arc::new(interceptor));
        Self {
            observers: Some(all.into()),
            layers: self.layers,
        }
    }

    /// Adds an interceptor that may wait, which runs inside the previous asynchronous ones and
    /// layers.
    #[must_use]
    pub fn and_async(self, interceptor: impl AsyncInterceptor) -> Self {
        self.with_layer(Arc::new(AsyncLayer(interceptor)))
    }

    /// Adds a layer of tower, which runs inside the previous layers and asynchronous interceptors.
    /// Its service is made once, so its limits hold for all calls with these options and their
    /// clones. See the [guide](crate::guide::layers).
    ///
    /// If its error is no [`CallError`](crate::CallError), the caller of a call gets
    /// [`CallError::Layer`](crate::CallError::Layer). Layers that use timers of tokio need a
    /// runtime: with the feature
    /// `tokio`, the one in which this function is called, else that of the threads which wait for
    /// calls.
    #[cfg(feature = "tower")]
    #[must_use]
    pub fn layer<L>(self, layer: &L) -> Self
    where
        L: tower_layer::Layer<CallService>,
        L::Service:
            tower_service::Service<CallRequest, Response = CallResponse> + Send + Sync + 'static,
        <L::Service as tower_service::Service<CallRequest>>::Error:
            Into<Box<dyn std::error::Error + Send + Sync>>,
        <L::Service as tower_service::Service<CallRequest>>::Future: Send + 'static,
    {
        self.with_layer(layer_of(layer))
    }

    /// Keeps a copy of the arguments of each call of a client that has layers, so that a layer can
    /// make the call again, such as the retry of tower. Has no effect without layers, so call it
    /// after adding them.
    ///
    /// A call is made again only if its method did not run, or is declared
    /// `#[remote(idempotent)]`. Else, and for calls with references or streams among their
    /// arguments, the second attempt fails with
    /// [`CallError::Layer`](crate::CallError::Layer). Without this option, so does
    /// each second attempt of a call that was sent at once from the arguments of the caller, unless
    /// they were kept to repeat the call over another connection.
    #[must_use]
    pub fn keeping_arguments(self) -> Self {
        Self {
            layers: self.layers.map(CallLayers::keeping_arguments),
            ..self
        }
    }

    fn with_layer(self, layer: Arc<dyn CallLayer>) -> Self {
        Self {
            layers: Some(CallLayers::and(self.layers.as_ref(), layer)),
            ..self
        }
    }

    /// Returns the asynchronous interceptors and the layers, if there are any.
    pub(crate) fn layers(&self) -> Option<&CallLayers> {
        self.layers.as_ref()
    }

    /// Returns true if there are no interceptors.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.observers.is_none() && self.layers.is_none()
    }

    /// Notifies the interceptors of a new call. Returns `None` if there are none.
    pub(crate) fn before(
        &self,
        call: impl FnOnce() -> CallInfo,
    ) -> Result<Option<Arc<Watched>>, Denied> {
        match &self.observers {
            None => Ok(None),
            Some(all) => Watched::begin(all, call()).map(Some),
        }
    }
}

impl fmt::Debug for Interceptors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.observers.as_ref().map_or(0, |all| all.len());
        let layers = self.layers.as_ref().map_or(0, CallLayers::count);
        let count = count.saturating_add(layers);
        f.debug_tuple("Interceptors").field(&count).finish()
    }
}
