//! A call that was made in another version of its interface.

use std::cell::Cell;
use std::sync::Arc;

use crate::interface::{IncomingMethod, MessageConversion, VersionPairs};

/// State of a call that was made in another version of the interface.
#[derive(Debug)]
pub(crate) struct CallVersion {
    /// The interfaces of the objects that the call passes on.
    pub(crate) pairs: Arc<VersionPairs>,
    methods: Arc<[IncomingMethod]>,
    method: usize,
    /// The number of streams that were taken.
    next_stream: Cell<usize>,
}

impl CallVersion {
    pub(crate) fn new(
        pairs: Arc<VersionPairs>,
        methods: Arc<[IncomingMethod]>,
        method: usize,
    ) -> Self {
        Self {
            pairs,
            methods,
            method,
            next_stream: Cell::new(0),
        }
    }

    /// Returns the conversion of the next stream among the arguments, if it needs one.
    pub(crate) fn next_frames(&self) -> Option<Arc<MessageConversion>> {
        let next = self.next_stream.get();
        self.next_stream.set(next.saturating_add(1));
        self.methods.get(self.method)?.frames.get(next)?.clone()
    }
}
