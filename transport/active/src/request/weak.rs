//! Identity of a request that does not keep its connection.
//!
//! Decision 081 has the reasons.

use std::fmt;
use std::ptr;
use std::sync::{Arc, Weak};

use super::{Mark, Replier};
use crate::ledger::Number;
use crate::link::Link;

/// A [`Mark`] that does not keep its connection. Updating it for consecutive requests of one
/// connection costs almost nothing.
#[derive(Clone)]
pub struct WeakMark {
    link: Weak<Link>,
    number: Number,
}

impl WeakMark {
    /// Returns a mark that identifies no request.
    #[must_use]
    pub const fn none() -> Self {
        Self {
            link: Weak::new(),
            number: Number::Told(0),
        }
    }

    /// Makes this the mark of the request that `replier` answers.
    pub fn set(&mut self, replier: &Replier) {
        if !ptr::eq(self.link.as_ptr(), Arc::as_ptr(&replier.link)) {
            self.link = Arc::downgrade(&replier.link);
        }
        self.number = replier.number;
    }

    /// Returns the mark of the request, if its connection still exists.
    #[must_use]
    pub fn upgrade(&self) -> Option<Mark> {
        let link = self.link.upgrade()?;
        let number = self.number;
        Some(Mark { link, number })
    }
}

impl fmt::Debug for WeakMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakMark")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
