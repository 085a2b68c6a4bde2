//! Figures of the papers as ratios, beside the same ratios of a run.

use serde::Deserialize;

use crate::headlines::cost_ratio;
use crate::row::Row;

/// Data with the source of each figure.
const DATA: &str = include_str!("papers.json");

/// A ratio of two costs in a paper, and the figures of ours that correspond to them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    paper: String,
    /// Table or section of the paper.
    source: String,
    quantity: String,
    /// Cost of the measured layer, and that of its baseline, in one unit.
    theirs: [f64; 2],
    suite: String,
    case: String,
    metric: String,
    ours: String,
    baseline: String,
    /// Case of the baseline, if it is another one.
    #[serde(default)]
    baseline_case: Option<String>,
}

/// A figure of the papers beside ours.
#[derive(Debug)]
pub(crate) struct PaperLine {
    pub(crate) suite: String,
    pub(crate) case: String,
    /// The quantity, the paper, its ratio, the ratio of the rows, and their case.
    pub(crate) cells: [String; 5],
}

/// Returns the figures of the papers.
fn figures() -> Vec<Figure> {
    // The data is part of the program, and a test parses it.
    serde_json::from_str(DATA).unwrap_or_default()
}

/// Returns a line for each figure of the papers whose counterpart is among the rows.
pub(crate) fn lines(rows: &[Row]) -> Vec<PaperLine> {
    let line = |figure: Figure| {
        let of = |case: &str, subject: &str| {
            rows.iter().find(|row| {
                row.suite == figure.suite
                    && row.case == case
                    && row.metric == figure.metric
                    && row.subject == subject
            })
        };
        let baseline_case = figure.baseline_case.as_ref().unwrap_or(&figure.case);
        let ours = of(&figure.case, &figure.ours)?;
        let ours = cost_ratio(ours, of(baseline_case, &figure.baseline)?)?;
        let [above, below] = figure.theirs;
        let at = figure
            .baseline_case
            .map_or_else(String::new, |case| format!(" at {case}"));
        let about = format!(
            "{} / {}: {} to {}{at}",
            figure.suite, figure.case, figure.ours, figure.baseline
        );
        Some(PaperLine {
            suite: figure.suite,
            case: figure.case,
            cells: [
                figure.quantity,
                format!("{}, {}", figure.paper, figure.source),
                ratio(above / below),
                ratio(ours),
                about,
            ],
        })
    };
    figures().into_iter().filter_map(line).collect()
}

/// Formats a ratio with two significant digits at least.
fn ratio(ratio: f64) -> String {
    if ratio < 0.1 {
        format!("{ratio:.4}")
    } else {
        format!("{ratio:.2}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn the_data_is_complete() {
        let figures: Vec<Figure> = serde_json::from_str(DATA).unwrap();
        assert!(!figures.is_empty());
        for figure in figures {
            assert!(figure.theirs.iter().all(|cost| *cost > 0.0));
            assert!(!figure.source.is_empty() && !figure.paper.is_empty());
        }
    }

    #[test]
    fn a_line_needs_both_rows() {
        let rows = [
            row(
                "transport/uds-spin/pingpong/8",
                "jstream",
                "half_rtt_p50",
                3.0,
            ),
            row("transport/uds-spin/pingpong/8", "raw", "half_rtt_p50", 2.0),
        ];
        let lines = lines(&rows);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].cells[2..4], ["1.24", "1.50"]);
        assert!(super::lines(&rows[..1]).is_empty());
    }

    #[test]
    fn a_baseline_can_be_of_another_case() {
        let rows = [
            row("serialization/array/64", "jstream", "read", 2.0),
            row("serialization/array/32KiB", "jstream", "read", 3.0),
        ];
        let lines = lines(&rows);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].cells[2..4], ["1.00", "1.50"]);
        assert!(lines[0].cells[4].ends_with("jstream to jstream at array/64"));
    }
}
