//! Applications: speed-ups, reading in place against copying, and jstream against MPI.

use super::Page;
use super::markup::cells;
use super::plot::{COLOURS, Figure, Strip, strips};
use crate::Failure;
use crate::apps::{COPYING, IN_PLACE, SEQUENTIAL, SUITE};
use crate::row::{Row, distinct};

/// An application in one arrangement of nodes.
struct Run<'a> {
    app: &'a str,
    nodes: &'a str,
    rows: Vec<&'a Row>,
}

impl Run<'_> {
    /// Returns the figure of a subject.
    fn row(&self, subject: &str, metric: &str) -> Option<&Row> {
        let mut rows = self.rows.iter().copied();
        rows.find(|row| row.subject == subject && row.metric == metric)
    }

    fn speedup(&self, subject: &str) -> Option<f64> {
        let found = self.row(subject, "speedup")?.value;
        (found.is_finite() && found > 0.0).then_some(found)
    }

    /// Returns the time of `jstream` divided by that of another subject. Both are medians, as in
    /// the speed-up.
    fn ratio_to(&self, other: &str) -> Option<f64> {
        let median = |subject: &str| Some(self.row(subject, "total")?.compared());
        let ratio = median(IN_PLACE)? / median(other)?;
        ratio.is_finite().then_some(ratio)
    }
}

/// Returns the runs of all applications, in order.
fn all_runs(rows: &[Row]) -> Vec<Run<'_>> {
    let mut found: Vec<Run<'_>> = Vec::new();
    for row in rows.iter().filter(|row| row.suite == SUITE) {
        let Some((app, nodes)) = row.case.split_once('/') else {
            continue;
        };
        match found.iter_mut().find(|r| r.app == app && r.nodes == nodes) {
            Some(run) => run.rows.push(row),
            None => found.push(Run {
                app,
                nodes,
                rows: vec![row],
            }),
        }
    }
    found
}

/// Appends a plot of the speed-ups for each arrangement of nodes, whose table has the ratios to
/// copying and to MPI.
pub(super) fn push(page: &mut Page, rows: &[Row]) -> Result<(), Failure> {
    let runs = all_runs(rows);
    let of_suite = || rows.iter().filter(|row| row.suite == SUITE);
    let subjects: Vec<&str> = distinct(of_suite(), |row| &row.subject)
        .into_iter()
        .filter(|subject| *subject != SEQUENTIAL)
        .collect();
    let mut arrangements: Vec<&str> = Vec::new();
    for run in &runs {
        if !arrangements.contains(&run.nodes) {
            arrangements.push(run.nodes);
        }
    }
    if subjects.is_empty() {
        return Ok(());
    }
    page.heading("Applications");
    page.paragraph(
        "Speed-up: time of the sequential version divided by that of all nodes together, of medians; \
         more is better. The tables also have our time divided by that of the version that copies \
         objects out of messages, and by that of the same kernel over an MPI library; there, less is \
         better.",
    );
    page.out.push_str("<div class=\"plots\">\n");
    for nodes in arrangements {
        let of: Vec<&Run<'_>> = runs.iter().filter(|run| run.nodes == nodes).collect();
        page.figure(figure(nodes, &of, &subjects)?);
    }
    page.out.push_str("</div>\n");
    Ok(())
}

/// Returns the plot of one arrangement of nodes.
fn figure(nodes: &str, runs: &[&Run<'_>], subjects: &[&str]) -> Result<Figure, Failure> {
    let present = |subject: &&(usize, &str)| runs.iter().any(|r| r.speedup(subject.1).is_some());
    let all: Vec<(usize, &str)> = subjects.iter().copied().enumerate().collect();
    let present: Vec<(usize, &str)> = all.iter().filter(present).copied().collect();
    let strip = |run: &&Run<'_>| {
        let ratios = present
            .iter()
            .filter_map(|(n, subject)| Some((run.speedup(subject)?, n % COLOURS)));
        ratios.collect::<Vec<_>>()
    };
    let lines: Vec<Strip<'_>> = runs
        .iter()
        .map(|run| Strip {
            name: run.app,
            ratios: strip(run),
        })
        .collect();
    // Our other drivers are in the plot; the table compares with copying and with other libraries.
    let compared: Vec<&str> = present
        .iter()
        .map(|(_, subject)| *subject)
        .filter(|subject| *subject == COPYING || !subject.starts_with("jstream"))
        .collect();
    let mut header = cells(["application"]);
    header.extend(
        present
            .iter()
            .map(|(_, subject)| format!("speed-up, {subject}")),
    );
    header.extend(compared.iter().map(|other| format!("{IN_PLACE} / {other}")));
    let cell = |value: Option<f64>| value.map_or_else(String::new, |value| format!("{value:.2}"));
    let table = runs
        .iter()
        .map(|run| {
            let mut line = vec![run.app.to_owned()];
            line.extend(
                present
                    .iter()
                    .map(|(_, subject)| cell(run.speedup(subject))),
            );
            line.extend(compared.iter().map(|other| cell(run.ratio_to(other))));
            line
        })
        .collect();
    Ok(Figure {
        number: 0,
        title: format!("{nodes}: speed-up"),
        description: format!(
            "Speed-ups of {} applications with {} versions each, on a logarithmic axis with a line \
             at 1",
            runs.len(),
            present.len()
        ),
        svg: strips(&lines)?,
        legend: present
            .iter()
            .map(|(n, subject)| ((*subject).to_owned(), n % COLOURS))
            .collect(),
        header,
        lines: table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    fn rows(nodes: &str) -> Vec<Row> {
        let times = [
            (SEQUENTIAL, 80.0),
            (IN_PLACE, 40.0),
            (COPYING, 50.0),
            ("openmpi", 32.0),
        ];
        let of = |(subject, time): (&str, f64)| {
            let case = format!("apps/sor/{nodes}");
            let total = row(&case, subject, "total", time);
            let speedup = row(&case, subject, "speedup", 80.0 / time);
            [total, speedup]
                .into_iter()
                .take(if subject == SEQUENTIAL { 1 } else { 2 })
        };
        times.into_iter().flat_map(of).collect()
    }

    #[test]
    fn a_table_has_speedups_and_ratios_to_copying_and_mpi() {
        let all = rows("threads-2");
        let runs = all_runs(&all);
        let figure = figure(
            "threads-2",
            &runs.iter().collect::<Vec<_>>(),
            &[IN_PLACE, COPYING, "openmpi", "mpich"],
        )
        .unwrap();
        assert_eq!(
            figure.header[1..],
            [
                "speed-up, jstream",
                "speed-up, jstream-copying",
                "speed-up, openmpi",
                "jstream / jstream-copying",
                "jstream / openmpi",
            ]
        );
        assert_eq!(
            figure.lines,
            [["sor", "2.00", "1.60", "2.50", "0.80", "1.25"]]
        );
        assert_eq!(figure.legend.len(), 3);
    }

    #[test]
    fn each_arrangement_of_nodes_has_a_plot() {
        let mut page = Page::new("t");
        let mut all = rows("threads-2");
        all.extend(rows("procs-2"));
        push(&mut page, &all).unwrap();
        assert_eq!(page.figures, 2);
        assert!(page.out.contains("procs-2: speed-up"));
        let mut page = Page::new("t");
        push(&mut page, &[row("rmi/a", "jstream", "total", 1.0)]).unwrap();
        assert_eq!(page.figures, 0);
    }
}
