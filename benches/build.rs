//! Tells the program which compiler, commit and profile it was built with, for its reports.

use std::env;
use std::process::Command;

fn main() {
    let compiler = env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let compiler = output(&compiler, &["--version"]).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo:rustc-env=BENCHES_COMPILER={compiler}");
    println!("cargo:rustc-env=BENCHES_COMMIT={}", commit());
    println!("cargo:rustc-env=BENCHES_PROFILE={}", profile());
    println!("cargo:rerun-if-changed=build.rs");
    // The folders of the libraries that are measured, and the reflog, which each commit changes.
    for folder in [
        "src",
        "../jstream/src",
        "../derive/src",
        "../sync/src",
        "../transport",
        "../rmi/src",
    ] {
        println!("cargo:rerun-if-changed={folder}");
    }
    if let Some(log) = output("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// Returns the commit of the sources, or `unknown` outside a repository.
fn commit() -> String {
    let Some(commit) = output("git", &["rev-parse", "--short=12", "HEAD"]) else {
        return "unknown".to_owned();
    };
    let sources = [
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "../*.rs",
    ];
    match output("git", &sources) {
        Some(_) => format!("{commit}-dirty"),
        None => commit,
    }
}

/// Returns Cargo's profile with the settings that change the code.
fn profile() -> String {
    let get = |name: &str| env::var(name).unwrap_or_default();
    let mut profile = format!("{}, opt-level {}", get("PROFILE"), get("OPT_LEVEL"));
    for (name, variable) in [
        ("lto", "CARGO_PROFILE_RELEASE_LTO"),
        ("codegen-units", "CARGO_PROFILE_RELEASE_CODEGEN_UNITS"),
    ] {
        println!("cargo:rerun-if-env-changed={variable}");
        if let Ok(value) = env::var(variable) {
            profile.push_str(&format!(", {name} {value}"));
        }
    }
    let flags = get("CARGO_ENCODED_RUSTFLAGS").replace('\x1f', " ");
    if !flags.is_empty() {
        profile.push_str(&format!(", {flags}"));
    }
    profile
}

/// Runs a program and returns the first line that it prints, or `None` if it fails or prints
/// nothing.
fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}
