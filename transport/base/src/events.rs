//! Events of `tracing`.
//!
//! A subscriber is code of the program: it may panic, and it may use the connection that an event
//! is about. So no event is emitted under a lock, or in the middle of a change.

use jstream_sync::callbacks;
use tracing::Level;
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};

/// Calls `event`, which emits an event of this level, as soon as the calling thread holds no lock
/// of the library; see [`callbacks`]. Does nothing if no subscriber wants the level.
#[inline]
pub fn emit(level: Level, event: impl FnOnce() + 'static) {
    if level <= STATIC_MAX_LEVEL && level <= LevelFilter::current() {
        callbacks::run(event);
    }
}
