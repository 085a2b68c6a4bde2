//! Tests of the `rmi` suite as a program. Its servers are processes of the same program.

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
fn a_case_has_figures_of_us_and_of_what_we_stand_on() {
    check(&[
        ("tcp/one-cpu/null", "rtt_p50", "raw"),
        ("shm/two-cpus/sum-8192", "rtt_p50", "jstream-copying"),
        ("tcp/one-cpu/reference", "messages", "jstream-plain"),
    ]);
}

#[test]
#[ignore = "measures for long; the stage `bench` runs it in release"]
fn all_kinds_of_cases_have_figures() {
    check(&[
        ("uds/two-cpus/null-64", "rate", "raw"),
        ("shm/one-cpu/sum-1024", "rtt_p99", "jstream-endpoint"),
        ("tcp/one-cpu/structs-1000", "allocs_server", "raw"),
        ("tcp/one-cpu/sum-8", "rtt_p50", "jstream-copying"),
        (
            "shm/one-cpu/untouched-1024",
            "server_cpu",
            "jstream-trusted",
        ),
        ("tcp/two-cpus/idle-10000", "connections", "jstream"),
        ("tcp/attack/errors", "rtt_p50", "not-attacked"),
    ]);
}

/// Runs cases, and looks for a figure of ours and of another subject in each.
fn check(cases: &[(&str, &str, &str)]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let mut arguments = vec!["rmi", "--quick", "--quiet", "--json", path];
    for &(case, _, _) in cases {
        arguments.extend(["--case", case]);
    }
    let output = run(&arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    let rows = std::fs::read(file.path()).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&rows).unwrap();
    for &(case, metric, other) in cases {
        for subject in ["jstream", other] {
            let of = |row: &&Value| {
                row["case"] == case && row["subject"] == subject && row["metric"] == metric
            };
            let row = rows.iter().find(of).unwrap();
            assert_eq!(row["suite"], "rmi");
            let value = row["value"].as_f64().unwrap();
            assert!(
                value > 0.0 || metric == "allocs_server",
                "{case}, {subject}"
            );
        }
    }
}

#[test]
fn the_server_says_what_is_wrong() {
    let output = run(&["rmi-peer", "shm/one-cpu/null", "nobody", "0"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.starts_with("failed there is no subject nobody"),
        "{text}"
    );
}

#[test]
fn no_case_is_wrong_usage() {
    let output = run(&["rmi", "--case", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
}
