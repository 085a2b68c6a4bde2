//! Runs programs that must not compile, and those that must, and compares what the compiler says.
//!
//! The words are compared on the compiler that they were written for; elsewhere, since they differ
//! from one compiler to the next, it is each error's code, or its first line where the error is
//! ours and has none. `JSTREAM_UI_TEXT=1` compares the words whatever the compiler, and
//! `TRYBUILD=overwrite` writes them anew. `JSTREAM_UI=off` leaves all of it to another run.
#![allow(clippy::unwrap_used, unreachable_pub, reason = "test code")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler whose words are in the `.stderr` files.
const WORDS_OF: &str = "rustc 1.95.";

/// Whether the words are to be compared, or written.
fn by_word() -> bool {
    let asked = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    if asked("JSTREAM_UI_TEXT") || asked("TRYBUILD") {
        return true;
    }
    // Where its sources are installed, a compiler quotes the lines of std that it points at.
    let sources = Path::new(&rustc(&["--print", "sysroot"])).join("lib/rustlib/src");
    rustc(&["--version"]).starts_with(WORDS_OF) && !sources.exists()
}

/// What the compiler answers.
fn rustc(args: &[&str]) -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// All of `tests/ui` fail as they should, all of `tests/ui/pass` compile and run.
pub fn run() {
    if env::var_os("JSTREAM_UI").is_some_and(|value| value == "off") {
        eprintln!("left out, as JSTREAM_UI asks");
        return;
    }
    let cases = trybuild::TestCases::new();
    // Keeps the others honest: they don't fail because nothing compiles. It also has all of them
    // built, not only checked, which assertions about generic code need.
    cases.pass("tests/ui/pass/*.rs");
    if by_word() {
        cases.compile_fail("tests/ui/*.rs");
        return;
    }
    let copies = copy_cases();
    // SAFETY: this program has one test, so no other thread looks at the environment.
    unsafe { env::set_var("TRYBUILD", "overwrite") };
    cases.compile_fail(copies.join("*.rs").to_str().unwrap());
    // Dropping the cases runs them, and writes down what was said.
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
        "these fail for another reason than they should: {differing:#?}"
    );
}

/// Copies the cases to where their words can be written down.
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

/// What each error is: its code, or its words where it has none.
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
