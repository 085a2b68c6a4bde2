//! Tests of the `evolution` suite as a program.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

#[test]
fn cases_have_figures_of_conversions_and_of_equal_schemas() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let arguments = ["evolution", "--quick", "--quiet", "--json", path];
    let cases = ["--case", "record/widened", "--case", "plans"];
    let output = run(&[&arguments[..], &cases].concat());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let rows = std::fs::read(file.path()).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&rows).unwrap();
    for (case, subject, metric) in [
        ("record/widened", "jstream", "read"),
        ("record/widened", "jstream-equal", "read_and_traverse"),
        ("record/widened", "postcard", "read_and_traverse"),
        ("plans", "jstream", "plan"),
        ("plans", "jstream-planned", "plan"),
    ] {
        let of = |row: &&Value| {
            row["case"] == case && row["subject"] == subject && row["metric"] == metric
        };
        let row = rows.iter().find(of).unwrap();
        assert_eq!(row["suite"], "evolution");
        assert!(row["value"].as_f64().unwrap() > 0.0, "{case}, {subject}");
    }
}

#[test]
fn no_case_is_wrong_usage() {
    let output = run(&["evolution", "--case", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
}
