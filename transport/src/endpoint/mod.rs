//! Connections as programs use them.

#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod reactor;
#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod timer;
#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod watcher;
