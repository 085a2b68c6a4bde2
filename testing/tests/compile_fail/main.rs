//! Programs that break a rule must not compile, and the error must name the rule. The folders
//! `jstream`, `rmi` and `transport` hold such programs. Those in `generated` break a rule that the
//! compiler checks only when it generates code. Those in `pass` break none: they must compile and
//! run.
//!
//! With the compiler for which the `.stderr` files were written, the texts of the errors are
//! compared with them. Other compilers word their errors differently, so only the code of each
//! error is compared, or its first line if the error comes from these crates and has no code.
//! `JSTREAM_UI_TEXT=1` compares the texts with any compiler, and `TRYBUILD=overwrite` rewrites
//! them.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trybuild::TestCases;

/// The folder of this program, in the folder of its package.
const FOLDER: &str = "tests/compile_fail";

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

#[test]
#[ignore = "compiles for minutes: --include-ignored, as the stage compile-fail does"]
fn each_rule_is_enforced() {
    // Without a program that passes, trybuild checks all programs at once. With one, it builds them
    // one after the other, with all dependencies.
    fail(TestCases::new(), &["jstream", "rmi", "transport"]);
    let cases = TestCases::new();
    // Guards against failures of the other programs that have a common cause, too.
    cases.pass(Path::new(FOLDER).join("pass/*.rs"));
    fail(cases, &["generated"]);
}

/// Checks that the programs in `folders` fail as expected, together with `cases`.
fn fail(cases: TestCases, folders: &[&str]) {
    if by_word() {
        for folder in folders {
            cases.compile_fail(Path::new(FOLDER).join(folder).join("*.rs"));
        }
        return;
    }
    let copies: Vec<_> = folders.iter().map(|folder| copy(folder)).collect();
    for folder in &copies {
        cases.compile_fail(folder.join("*.rs"));
    }
    // SAFETY: this program has a single test, so no other thread accesses the environment.
    unsafe { env::set_var("TRYBUILD", "overwrite") };
    // Dropping `cases` runs the programs and writes the `.stderr` files.
    drop(cases);
    // SAFETY: as above.
    unsafe { env::remove_var("TRYBUILD") };
    let copied = copies.iter().zip(folders);
    let differing: Vec<_> = copied
        .flat_map(|(copies, folder)| sources(copies).map(move |copy| (copy, folder)))
        .filter(|(copy, folder)| {
            let said = copy.with_extension("stderr");
            let meant = Path::new(FOLDER)
                .join(folder)
                .join(said.file_name().unwrap());
            headlines(&said) != headlines(&meant)
        })
        .collect();
    assert!(
        differing.is_empty(),
        "these programs fail with unexpected errors: {differing:#?}"
    );
}

/// Copies the programs of a folder to a folder in which their `.stderr` files can be written.
fn copy(folder: &str) -> PathBuf {
    let copies = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let _ = fs::remove_dir_all(&copies);
    fs::create_dir_all(&copies).unwrap();
    for case in sources(&Path::new(FOLDER).join(folder)) {
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
