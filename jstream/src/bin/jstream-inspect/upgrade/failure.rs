//! Errors of files.

use std::path::Path;

use jstream::file::FileError;

use crate::output::Failure;

/// Returns the text of an error of a file, with its path.
pub(super) fn text_of(path: &Path, error: &FileError) -> String {
    match error {
        // These errors have a path.
        FileError::System { .. } | FileError::Irregular { .. } | FileError::Locked { .. } => {
            error.to_string()
        }
        _ => format!("{}: {error}", path.display()),
    }
}

/// Returns a function that converts an error of a file.
pub(super) fn failed(path: &Path) -> impl Fn(FileError) -> Failure + Copy {
    move |error| Failure::Said(text_of(path, &error))
}

/// Converts an error of a writer, which has a path.
pub(super) fn write_failed(error: FileError) -> Failure {
    Failure::Said(error.to_string())
}
