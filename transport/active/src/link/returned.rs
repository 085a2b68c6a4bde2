//! Returned messages that no ticket waits for.

use std::collections::VecDeque;
use std::sync::Mutex;

use crate::error::Returned;
use crate::settings::Settings;
use jstream_sync::lock;

/// Returned one-way messages, until the program takes them.
#[derive(Default)]
pub(super) struct ReturnedMessages(Mutex<VecDeque<Returned>>);

impl ReturnedMessages {
    /// Keeps a message for the program. If there is no room for it, returns it.
    pub(super) fn keep(&self, returned: Returned, settings: &Settings) -> Option<Returned> {
        let mut kept = lock(&self.0);
        let lengths = kept.iter().chain([&returned]).filter_map(|returned| {
            let payload = returned.payload.as_ref()?;
            Some(payload.len() as u64)
        });
        let bytes = lengths.fold(0, u64::saturating_add);
        // A single message may exceed the limit. Otherwise one that is longer than the window could
        // never be returned.
        let has_room = kept.is_empty() || bytes <= settings.window_bytes;
        if kept.len() >= settings.kept_returns || !has_room {
            return Some(returned);
        }
        kept.push_back(returned);
        None
    }

    /// Takes the oldest message.
    pub(super) fn take_oldest(&self) -> Option<Returned> {
        lock(&self.0).pop_front()
    }
}
