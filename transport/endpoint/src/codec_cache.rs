//! Cache of writers and readers that are reused from one object to the next.

use std::sync::Mutex;

use jstream::{Reader, Writer};

/// Maximum number of cached writers and of cached readers: this many threads can send, or receive,
/// at once without creating new ones.
const KEPT: usize = 8;

/// The writers and readers for the objects of an endpoint.
#[derive(Default)]
pub struct CodecCache {
    /// Writers, of objects that are sent.
    pub writers: Codecs<Writer>,
    /// Readers, of objects that arrive.
    pub readers: Codecs<Reader>,
}

/// Cached writers or readers.
///
/// A writer or reader is taken out while it is used, and no lock is held meanwhile. The program's
/// code that runs in it, such as adapters, may use the endpoint, which then takes another one.
#[allow(
    clippy::vec_box,
    reason = "a codec is large, and is taken out and put back for each object"
)]
#[derive(Default)]
pub struct Codecs<T>(Mutex<Vec<Box<T>>>);

impl<T: Default> Codecs<T> {
    /// Calls `work` with a cached or a new codec. The codec is not returned to the cache if `work`
    /// panics.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // Poisoning is ignored, because the cache is consistent after every statement.
        let lock = || jstream_sync::lock(&self.0);
        let mut codec = lock().pop().unwrap_or_default();
        let result = work(&mut codec);
        let mut kept = lock();
        if kept.len() < KEPT {
            kept.push(codec);
        }
        result
    }
}
