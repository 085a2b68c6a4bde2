//! Exit codes and descriptions of programs that can't be started.

use std::ffi::OsString;
use std::io::{self, ErrorKind};

/// Exit code if the reason is not the program.
pub(crate) const OTHER: u8 = 125;

/// Returns the exit code that shells report for a program that can't be started.
pub(crate) fn code_of_start(error: &io::Error) -> u8 {
    match error.kind() {
        ErrorKind::NotFound => 127,
        ErrorKind::PermissionDenied => 126,
        _ if error.raw_os_error() == Some(libc::ENOEXEC) => 126,
        _ => OTHER,
    }
}

/// Describes the reason why a program can't be started.
pub(crate) fn describe(command: &[OsString], error: &io::Error) -> String {
    let program = command.first().map(|word| word.to_string_lossy());
    format!("{} can't be started: {error}", program.unwrap_or_default())
}
