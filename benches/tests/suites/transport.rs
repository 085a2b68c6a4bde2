//! Tests of the `transport` suite as a program. Its other sides are processes of the same program.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// Runs a case and returns its rows.
fn rows(case: &str) -> Vec<Value> {
    rows_of("transport", case)
}

fn rows_of(suite: &str, case: &str) -> Vec<Value> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = run(&[suite, "--quick", "--quiet", "--case", case, "--json", path]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {text}");
    serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()
}

#[test]
fn a_case_has_figures_of_us_and_of_raw_programs() {
    for (case, metric) in [
        ("inproc/pingpong/8", "half_rtt_p50"),
        ("shm/rate/8", "rate"),
        ("uds/bandwidth/65536", "bandwidth"),
        ("tcp/pingpong/8", "half_rtt_p50"),
        ("tcp/64-connections/8", "rate"),
    ] {
        let rows = rows(case);
        for subject in ["jstream", "raw"] {
            let of = |row: &&Value| row["subject"] == subject && row["metric"] == metric;
            let row = rows.iter().find(of).unwrap();
            assert_eq!(
                (&row["suite"], &row["case"]),
                (&"transport".into(), &case.into())
            );
            assert!(row["value"].as_f64().unwrap() > 0.0, "{case}, {subject}");
        }
    }
}

#[test]
#[ignore = "measures for long; the stage `bench` runs it in release"]
fn collective_operations_have_figures() {
    for case in [
        "threads-2/barrier/0",
        "threads-2/allreduce/8",
        "threads-2/broadcast-object/4096",
        "threads-4/scatter-objects/100000",
        "procs-2/broadcast/65536",
        "procs-2/alltoall/1024",
        "threads-4/alltoall/65536",
        "procs-4/broadcast/8",
    ] {
        let rows = rows_of("group", case);
        let of = |row: &&Value| row["subject"] == "jstream" && row["metric"] == "total";
        let row = rows.iter().find(of).unwrap();
        assert_eq!(
            (&row["suite"], &row["case"]),
            (&"group".into(), &case.into())
        );
        assert!(row["value"].as_f64().unwrap() > 0.0, "{case}");
    }
}

#[test]
fn matching_has_figures_without_another_side() {
    for (case, metric) in [
        ("matching/failed-compare", "failed_compare"),
        ("matching/exact/100", "posted"),
    ] {
        let rows = rows(case);
        let of = |row: &&Value| row["subject"] == "jstream" && row["metric"] == metric;
        let row = rows.iter().find(of).unwrap();
        assert_eq!(row["unit"], "ns");
        assert!(row["value"].as_f64().unwrap() > 0.0, "{case}");
    }
}

#[test]
#[ignore = "measures for long; the stage `bench` runs it in release"]
fn patterns_of_messages_have_figures() {
    for (case, subject, metric) in [
        ("rank/inproc/in-order-tags/8", "jstream", "recv_p50"),
        ("rank/inproc/reverse-order-tags/1024", "jstream", "recv_p50"),
        ("rank/shm/reverse-order-tags/8", "jstream", "recv_p50"),
        ("rank/inproc/2-pairs/8", "jstream", "half_rtt_p50"),
        ("rank/inproc/4-pairs/8", "jstream", "half_rtt_p50"),
        ("affinity/inproc/1", "jstream-any", "half_rtt_p50"),
        ("affinity/shm/1", "jstream-any", "half_rtt_p50"),
        ("tcp/socket-buffers/65536", "raw", "bandwidth"),
    ] {
        let rows = rows(case);
        let of = |row: &&Value| row["subject"] == subject && row["metric"] == metric;
        let row = rows.iter().find(of).unwrap();
        assert!(row["value"].as_f64().unwrap() > 0.0, "{case}");
        assert!(row["times"]["rounds"].as_u64().unwrap() > 0, "{case}");
    }
}

#[test]
fn the_other_side_says_what_is_wrong() {
    let output = run(&["transport-peer", "shm/pingpong/8", "nobody", "0"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.starts_with("failed there is no subject nobody"),
        "{text}"
    );
}

#[test]
fn no_case_is_wrong_usage() {
    let output = run(&["transport", "--case", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
}
