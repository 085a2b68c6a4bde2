//! The limits of the benchmark `counts`.
#![allow(clippy::unwrap_used, reason = "test code")]

#[path = "../counts/limits.rs"]
mod limits;

use limits::{Counts, Limits, counts};

fn of(counts: &[(&str, u64)]) -> Counts {
    let owned = counts.iter().map(|&(path, count)| (path.to_owned(), count));
    owned.collect()
}

fn limits() -> Limits {
    let counts = of(&[("read", 1_000_000), ("write", 500_000)]);
    Limits::new("rustc 1.95.0".to_owned(), counts)
}

/// Returns a summary as gungraun prints it, without the parts that are not used.
fn summary(path: &str, metrics: &str) -> String {
    format!(
        r#"{{"version":"6","id":"{path}","profiles":[{{"summaries":{{"total":{{"summary":
        {{"Callgrind":{{"Ir":{{"metrics":{metrics}}}}}}}}}}}}}]}}"#
    )
}

#[test]
fn counts_within_the_tolerance_are_no_fault() {
    let limits = limits();
    let none: [String; 0] = [];
    assert_eq!(
        limits.faults(&of(&[("read", 1_020_000), ("write", 1)])),
        none
    );
}

#[test]
fn a_fault_names_path_count_limit_and_command() {
    let faults = limits().faults(&of(&[("read", 1_020_001), ("write", 500_000)]));
    assert_eq!(
        faults,
        [
            "path read takes 1020.0 instructions, +2.0 % over the limit of 1000.0 (tolerance \
             2 %); if this is intended, raise the limit with: cargo bench --workspace \
             --bench counts -- --update"
        ]
    );
}

#[test]
fn paths_and_limits_must_be_the_same() {
    let faults = limits().faults(&of(&[("read", 1), ("send", 1)]));
    assert_eq!(faults.len(), 2);
    assert!(
        faults
            .first()
            .is_some_and(|f| f.starts_with("path send has no limit"))
    );
    assert!(
        faults
            .last()
            .is_some_and(|f| f.starts_with("path write has a limit but was not counted"))
    );
}

#[test]
fn the_table_shows_each_change() {
    let table = limits().table(&of(&[("read", 900_000), ("send", 1_500)]));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines
            .get(1)
            .map(|line| line.split_whitespace().collect::<Vec<_>>()),
        Some(vec!["read", "900.0", "1000.0", "-10.0", "%"])
    );
    assert_eq!(
        lines
            .get(2)
            .map(|line| line.split_whitespace().collect::<Vec<_>>()),
        Some(vec!["send", "1.5", "-", "new"])
    );
}

#[test]
fn summaries_are_parsed_with_and_without_an_old_run() {
    let first = summary("read", r#"{"Left":{"Int":12}}"#);
    let second = summary("write", r#"{"Both":[{"Int":34},{"Int":5}]}"#);
    let counted = counts(&format!("{first}\n{second}\n"));
    assert!(counted.is_ok_and(|counts| counts == of(&[("read", 12), ("write", 34)])));
}

#[test]
fn output_without_counts_is_an_error() {
    assert!(counts("").is_err());
    assert!(counts("no JSON").is_err());
    assert!(counts(&summary("read", r#"{"Right":{"Int":12}}"#)).is_err());
    assert!(counts("{}").is_err());
}

#[test]
fn limits_are_written_and_parsed() {
    let limits = limits();
    let text = limits.to_json().unwrap_or_default();
    assert!(text.ends_with("}\n"));
    assert!(Limits::from_json(&text).is_ok_and(|parsed| parsed == limits));
    assert!(Limits::from_json("{}").is_err());
    assert!(Limits::from_json(&text.replace("compiler", "compilers")).is_err());
}

#[test]
fn the_checked_in_limits_are_well_formed() {
    let limits = Limits::from_json(include_str!("../counts/limits.json"));
    let limits = limits.unwrap();
    assert!(limits.compiler().starts_with("rustc "));
    // Each path of the limits lacks a count, and there is no other fault.
    assert!(limits.faults(&Counts::new()).len() > 10);
}
