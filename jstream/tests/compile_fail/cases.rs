//! Runs the programs that must not compile and those that must, and compares the compiler's errors
//! with the `.stderr` files.
//!
//! With the compiler for which the files were written, the texts are compared. Other compilers word
//! their errors differently, so only the code of each error is compared, or its first line if the
//! error comes from this crate and has no code. `JSTREAM_UI_TEXT=1` compares the texts with any
//! compiler, `TRYBUILD=overwrite` rewrites them, and `JSTREAM_UI=off` skips the test.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "test code")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler version for which the `.stderr` files were written.
const WORDS_OF: &str = "rustc 1.95.";

/// Returns true if the texts of the errors are to be compared or rewritten.
fn by_word() -> bool {
    let asked = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if asked("JSTREAM_UI_TEXT") || asked("TRYBUILD") {
        return true;
    }
    // If the sources of std are installed, the compiler quotes lines of std in its errors.
    let sources = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src");
    rustc(&["--version"]).starts_with(WORDS_OF) && !sources.exists()
}

/// Runs `rustc` with `args` and returns its output.
fn rustc(args: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Checks that all programs in `tests/ui` fail as expected and that those in `tests/ui/pass`
/// compile and run.
pub fn run() {
    if env::var_os("JSTREAM_UI").is_some_and(|value| value == "off") {
        eprintln!("skipped: JSTREAM_UI=off");
        return;
    }
    let cases = trybuild::TestCases::new();
    // Guards against failures of the other programs that have a common cause. It also makes
    // trybuild build all programs instead of only checking them, which assertions in generic code
    // need.
    cases.pass("tests/ui/pass/*.rs");
    if by_word() {
        cases.compile_fail("tests/ui/*.rs");
        return;
    }
    let copies = copy_cases();
    // SAFETY: this program has a single test, so no other thread accesses the environment.
    unsafe { env::set_var("TRYBUILD", "overwrite") };
    cases.compile_fail(copies.join("*.rs").to_str().unwrap());
    // Dropping `cases` runs the programs and writes the `.stderr` files.
    drop(cases);
    let differing: Vec<_> = sources(&copies)
        .filter(|copy| {
            let said = copy.with_extension("stderr");
            let meant = Path::new("tests/ui").join(said.file_name().unwrap());
            headlines(&said) != headlines(&meant)
        })
        .collect();
    assert!(
        differing.is_empty(),
        "these programs fail with unexpected errors: {differing:#?}"
    );
}

/// Copies the programs to a folder in which their `.stderr` files can be written.
fn copy_cases() -> PathBuf {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ui");
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(&copies).unwrap();
    for case in sources(Path::new("tests/ui")) {
        fs::copy(&case, copies.join(case.file_name().unwrap())).unwrap();
    }
    copies
}

fn sources(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
}

/// Returns the code of each error, or its first line if it has no code.
fn headlines(stderr: &Path) -> Vec<String> {
    let text = fs::read_to_string(stderr).unwrap_or_default();
    let errors = text.lines().filter(|line| line.starts_with("error"));
    errors
        .map(|line| match line.split_once("]: ") {
            Some((code, _)) if code.starts_with("error[") => code.to_owned(),
            _ => line.to_owned(),
        })
        .collect()
}
