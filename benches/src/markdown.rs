//! Ratios as Markdown tables for a README.

use std::fmt::Write;

use crate::row::{Row, distinct};
use crate::table::{number, ratio};

/// Name of the sum of both metrics. Some peers check a message only while it is traversed, so the
/// sums are compared too.
const BOTH: &str = "read + traverse";

/// Returns a table for each suite and metric. A line per case shows the figure of the first subject
/// and, for each peer, the ratio of that figure to the peer's.
pub(crate) fn text(rows: &[Row]) -> String {
    let mut out = String::new();
    for suite in distinct(rows, |row| &row.suite) {
        let mut rows: Vec<Row> = rows.iter().filter(|r| r.suite == suite).cloned().collect();
        add_both(&mut rows);
        for metric in distinct(&rows, |row| &row.metric) {
            let of_metric: Vec<&Row> = rows.iter().filter(|row| row.metric == metric).collect();
            push_table(&mut out, suite, metric, &of_metric);
        }
    }
    out
}

/// Adds rows with the sum of the times for reading and traversing.
fn add_both(rows: &mut Vec<Row>) {
    let of = |read: &Row| {
        let same = |row: &&Row| {
            row.metric == "traverse" && row.case == read.case && row.subject == read.subject
        };
        let traverse = rows.iter().find(same)?;
        Some(Row {
            metric: BOTH.to_owned(),
            value: read.value + traverse.value,
            ..read.clone()
        })
    };
    let reads = rows.iter().filter(|row| row.metric == "read");
    let both: Vec<Row> = reads.filter_map(of).collect();
    rows.extend(both);
}

/// Appends the table of one metric; all `rows` belong to that metric.
fn push_table(out: &mut String, suite: &str, metric: &str, rows: &[&Row]) {
    let subjects = distinct(rows.iter().copied(), |row| &row.subject);
    let Some((ours, peers)) = subjects.split_first() else {
        return;
    };
    // Writing to a `String` cannot fail, neither here nor below.
    let _ = writeln!(out, "{suite}: {metric}, as a ratio {ours}/peer\n");
    let _ = writeln!(out, "| case | {ours} | {} |", peers.join(" | "));
    let _ = writeln!(out, "|---|{}", "---:|".repeat(subjects.len()));
    for case in distinct(rows.iter().copied(), |row| &row.case) {
        let of = |subject: &str| {
            let row = rows.iter().copied();
            row.filter(|row| row.case == case)
                .find(|row| row.subject == subject)
        };
        let _ = write!(
            out,
            "| {} | {} |",
            escape(case),
            of(ours).map_or_else(String::new, figure)
        );
        for peer in peers {
            let ratio = of(peer).map_or_else(String::new, |row| ratio(of(ours), Some(row)));
            let _ = write!(out, " {ratio} |");
        }
        out.push('\n');
    }
    out.push('\n');
}

/// Formats a figure with its unit; times are in microseconds.
fn figure(row: &Row) -> String {
    match row.unit.as_str() {
        "ns" => format!("{} us", number(row.value / 1e3)),
        "count" => number(row.value),
        "B/s" => format!("{} MB/s", number(row.value / 1e6)),
        unit => format!("{} {unit}", number(row.value)),
    }
}

/// Escapes the name of a case, which may contain a file name.
fn escape(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn a_table_has_ratios_and_gaps() {
        let rows = [
            row("s/c", "jstream", "read", 1_500.0),
            row("s/c", "rkyv", "read", 3_000.0),
            row("s/c", "capnp", "read", 10.0),
            row("s/a|b", "jstream", "read", 250_000.0),
            row("s/a|b", "rkyv", "read", 200_000.0),
            row("s/c", "jstream", "traverse", 500.0),
            row("s/c", "capnp", "traverse", 3_990.0),
        ];
        let expected = "\
s: read, as a ratio jstream/peer

| case | jstream | rkyv | capnp |
|---|---:|---:|---:|
| c | 1.50 us | 0.50 | 150.00 |
| a\\|b | 250 us | 1.25 |  |

s: traverse, as a ratio jstream/peer

| case | jstream | capnp |
|---|---:|---:|
| c | 0.50 us | 0.13 |

s: read + traverse, as a ratio jstream/peer

| case | jstream | capnp |
|---|---:|---:|
| c | 2 us | 0.50 |

";
        assert_eq!(text(&rows), expected);
    }

    #[test]
    fn nothing_makes_no_table() {
        assert_eq!(text(&[]), "");
    }
}
