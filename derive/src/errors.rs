//! Collection of errors that are reported together.

use syn::{Error, Result};

#[derive(Default)]
pub(crate) struct Errors {
    all: Option<Error>,
}

impl Errors {
    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.all {
            Some(all) => all.combine(error),
            None => self.all = Some(error),
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        self.all.map_or(Ok(()), Err)
    }
}
