//! Tests that run in a process of their own, and the resource usage of a process.

use std::process::Command;

/// The environment variable that holds the role of a child process in its test.
pub(crate) const ROLE: &str = "JSTREAM_TEST_ROLE";

/// Returns a command that runs this program again, for one test.
pub(crate) fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]);
    command.env(ROLE, role);
    command
}

/// Runs `test` in a process of its own.
pub(crate) fn alone(name: &str, test: impl FnOnce()) {
    if std::env::var(ROLE).is_ok() {
        return test();
    }
    let output = again(name, "alone").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains("1 passed"), "{text}");
}

/// Returns the number of open file descriptors of this process.
pub(crate) fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns the resident memory of this process in bytes.
pub(crate) fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
