//! Tests of the applications whose work is divided while they run. Each run compares the result of
//! every driver with that of the sequential version.

use std::process::{Command, Stdio};

use serde_json::Value;

/// Arrangements of nodes.
const SETUPS: [&str; 4] = ["threads-2", "procs-2", "procs-2-tcp", "mixed-4"];

/// Runs an application in all arrangements, and checks that all subjects were measured.
fn check(app: &str, subjects: &[&str]) {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(["apps", app, "--quick", "--check", "--quiet", "--json", path])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{app}: {text}");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
    for setup in SETUPS {
        let case = format!("{app}/{setup}");
        for subject in subjects {
            let of = |row: &&Value| {
                row["case"] == case.as_str()
                    && row["subject"] == *subject
                    && row["metric"] == "total"
            };
            let row = rows.iter().find(of);
            let total = row.and_then(|row| row["value"].as_f64());
            assert!(total.is_some_and(|total| total > 0.0), "{case}, {subject}");
        }
    }
}

const OVER_RMI: [&str; 4] = ["sequential", "shared-memory", "jstream", "jstream-copying"];

#[test]
fn the_travelling_salesman_finds_the_shortest_tour() {
    check("tsp", &OVER_RMI);
}

#[test]
fn a_preset_bound_fixes_the_number_of_extended_routes() {
    check("tsp-preset", &OVER_RMI);
}

#[test]
fn stealing_nodes_examine_all_positions_once() {
    check("ida", &OVER_RMI);
}

#[test]
fn writes_to_a_replicated_object_carry_all_rows() {
    check(
        "apsp",
        &[
            "sequential",
            "shared-memory",
            "jstream",
            "jstream-bare",
            "jstream-threads",
        ],
    );
}

#[test]
fn rows_that_are_put_or_stored_settle_the_grid() {
    check(
        "am-sor",
        &[
            "sequential",
            "shared-memory",
            "jstream",
            "jstream-bare",
            "jstream-threads",
        ],
    );
}

#[test]
fn active_messages_hand_out_all_jobs() {
    for app in ["am-tsp", "am-tsp-fine"] {
        check(app, &["sequential", "jstream", "jstream-threads"]);
    }
}
