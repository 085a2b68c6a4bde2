//! Tests of `profiles` as a program. A script takes the place of Cargo and compiles nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_jstream-benches");

fn run(cargo: &Path, arguments: &[&str]) -> Output {
    Command::new(PROGRAM)
        .arg("profiles")
        .args(arguments)
        .env("CARGO", cargo)
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("RUSTFLAGS", "-C debuginfo=0")
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn each_chosen_build_is_compiled_with_its_settings_and_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (cargo, log) = (folder.path().join("cargo"), folder.path().join("log"));
    let script = format!(
        "#!/bin/sh\n\
         echo \"lto=$CARGO_PROFILE_RELEASE_LTO flags=$RUSTFLAGS $*\" >>'{}'\n\
         echo '{{\"target\":{{\"name\":\"jstream-benches\"}},\"executable\":\"{PROGRAM}\"}}'\n",
        log.display(),
    );
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o700)).unwrap();
    let json = folder.path().join("rows.json");
    let mut arguments = vec!["--quick", "--case", "array/1KiB"];
    let builds = ["default", "lto-fat", "x86-64-v3"];
    for build in builds {
        arguments.extend(["--only", build]);
    }
    arguments.extend(["--json", json.to_str().unwrap()]);
    let output = run(&cargo, &arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");

    let table = String::from_utf8(output.stdout).unwrap();
    let header = table.lines().next().unwrap();
    let columns: Vec<&str> = header.split_whitespace().collect();
    assert_eq!(
        columns[2..],
        ["subjects", "default", "lto-fat", "x86-64-v3", "spread"]
    );
    let line = table.lines().find(|line| {
        let mut words = line.split_whitespace();
        words.next() == Some("array/1KiB,") && words.nth(1) == Some("jstream/rkyv")
    });
    assert!(line.is_some(), "{table}");

    let rows: Vec<Value> = serde_json::from_slice(&fs::read(&json).unwrap()).unwrap();
    for build in builds {
        let suite = format!("serialization/{build}");
        assert!(rows.iter().any(|row| row["suite"] == suite.as_str()));
    }

    let log = fs::read_to_string(log).unwrap();
    let calls: Vec<&str> = log.lines().collect();
    assert_eq!(calls.len(), builds.len());
    for (call, (build, (lto, flags))) in calls.iter().zip(builds.iter().zip([
        ("", "-C debuginfo=0"),
        ("fat", "-C debuginfo=0"),
        ("", "-C debuginfo=0 -C target-cpu=x86-64-v3"),
    ])) {
        let start = format!("lto={lto} flags={flags} build --release");
        assert!(call.starts_with(&start), "{call}");
        assert!(call.contains(&format!("/profiles/{build}")), "{call}");
    }
}

#[test]
fn a_build_that_fails_is_named() {
    let output = run(Path::new("false"), &["--only", "lto-thin"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("compiling lto-thin failed"), "{text}");
}

#[test]
fn an_unknown_build_is_wrong_usage() {
    let output = run(Path::new("false"), &["--only", "nothing"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("units-1"), "{text}");
}
