//! Jbufs that the system may read after the call that sent them.

use std::sync::Arc;

use jstream::buffer::Filled;

/// A jbuf that belongs to all who may still read it, and is changed by nobody.
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

    /// Takes the jbuf, if nobody else has it; an empty shell is left.
    pub(crate) fn take(&mut self) -> Option<Filled> {
        Arc::get_mut(&mut self.0)?.take()
    }

    /// Puts a jbuf into an empty shell that nobody else has; else it comes back.
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
