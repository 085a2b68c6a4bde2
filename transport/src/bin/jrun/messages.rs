//! Messages of the program itself.

use std::io::{self, Write};

use jstream::command_line::name_of_program;

/// Writes a message to the standard error output.
pub(crate) fn print_error(text: &str) {
    let name = name_of_program("jrun");
    // There is no other place to report a failure of this.
    let _ = writeln!(io::stderr(), "{name}: {text}");
}

/// Writes lines to the standard output.
pub(crate) fn print(text: &str) {
    // The reader of the output may have closed it.
    let _ = write!(io::stdout(), "{text}");
}
