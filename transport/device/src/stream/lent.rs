//! Buffers that the kernel may read after the call that sent them.

use std::sync::Arc;

use jstream::buffer::MessageBuffer;

/// A shared buffer that is not modified while several owners may read it.
#[derive(Clone)]
pub(crate) struct Lent(Arc<Option<MessageBuffer>>);

impl Lent {
    pub(crate) fn new(jbuf: MessageBuffer) -> Self {
        Self(Arc::new(Some(jbuf)))
    }

    pub(crate) fn jbuf(&self) -> Option<&MessageBuffer> {
        Option::as_ref(&self.0)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.jbuf().map_or(&[], MessageBuffer::as_bytes)
    }

    /// Takes the buffer out if there is no other owner, and leaves `self` empty.
    pub(crate) fn take_buffer(&mut self) -> Option<MessageBuffer> {
        Arc::get_mut(&mut self.0)?.take()
    }

    /// Stores a buffer if `self` is empty and has no other owner. Otherwise returns the buffer as
    /// the error.
    #[cfg(feature = "uring")]
    pub(crate) fn fill(&mut self, jbuf: MessageBuffer) -> Result<(), MessageBuffer> {
        match Arc::get_mut(&mut self.0) {
            Some(place @ None) => {
                *place = Some(jbuf);
                Ok(())
            }
            _ => Err(jbuf),
        }
    }
}
