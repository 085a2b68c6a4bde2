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
    use crate::apps;
    use crate::row::tests::row;
    use crate::suites::{rmi, serialization, transport};

    /// Words of a quantity or its source, and a part that the name of the case must have for it.
    const CASES: [(&str, &str); 33] = [
        ("TCP", "tcp"),
        ("Unix", "uds"),
        ("shared memory", "shm"),
        ("ranks", "rank/"),
        ("ranks that are threads", "/inproc/"),
        ("ranks that are processes", "/shm/"),
        ("round trip through", "/pingpong/"),
        ("messages between ranks", "/pingpong/"),
        ("large messages", "/1048576"),
        ("small messages", "/8"),
        ("active message", "active/"),
        ("operation in the handler", "active/"),
        ("null call", "/null"),
        ("copying serializer over jbufs", "/null"),
        ("call with 64 B", "/sum-8"),
        ("large calls", "/sum-131072"),
        ("reading an array", "array/"),
        ("an array of 32 KiB", "/array/32KiB"),
        ("an array of 512 B", "/array/512"),
        ("list of arrays", "linked-arrays/"),
        ("SOR", "sor/"),
        ("red-black SOR", "/sor/"),
        ("SOR with guards", "am-sor/"),
        ("EM3D", "/em3d/"),
        ("FFT of complex", "fft-complex/"),
        ("FFT of arrays", "fft-arrays/"),
        ("matrix product of 256 x 256", "matmul-256/"),
        ("matrix product of 256 x 256 read", "/matmul-256/"),
        ("in a ring", "ring-matmul"),
        ("linked list", "list-pingpong"),
        ("shortest paths", "apsp/"),
        ("TSP with 969", "am-tsp/"),
        ("TSP with 6,912", "am-tsp-fine/"),
    ];

    /// Words behind the last "to" of a quantity, and the subjects that they can name.
    const BASELINES: [(&str, &[&str]); 11] = [
        ("the raw device", &["raw"]),
        ("the buffers below it", &["endpoint"]),
        ("calls with a copying serializer", &["tarpc"]),
        (
            "the same calls with a copying serializer",
            &["jstream-copying"],
        ),
        ("a copying serializer", &["jstream-copying", "postcard"]),
        ("copies", &["jstream-copying"]),
        ("MPICH between processes", &["mpich"]),
        ("the same with a thread per call", &["thread-per-call"]),
        ("a thread per call", &["jstream-threads"]),
        ("hand-written messages", &["jstream-bare"]),
        ("one of", &["jstream"]),
    ];

    /// Returns the reason why the case or the baseline of a figure is not the one that its words
    /// describe.
    fn mismatch(figure: &Figure) -> Option<String> {
        let Figure {
            quantity,
            source,
            suite,
            case,
            ..
        } = figure;
        let known = match suite.as_str() {
            "serialization" => serialization::names().contains(&case.as_str()),
            "transport" => transport::names().contains(&case.as_str()),
            "rmi" => rmi::names().contains(&case.as_str()),
            "apps" => case.split_once('/').is_some_and(|(app, nodes)| {
                apps::names().contains(&app) && apps::setups().any(|setup| setup == nodes)
            }),
            _ => false,
        };
        if !known {
            return Some(format!("{suite} has no case {case}"));
        }
        let words = || CASES.iter().filter(|(words, _)| quantity.contains(words));
        if words().next().is_none() {
            return Some("no words for the case".to_owned());
        }
        // The source names the device, but not always the operation.
        let devices = CASES[..3]
            .iter()
            .filter(|(words, _)| source.contains(words));
        for (words, part) in words().chain(devices) {
            if !format!("/{case}").contains(part) {
                return Some(format!("{words} is not {case}"));
            }
        }
        let (_, baseline) = quantity.rsplit_once(", to ")?;
        let named = BASELINES.iter().find(|(words, _)| {
            baseline == *words || *words == "one of" && baseline.starts_with(words)
        });
        match named {
            Some((_, subjects)) if subjects.contains(&figure.baseline.as_str()) => None,
            _ => Some(format!("{baseline} is not {}", figure.baseline)),
        }
    }

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
    fn a_row_names_the_case_that_it_describes() {
        for figure in figures() {
            assert!(figure.quantity.contains(", to "), "{}", figure.quantity);
            assert_eq!(mismatch(&figure), None, "{}", figure.quantity);
        }
        let of = |quantity: &str, source: &str, case: &str, baseline: &str| {
            mismatch(&Figure {
                paper: "a paper".to_owned(),
                source: source.to_owned(),
                quantity: quantity.to_owned(),
                theirs: [1.0, 1.0],
                suite: "transport".to_owned(),
                case: case.to_owned(),
                metric: "half_rtt_p50".to_owned(),
                ours: "jstream".to_owned(),
                baseline: baseline.to_owned(),
                baseline_case: None,
            })
        };
        let small = "small messages between ranks, to MPICH between processes";
        let large = "large messages between ranks that are threads, to MPICH between processes";
        let bad = [
            of(small, "6.1 (over TCP)", "rank/shm/pingpong/8", "mpich"),
            of(large, "6", "rank/shm/pingpong/1048576", "mpich"),
            of(large, "6", "rank/inproc/pingpong/8", "mpich"),
            of(large, "6", "rank/inproc/pingpong/1048576", "openmpi"),
            of(large, "6", "rank/inproc/pingpong/9", "mpich"),
            of("something else", "6", "shm/pingpong/8", "mpich"),
        ];
        assert!(bad.iter().all(Option::is_some), "{bad:?}");
        assert_eq!(of(small, "6", "rank/shm/pingpong/8", "mpich"), None);
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
