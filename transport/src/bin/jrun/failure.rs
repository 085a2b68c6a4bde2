//! Errors of the program.

/// Error that ends the program.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line, or a file that it names, is invalid.
    Usage(String),
    /// Any other failure, with its reason.
    Said(String),
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Said(error.to_string())
    }
}
