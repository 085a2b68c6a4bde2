//! Tests that need a process of their own, child processes of a test program, and the resource
//! usage of a process.

use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The environment variable that holds the role of a child process in its test.
pub const ROLE: &str = "JSTREAM_TEST_ROLE";

/// Returns the role of this process, or `None` if it is not a child process.
pub fn role() -> Option<String> {
    std::env::var(ROLE).ok()
}

/// Returns the name of the test that this thread runs, with its modules.
///
/// # Panics
///
/// If the thread is not the one on which the test harness runs a test.
#[track_caller]
pub fn name() -> String {
    let thread = std::thread::current();
    match thread.name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => panic!("only the thread of a test knows the name of the test"),
    }
}

/// Returns the arguments with which a test program runs a single test. A test that only child
/// processes run is marked `#[ignore]`.
pub fn arguments(test: &str) -> [&str; 5] {
    [
        test,
        "--exact",
        "--include-ignored",
        "--nocapture",
        // The harness then blocks while the test runs, and allocates nothing.
        "--test-threads=1",
    ]
}

/// Returns a command that runs this program again, for one test and in the given role.
pub fn again(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments(test)).env(ROLE, role);
    command
}

/// Runs the body of the calling test in a process of its own: the program starts itself again for
/// this one test, and the body runs there. Of the tests of one program, one at a time does so.
///
/// # Panics
///
/// If the child process fails, or if this thread is not the thread of a test.
#[track_caller]
pub fn alone(body: impl FnOnce()) {
    alone_by(|command| command, body);
}

/// Like [`alone`], but `change` changes the command that starts the child process. It may return
/// another command that executes the given one.
///
/// # Panics
///
/// As [`alone`].
#[track_caller]
pub fn alone_by(change: impl FnOnce(Command) -> Command, body: impl FnOnce()) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    if role().is_some() {
        return body();
    }
    // These tests measure what a process uses. With others beside them, a process that waits for a
    // processor uses more.
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let output = change(again(&name(), "alone")).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    print!("{text}");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{text}{errors}", output.status);
    assert!(text.contains("1 passed"), "{text}{errors}");
}

/// Returns the number of open file descriptors of this process.
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns the resident memory of this process in bytes.
pub fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
