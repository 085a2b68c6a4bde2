//! Interceptors, which observe or deny calls on either side.

mod interceptor;
#[cfg(feature = "metrics")]
mod metered;
mod traced;

pub(crate) use self::interceptor::Watched;
pub use self::interceptor::{CallEnd, CallInfo, Denied, Interceptor, Interceptors, Side, Watch};
#[cfg(feature = "metrics")]
pub use self::metered::Metered;
pub use self::traced::Traced;
