//! The command `upgrade`: converts the objects of a file to newer versions of their types.

mod arguments;
#[cfg(unix)]
mod failure;
#[cfg(unix)]
mod plan;
#[cfg(unix)]
mod progress;
#[cfg(unix)]
mod rewrite;

pub(crate) use self::arguments::Upgrade;
use crate::output::Failure;

/// Rewrites the file, and returns true if all objects are in the new one.
#[cfg(unix)]
pub(crate) fn upgrade(arguments: &Upgrade) -> Result<bool, Failure> {
    rewrite::rewrite(arguments)
}

#[cfg(not(unix))]
pub(crate) fn upgrade(_: &Upgrade) -> Result<bool, Failure> {
    Err(Failure::Said(
        "files of objects are supported on Unix only".to_owned(),
    ))
}
