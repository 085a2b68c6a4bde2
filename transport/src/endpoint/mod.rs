//! Connections as programs use them.

#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod alarm;
#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod reactor;
#[allow(dead_code, reason = "used by the endpoints to come")]
pub(crate) mod watcher;
