//! Tests of the `jperf` program, run as a child process.

mod common;
mod run;
mod serve;
mod tune;

use self::common::{failed, printed};

#[test]
fn shells_complete_and_manuals_are_printed() {
    for (shell, word) in [("bash", "COMPREPLY"), ("zsh", "#compdef")] {
        let script = printed(&["--completions", shell]);
        assert!(
            script.contains(word) && script.contains("--histogram"),
            "{script}"
        );
    }
    let manual = printed(&["--man"]);
    // The pages of the subcommands follow.
    assert!(
        manual.contains("jperf\\-tune") && manual.contains("\\-\\-pin"),
        "{manual}"
    );
    failed(2, &["--completions", "cmd"]);
}

#[test]
fn titles_and_errors_are_coloured_on_request() {
    let little = ["run", "inproc", "-n", "1", "--warmup", "0"];
    let coloured = printed(&[&little[..], &["--color", "always"]].concat());
    assert!(coloured.starts_with("\u{1b}[1m# pingpong"), "{coloured:?}");
    let plain = printed(&[&little[..], &["--color", "never"]].concat());
    assert!(plain.starts_with("# pingpong"), "{plain:?}");
    let text = failed(
        2,
        &["run", "inproc", "--order", "reverse", "--color=always"],
    );
    assert!(text.starts_with("\u{1b}[1;31mjperf\u{1b}[0m: "), "{text:?}");
}
