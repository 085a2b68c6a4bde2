//! Buffers that the kernel may read after the call that sent them.

use std::sync::Arc;

use jstream::buffer::Filled;

/// A shared buffer that is not modified while several owners may read it.
#[derive(Clone)]
pub(crate) struct Lent(Arc<Option<Filled>>);

impl Lent {
    pub(crate) fn new(jbuf: Filled) -> Self {
        Self(Arc::new(Some(jbuf)))
    }

    pub(crate) fn jbuf(&self) -> Option<&Filled> {
        Option::as_ref(&self.0)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.jbuf().map_or(&[], Filled::as_bytes)
    }

    /// Takes the buffer out if there is no other owner, and leaves `self` empty.
    pub(crate) fn take(&mut self) -> Option<Filled> {
        Arc::get_mut(&mut self.0)?.take()
    }

    /// Stores a buffer if `self` is empty and has no other owner. Otherwise returns the buffer as
    /// the error.
    pub(crate) fn fill(&mut self, jbuf: Filled) -> Result<(), Filled> {
        match Arc::get_mut(&mut self.0) {
            Some(place @ None) => {
                *place = Some(jbuf);
                Ok(())
            }
            _ => Err(jbuf),
        }
    }
}
