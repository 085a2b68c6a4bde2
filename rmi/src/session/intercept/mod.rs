//! Interceptors, which observe or deny calls on either side, and layers around calls.

mod call_layer;
mod interceptor;
mod interceptor_list;
#[cfg(feature = "metrics")]
mod metered;
mod stop_switch;
#[cfg(feature = "tower")]
mod tower_layer;
mod traced;

pub use self::call_layer::{AsyncInterceptor, CallRequest, CallResponse};
pub(crate) use self::call_layer::{CallFuture, CallLayers, CallParts, InnerCall};
pub(crate) use self::interceptor::Watched;
pub use self::interceptor::{CallEnd, CallInfo, Denied, Interceptor, Side, Watch};
pub use self::interceptor_list::Interceptors;
#[cfg(feature = "metrics")]
pub use self::metered::Metered;
pub(crate) use self::stop_switch::StopSwitch;
#[cfg(feature = "tower")]
pub use self::tower_layer::CallService;
pub use self::traced::Traced;
