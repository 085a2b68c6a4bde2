//! Latency and bandwidth over the size of a message.

use super::Page;
use super::markup::cells;
use super::plot::{COLOURS, Curve, Figure, Unit, curves};
use crate::row::{Row, distinct};
use crate::{Failure, apps, papers};

/// Fewest sizes of a family of cases that make a curve.
const FEWEST_SIZES: usize = 3;

/// A metric with curves: its name in rows, and the title of its plot.
struct Metric {
    name: &'static str,
    title: &'static str,
    /// True for the time that the transfer of one message takes, which has a bandwidth.
    is_transfer: bool,
}

impl Metric {
    const fn new(name: &'static str, title: &'static str, is_transfer: bool) -> Self {
        Self {
            name,
            title,
            is_transfer,
        }
    }

    fn is_bandwidth(&self) -> bool {
        self.name == "bandwidth"
    }
}

/// All metrics with curves, in the order of their plots.
const METRICS: [Metric; 6] = [
    Metric::new("write", "writing", false),
    Metric::new("read", "reading, checked", false),
    Metric::new("half_rtt_p50", "half a round trip", true),
    Metric::new("rtt_p50", "round trip", true),
    Metric::new("total", "operation", true),
    Metric::new("bandwidth", "bandwidth", false),
];

/// Splits a case into its family and its size, which is the number at its end, possibly with a
/// binary unit.
fn family(case: &str) -> Option<(&str, f64)> {
    let (digits, unit) = [("KiB", 1024.0), ("MiB", 1_048_576.0)]
        .into_iter()
        .find_map(|(unit, bytes)| Some((case.strip_suffix(unit)?, bytes)))
        .unwrap_or((case, 1.0));
    let family = digits.trim_end_matches(|c: char| c.is_ascii_digit());
    let size: u32 = digits.strip_prefix(family)?.parse().ok()?;
    let family = family.strip_suffix(['/', '-'])?;
    (size > 0).then_some((family, f64::from(size) * unit))
}

/// Returns the bytes of one element if the sizes of the family count elements, 1 if they count
/// bytes, or `None` if the elements have no fixed size.
fn element_bytes(suite: &str, family: &str) -> Option<f64> {
    match (suite, family.rsplit('/').next()) {
        ("rmi", Some("sum" | "untouched")) => Some(8.0),
        // The upper triangle of a matrix of 8 x 8 doubles.
        ("group", Some("indexed")) => Some(36.0 * 8.0),
        ("group", Some("broadcast-object" | "scatter-objects")) => None,
        _ => Some(1.0),
    }
}

/// Rows of a family of cases, which differ in their sizes only.
struct Family<'a> {
    suite: &'a str,
    name: &'a str,
    element_bytes: Option<f64>,
    rows: Vec<&'a Row>,
}

/// Returns the families, in order of their first appearance.
fn families(rows: &[Row]) -> Vec<Family<'_>> {
    let mut found: Vec<Family<'_>> = Vec::new();
    // The numbers in the names of applications and of their nodes are no sizes of messages.
    for row in rows.iter().filter(|row| row.suite != apps::SUITE) {
        let Some((name, _)) = family(&row.case) else {
            continue;
        };
        let suite = row.suite.as_str();
        let known = found
            .iter_mut()
            .find(|known| known.suite == suite && known.name == name);
        match known {
            Some(known) => known.rows.push(row),
            None => found.push(Family {
                suite,
                name,
                element_bytes: element_bytes(suite, name),
                rows: vec![row],
            }),
        }
    }
    found
}

impl Family<'_> {
    /// Returns the plots of the family.
    fn figures(&self) -> Result<Vec<Figure>, Failure> {
        let mut figures = Vec::new();
        for metric in &METRICS {
            let unit = if metric.is_bandwidth() { "B/s" } else { "ns" };
            let of = |row: &&&Row| row.metric == metric.name && row.unit == unit;
            let rows: Vec<&Row> = self.rows.iter().filter(of).copied().collect();
            if distinct(rows.iter().copied(), |row| &row.case).len() < FEWEST_SIZES {
                continue;
            }
            let title = format!("{} ({}): {}", self.name, self.suite, metric.title);
            if metric.is_bandwidth() {
                figures.push(self.figure(&title, &rows, Unit::Bandwidth, |row, _| row.value)?);
                continue;
            }
            let median = |row: &Row| row.median().unwrap_or(row.value);
            figures.push(self.figure(&title, &rows, Unit::Time, |row, _| median(row))?);
            if metric.is_transfer && self.element_bytes.is_some() {
                let title = format!("{} ({}): size / time", self.name, self.suite);
                let value = |row: &Row, size: f64| size * 1e9 / median(row);
                figures.push(self.figure(&title, &rows, Unit::Bandwidth, value)?);
            }
        }
        Ok(figures)
    }

    /// Returns the plot of a metric, with a curve for each subject. `value` returns the figure of a
    /// row with this size.
    fn figure(
        &self,
        title: &str,
        rows: &[&Row],
        unit: Unit,
        value: impl Fn(&Row, f64) -> f64,
    ) -> Result<Figure, Failure> {
        let size_unit = match self.element_bytes {
            Some(_) => Unit::Bytes,
            None => Unit::Number,
        };
        let point = |row: &&Row| {
            let size = family(&row.case)?.1 * self.element_bytes.unwrap_or(1.0);
            let value = value(row, size);
            (value.is_finite() && value > 0.0).then_some((size, value))
        };
        let all: Vec<Curve> = distinct(rows.iter().copied(), |row| &row.subject)
            .into_iter()
            .enumerate()
            .map(|(n, subject)| {
                let of = rows.iter().filter(|row| row.subject == subject);
                let mut points: Vec<(f64, f64)> = of.filter_map(point).collect();
                points.sort_by(|a, b| a.0.total_cmp(&b.0));
                Curve {
                    name: subject.to_owned(),
                    colour: n % COLOURS,
                    points,
                }
            })
            .collect();
        let mut sizes: Vec<f64> = all
            .iter()
            .flat_map(|c| c.points.iter().map(|p| p.0))
            .collect();
        sizes.sort_by(f64::total_cmp);
        sizes.dedup_by(|a, b| a.total_cmp(b).is_eq());
        let mut header = cells(["subject"]);
        header.extend(sizes.iter().map(|size| size_unit.format(*size)));
        let lines = all
            .iter()
            .map(|curve| {
                let mut line = vec![curve.name.clone()];
                line.extend(sizes.iter().map(|size| {
                    let point = curve.points.iter().find(|p| p.0.total_cmp(size).is_eq());
                    point.map_or_else(String::new, |(_, value)| unit.format(*value))
                }));
                line
            })
            .collect();
        Ok(Figure {
            number: 0,
            title: title.to_owned(),
            description: format!(
                "Curves of {} subjects over {} sizes, with logarithmic axes",
                all.len(),
                sizes.len()
            ),
            svg: curves(&all, size_unit, unit)?,
            legend: all.iter().map(|c| (c.name.clone(), c.colour)).collect(),
            header,
            lines,
        })
    }

    /// Returns true if the case is one of the family.
    fn has(&self, suite: &str, case: &str) -> bool {
        self.suite == suite && family(case).is_some_and(|(name, _)| name == self.name)
    }
}

/// Appends the curves of all families of cases that have enough sizes, with the ratios of the
/// papers that can be compared with them.
pub(super) fn push(page: &mut Page, rows: &[Row]) -> Result<(), Failure> {
    let papers = papers::lines(rows);
    let mut begun = false;
    for family in families(rows) {
        let figures = family.figures()?;
        if figures.is_empty() {
            continue;
        }
        if !begun {
            begun = true;
            page.heading("Over the size");
            page.paragraph(
                "Medians. Sizes are bytes; for lists of objects, numbers of elements. A note below \
                 the curves gives a ratio of costs in a paper, and the same ratio in this run.",
            );
        }
        page.out.push_str("<div class=\"plots\">\n");
        for figure in figures {
            page.figure(figure);
        }
        page.out.push_str("</div>\n");
        for line in papers.iter().filter(|l| family.has(&l.suite, &l.case)) {
            let [quantity, paper, theirs, ours, _] = &line.cells;
            page.note(&format!("{quantity}: {theirs} in {paper}; {ours} here"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn a_size_is_the_number_at_the_end() {
        assert_eq!(family("shm/pingpong/8"), Some(("shm/pingpong", 8.0)));
        assert_eq!(
            family("tcp/one-cpu/sum-1024"),
            Some(("tcp/one-cpu/sum", 1024.0))
        );
        assert_eq!(family("array/32KiB"), Some(("array", 32_768.0)));
        for none in [
            "list",
            "8",
            "a/0",
            "a8",
            "",
            "KiB",
            "a/KiB",
            "a/99999999999999",
        ] {
            assert_eq!(family(none), None, "{none}");
        }
    }

    #[test]
    fn sizes_in_elements_become_bytes() {
        let cases = [8, 64, 512].map(|count| format!("rmi/tcp/one-cpu/sum-{count}"));
        let rows = cases.map(|case| row(&case, "jstream", "rtt_p50", 1e3));
        let found = families(&rows);
        assert_eq!(found.len(), 1);
        let figures = found[0].figures().unwrap();
        assert_eq!(figures.len(), 2);
        assert_eq!(figures[0].header[1..], ["64 B", "512 B", "4 KiB"]);
        assert_eq!(
            figures[1].lines[0][1..],
            ["64 MB/s", "512 MB/s", "4.1 GB/s"]
        );
        assert!(found[0].has("rmi", "tcp/one-cpu/sum-1") && !found[0].has("rmi", "list"));
    }

    #[test]
    fn times_without_a_transfer_have_no_bandwidth() {
        let cases = ["64", "512", "1KiB"].map(|size| format!("serialization/array/{size}"));
        let rows = cases.map(|case| row(&case, "jstream", "read", 40.0));
        let figures = families(&rows)[0].figures().unwrap();
        assert_eq!(figures.len(), 1);
        assert_eq!(figures[0].title, "array (serialization): reading, checked");
    }

    #[test]
    fn applications_have_no_sizes() {
        let cases = [2, 4, 8].map(|nodes| format!("apps/sor/threads-{nodes}"));
        let rows = cases.map(|case| row(&case, "jstream", "total", 1e3));
        assert!(families(&rows).is_empty());
    }
}
