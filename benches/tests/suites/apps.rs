//! Tests of the applications as runs of the program. Each run compares all results with those of
//! the sequential version, for threads, processes and mixed nodes.

use std::process::{Command, Stdio};

use serde_json::Value;

const SETUPS: [&str; 4] = ["threads-2", "procs-2", "procs-2-tcp", "mixed-4"];

/// Runs applications, and checks that each of them has figures of these subjects in all setups.
/// Returns all rows.
fn check(apps: &[&str], subjects: &[&str], setups: &[&str]) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .arg("apps")
        .args(apps)
        .args(["--quick", "--check", "--quiet", "--json"])
        .arg(file.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let rows = std::fs::read(file.path()).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&rows).unwrap();
    for app in apps {
        for setup in setups {
            for subject in subjects {
                let case = format!("{app}/{setup}");
                assert!(
                    value(&rows, &case, subject, "total") > 0.0,
                    "{case}, {subject}"
                );
            }
        }
    }
    rows
}

/// Returns the value of a row.
fn value(rows: &[Value], case: &str, subject: &str, metric: &str) -> f64 {
    let of =
        |row: &&Value| row["case"] == case && row["subject"] == subject && row["metric"] == metric;
    let row = rows.iter().find(of);
    let row = row.unwrap_or_else(|| panic!("{case} has no {metric} of {subject}"));
    row["value"].as_f64().unwrap()
}

const BOTH: [&str; 2] = ["jstream", "jstream-copying"];

#[test]
fn relaxation_equals_the_sequential_one() {
    let subjects = ["jstream", "jstream-copying", "jstream-ranks"];
    let rows = check(&["sor", "sor-float"], &subjects, &SETUPS);
    // In each of twelve half iterations, a row crosses each border in both directions.
    for (case, borders) in [("sor/threads-2", 1.0), ("sor-float/mixed-4", 3.0)] {
        for subject in BOTH {
            assert_eq!(value(&rows, case, subject, "calls"), 24.0 * borders);
        }
    }
}

#[test]
fn waves_equal_the_sequential_ones() {
    let apps = ["em3d-0", "em3d", "em3d-50", "em3d-ghost", "em3d-naive"];
    check(&apps, &BOTH, &SETUPS);
}

#[test]
fn transforms_equal_the_sequential_ones() {
    let subjects = ["rustfft", "jstream", "jstream-copying"];
    check(&["fft-complex", "fft-arrays"], &subjects, &SETUPS);
}

#[test]
fn products_of_matrices_equal_the_sequential_ones() {
    let apps = ["matmul-64", "matmul-256", "matmul-1024"];
    check(&apps, &BOTH, &SETUPS);
}

#[test]
fn arguments_of_calls_have_the_sequential_sum() {
    let apps = [
        "call-bytes-100",
        "call-doubles-62",
        "call-complex-100",
        "call-list-100",
    ];
    let setups = &SETUPS[..3];
    let rows = check(&apps, &BOTH, setups);
    for app in apps {
        for subject in BOTH {
            let case = format!("{app}/procs-2");
            for metric in ["write", "read", "each"] {
                assert!(
                    value(&rows, &case, subject, metric) > 0.0,
                    "{case}, {subject}"
                );
            }
            assert_eq!(value(&rows, &case, subject, "calls"), 20.0);
        }
    }
}

#[test]
fn all_nodes_pass_each_barrier() {
    let [first, second, third, fourth] = SETUPS;
    let setups = [first, second, third, fourth, "threads-8"];
    check(&["tree-barrier"], &BOTH, &setups);
}

#[test]
fn an_unknown_application_is_wrong_usage() {
    let status = Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(["apps", "nothing"])
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(2));
}
