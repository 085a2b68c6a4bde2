//! Cache of writers and readers that are reused from one object to the next.

use std::sync::OnceLock;

use jstream::{Reader, Writer};
use jstream_sync::mpmc::PositionRing;

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
/// A writer or reader is taken out while it is used. The program's code that runs in it, such as
/// adapters, may use the endpoint, which then takes another one. The memory for the cache is
/// allocated when the first codec is put back: many connections never send objects.
#[derive(Default)]
pub struct Codecs<T>(OnceLock<Box<PositionRing<Box<T>>>>);

impl<T: Default> Codecs<T> {
    /// Calls `work` with a cached or a new codec. The codec is not returned to the cache if `work`
    /// panics.
    pub fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        // Taken out of the cache, because `work` runs code of the program, which may send another
        // object.
        let cached = self.0.get().and_then(|codecs| codecs.pop());
        let mut codec = cached.unwrap_or_default();
        let result = work(&mut codec);
        let codecs = self.0.get_or_init(|| Box::new(PositionRing::new(KEPT)));
        // A codec for which there is no room is dropped.
        let _ = codecs.push(codec);
        result
    }
}
