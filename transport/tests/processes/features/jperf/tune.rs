//! Thresholds found by `jperf tune`.

use super::common::{failed, printed};
use serde_json::Value as Json;

/// Options for the shortest possible measurement.
const LITTLE: [&str; 4] = ["--rounds", "1", "-t", "0.0001"];

#[test]
fn each_device_has_its_settings() {
    let text = printed(&[&["tune", "shm", "tcp", "--json"], &LITTLE[..]].concat());
    let rows = text
        .lines()
        .map(|line| serde_json::from_str::<Json>(line).unwrap());
    let rows: Vec<_> = rows.collect();
    for scheme in ["shm", "tcp"] {
        let of = |setting: &str| {
            let mut found = rows
                .iter()
                .filter(|row| row["scheme"] == scheme && row["setting"] == setting);
            let row = found.next()?;
            assert!(found.next().is_none(), "{scheme}, {setting}");
            Some(row)
        };
        for setting in ["Options::spin", "recv_message from", "rank::Options::eager"] {
            let row = of(setting).unwrap();
            let points = row["points"].as_array().unwrap();
            assert!(points.len() >= 5, "{row}");
            for point in points {
                let times = point["ns"].as_object().unwrap();
                assert!(
                    times.len() >= 2 && times.values().all(Json::is_f64),
                    "{row}"
                );
            }
            assert!(row["gain"].as_f64().unwrap() > 0.0, "{row}");
        }
        let spin = of("Options::spin").unwrap();
        assert!(spin["default"].is_u64() && spin["here"].is_u64(), "{spin}");
        let eager = of("rank::Options::eager").unwrap();
        assert!(
            eager["default"].as_u64().unwrap() > 0 && eager["here"].is_u64(),
            "{eager}"
        );
        if let Some(reads) = of("Options::remote_reads") {
            assert_eq!((scheme, &reads["default"]), ("shm", &true.into()));
            // The better of two settings is no worse than either.
            assert!(reads["gain"].as_f64().unwrap() >= 1.0, "{reads}");
        }
    }
}

#[test]
fn a_table_and_what_a_program_says() {
    let text = printed(&[&["tune", "inproc", "--points"], &LITTLE[..]].concat());
    let (table, code) = text.split_once("\n\n").unwrap();
    assert!(table.starts_with("device "), "{text}");
    assert!(
        table
            .lines()
            .any(|line| line.starts_with("inproc   Options::spin ")),
        "{text}"
    );
    assert!(table.contains(" recv_message\n"), "{text}");
    for line in code.lines() {
        assert!(
            ["// ", "options.", "ranks."]
                .iter()
                .any(|begin| line.starts_with(begin)),
            "{text}"
        );
    }
    let why = failed(2, &["tune", "udp"]);
    assert!(why.contains("inproc, shm, uds, tcp, uring"), "{why}");
}
