//! Tests of the `services` suite as a program. Its servers and clients are processes of the same
//! program, which fails if the ledger does not agree with what the clients were told.

use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn servers_are_killed_and_replaced_with_true_ends_of_all_calls() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rows.json");
    let output = Command::new(env!("CARGO_BIN_EXE_jstream-benches"))
        .args(["services", "--quick", "--quiet", "--json"])
        .arg(&file)
        .args(["--subject", "jstream-uds", "--case", "versions"])
        .args(["--case", "kill", "--case", "mute"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let rows: Vec<Value> = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    let value = |case: &str, metric: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row["case"] == case && row["metric"] == metric);
        row.unwrap()["value"].as_f64().unwrap()
    };
    for case in ["versions", "kill", "mute"] {
        assert!(value(case, "calls") > 100.0, "{case}");
        assert!(value(case, "recovery") > 0.0, "{case}");
    }
    assert_eq!(
        value("versions", "did_not_run") + value("versions", "may_have_run"),
        0.0
    );
    assert_eq!(value("kill", "did_not_run"), 0.0);
}
