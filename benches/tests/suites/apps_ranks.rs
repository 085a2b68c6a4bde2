//! Tests of the applications over ranks as runs of the program, which compares their results with
//! those of the sequential versions.

use std::process::{Command, Stdio};

use serde_json::Value;

/// Runs an application in all its arrangements, and returns the rows.
fn rows(app: &str) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(["apps", app, "--quick", "--check", "--quiet", "--json", path])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{app}: {text}");
    serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()
}

/// Runs an application, and looks for the times of these subjects in these arrangements.
fn check(app: &str, setups: &[&str], subjects: &[&str]) {
    let rows = rows(app);
    for setup in setups {
        let case = format!("{app}/{setup}");
        for subject in subjects {
            let of = |row: &&Value| {
                row["case"] == *case && row["subject"] == *subject && row["metric"] == "total"
            };
            let row = rows.iter().find(of);
            let row = row.unwrap_or_else(|| panic!("{case} has no time of {subject}"));
            assert!(row["value"].as_f64().unwrap() > 0.0, "{case}, {subject}");
        }
    }
}

const USUAL: [&str; 4] = ["threads-2", "procs-2", "procs-2-tcp", "mixed-4"];
const MASTER_AND_TWO: [&str; 3] = ["threads-3", "procs-3", "procs-3-tcp"];
const SUBJECTS: [&str; 4] = [
    "shared-memory",
    "jstream",
    "jstream-copying",
    "jstream-ranks",
];

#[test]
fn shallow_water_has_the_sequential_result() {
    for app in ["shallow-water-8", "shallow-water-64"] {
        check(app, &MASTER_AND_TWO, &SUBJECTS);
    }
}

#[test]
fn nbody_has_the_sequential_result() {
    check("nbody", &USUAL, &SUBJECTS);
}

#[test]
fn ring_matmul_has_the_sequential_result() {
    let subjects = [&SUBJECTS[..], &["matrixmultiply"]].concat();
    check("ring-matmul-64", &USUAL, &subjects);
}

#[test]
#[ignore = "measures for long; the stage `bench` runs it in release"]
fn list_pingpong_has_the_sequential_result() {
    let subjects = ["jstream", "jstream-copying"];
    check("list-pingpong-4096", &USUAL[..3], &subjects);
}

#[test]
fn no_application_is_wrong_usage() {
    let mut program = Command::new(env!("CARGO_BIN_EXE_jstream-benches"));
    let output = program.args(["apps", "nothing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
