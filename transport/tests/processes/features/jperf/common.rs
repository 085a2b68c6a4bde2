//! The `jperf` program, and a server process of it.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value as Json;

/// A timeout longer than any operation of these tests, so that a hang becomes a failure.
const LONG: Duration = Duration::from_secs(120);

pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jperf"));
    program.args(arguments).stdin(Stdio::null());
    program
}

/// Runs the program, and checks its exit code.
#[track_caller]
pub(crate) fn run(code: i32, arguments: &[&str]) -> Output {
    let output = program(arguments).output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {error}");
    assert!(!error.contains("panicked"), "{error}");
    output
}

#[track_caller]
pub(crate) fn printed(arguments: &[&str]) -> String {
    String::from_utf8(run(0, arguments).stdout).unwrap()
}

/// Runs the program, checks its exit code, and returns its error output.
#[track_caller]
pub(crate) fn failed(code: i32, arguments: &[&str]) -> String {
    let output = run(code, arguments);
    assert!(output.stdout.is_empty() || code == 1, "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Runs the program with `--json`, and returns its rows. Checks that each row is complete and its
/// figures are plausible.
#[track_caller]
pub(crate) fn rows(arguments: &[&str]) -> Vec<Json> {
    let text = printed(&[arguments, &["--json"]].concat());
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    let rows: Vec<_> = rows.collect();
    for row in &rows {
        let number = |name: &str| {
            row[name]
                .as_f64()
                .unwrap_or_else(|| panic!("{name}: {row}"))
        };
        for name in [
            "samples",
            "min_ns",
            "p50_ns",
            "p99_ns",
            "max_ns",
            "mean_ns",
            "messages_per_second",
        ] {
            assert!(number(name) > 0.0, "{name}: {row}");
        }
        let order = ["min_ns", "p50_ns", "p99_ns", "max_ns"].map(number);
        assert!(order.is_sorted(), "{row}");
        let bytes = number("messages_per_second") * number("bytes");
        assert!(
            (number("bytes_per_second") - bytes).abs() <= bytes * 1e-9,
            "{row}"
        );
    }
    rows
}

/// A server process that is ended when this value is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    out: BufReader<ChildStdout>,
    /// The addresses on which the server listens.
    pub(crate) addresses: Vec<String>,
}

impl Server {
    pub(crate) fn start(addresses: &[&str], options: &[&str]) -> Self {
        let mut program = program(&[&["serve"], addresses, options].concat());
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let listening = addresses.iter().map(|_| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line.trim_end()
                .strip_prefix("listening on ")
                .unwrap()
                .to_owned()
        });
        let addresses = listening.collect();
        Self {
            child,
            out,
            addresses,
        }
    }

    pub(crate) fn address(&self) -> &str {
        &self.addresses[0]
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until the server has ended successfully, and returns its messages about its clients.
    #[track_caller]
    pub(crate) fn end(mut self) -> String {
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(begun.elapsed() < LONG, "the server does not end");
            thread::sleep(Duration::from_millis(5));
        };
        let (mut out, mut error) = (String::new(), String::new());
        self.out.read_to_string(&mut out).unwrap();
        self.child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut error)
            .unwrap();
        assert_eq!(status.code(), Some(0), "{error}");
        assert_eq!(out, "", "unexpected output");
        assert!(!error.contains("panicked"), "{error}");
        error
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
