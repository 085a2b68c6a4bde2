//! Tables of figures as text.

use std::fmt::Write;

use crate::row::{Row, by_case, distinct};
use crate::suites::Note;

/// Returns a table for each case, followed by its notes.
pub(crate) fn text(rows: &[Row], notes: &[Note]) -> String {
    let mut out = String::new();
    for group in by_case(rows) {
        let Some(first) = group.first() else {
            continue;
        };
        // Writing to a `String` cannot fail, neither here nor below.
        let _ = writeln!(out, "{} / {}", first.suite, first.case);
        push_aligned(&mut out, &lines(&group));
        for note in notes.iter().filter(|note| note.is_of(first)) {
            let _ = writeln!(out, "  {}", note.text);
        }
        out.push('\n');
    }
    out
}

/// Returns the cells of one case: a header, then a line per metric. The first subject is the
/// baseline for the others.
fn lines(group: &[&Row]) -> Vec<Vec<String>> {
    let rows = || group.iter().copied();
    let subjects = distinct(rows(), |row| &row.subject);
    let medians = rows().any(|row| row.shown_median().is_some());

    let mut header = vec!["metric".to_owned(), "unit".to_owned()];
    for subject in &subjects {
        header.push((*subject).to_owned());
        if medians {
            header.push("(median)".to_owned());
        }
    }
    if let Some((ours, peers)) = subjects.split_first() {
        header.extend(peers.iter().map(|peer| format!("{ours}/{peer}")));
    }

    let mut lines = vec![header];
    for metric in distinct(rows(), |row| &row.metric) {
        let of = |subject: &str| rows().find(|row| row.metric == metric && row.subject == subject);
        let unit = rows()
            .find(|row| row.metric == metric)
            .map_or("", |row| &row.unit);
        let mut line = vec![metric.to_owned(), unit.to_owned()];
        for subject in &subjects {
            let row = of(subject);
            line.push(row.map_or_else(String::new, |row| number(row.value)));
            if medians {
                let median = row.and_then(Row::shown_median);
                line.push(median.map_or_else(String::new, |m| format!("({})", number(m))));
            }
        }
        if let Some((ours, peers)) = subjects.split_first() {
            line.extend(peers.iter().map(|peer| ratio(of(ours), of(peer))));
        }
        lines.push(line);
    }
    lines
}

/// Formats the ratio of our figure to the peer's, or `-` if it has no meaning.
pub(crate) fn ratio(ours: Option<&Row>, peer: Option<&Row>) -> String {
    match (ours, peer) {
        (Some(ours), Some(peer)) if peer.compared() > 0.0 => {
            format!("{:.2}", ours.compared() / peer.compared())
        }
        _ => "-".to_owned(),
    }
}

/// Formats a figure with a suitable number of decimals and with separators between thousands.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value.abs() < 100.0 && value.fract() != 0.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{:.0}", value.abs());
    let mut out = if value < 0.0 {
        "-".to_owned()
    } else {
        String::new()
    };
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Appends the lines in aligned columns: the first two to the left, figures to the right.
pub(crate) fn push_aligned(out: &mut String, lines: &[Vec<String>]) {
    let mut widths: Vec<usize> = Vec::new();
    for line in lines {
        widths.resize(widths.len().max(line.len()), 0);
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    for line in lines {
        for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
            let _ = if column < 2 {
                write!(out, "  {cell:<width$}")
            } else {
                write!(out, "  {cell:>width$}")
            };
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::Distribution;
    use crate::row::tests::row;

    #[test]
    fn figures_are_written_to_be_read() {
        for (value, text) in [
            (0.0, "0"),
            (0.5, "0.50"),
            (99.994, "99.99"),
            (100.6, "101"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-5000.0, "-5,000"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn a_table_has_ratios_medians_and_notes() {
        let mut rows = vec![
            row("s/c", "jstream", "read", 1500.0),
            row("s/c", "rkyv", "read", 3000.0),
            row("s/c", "jstream", "allocs", 0.0),
            row("s/c", "rkyv", "allocs", 0.0),
        ];
        for (row, median) in rows.iter_mut().zip([1600.0, 3100.0]) {
            row.times = Distribution::of(&[row.value, median, median], 1);
        }
        let note = |case: &str, text: &str| Note {
            suite: "s".to_owned(),
            case: case.to_owned(),
            text: text.to_owned(),
        };
        let notes = [note("c", "two copies"), note("d", "elsewhere")];
        let expected = "\
s / c
  metric  unit  jstream  (median)   rkyv  (median)  jstream/rkyv
  read    ns      1,500   (1,600)  3,000   (3,100)          0.50
  allocs  ns          0                0                       -
  two copies

";
        assert_eq!(text(&rows, &notes), expected);
    }

    #[test]
    fn a_missing_figure_leaves_a_gap() {
        let rows = [
            row("s/c", "jstream", "read", 1.0),
            row("s/c", "rkyv", "write", 2.0),
        ];
        let expected = "\
s / c
  metric  unit  jstream  rkyv  jstream/rkyv
  read    ns          1                   -
  write   ns                2             -

";
        assert_eq!(text(&rows, &[]), expected);
    }
}
