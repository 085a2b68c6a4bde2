//! Self-contained HTML pages: a report of one set of rows, and a comparison of two.

mod applications;
mod curves;
mod markup;
mod plot;
mod position;

use std::fmt::Write;

use self::markup::{cells, escape, push_table};
use self::plot::{COLOURS, Figure, Name, Unit, boxes};
use crate::Failure;
use crate::compare::{self, Comparison, Line, Verdict};
use crate::distribution::Distribution;
use crate::papers;
use crate::row::{Row, by_case, distinct, runs};
use crate::suites::Note;
use crate::table::{number, ratio};

/// Style of the page. The colours of the subjects can be told apart by colour-blind readers and
/// have a contrast of at least 3 to 1.
const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1c1c1e; --page: #fff; --muted: #5c5c62; --grid: #d8d8dc;
  --good: #00663f; --c0: #0060a8; --c1: #b34700; --c2: #007a4d; --c3: #9b2d86; --c4: #6b5b00;
  --c5: #5a5a5a; --c6: #007a80; --c7: #a8201a; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8ea; --page: #18181a; --muted: #a8a8ae;
  --grid: #3c3c40; --good: #4fd69c; --c0: #5ab0ff; --c1: #ff9a4d; --c2: #4fd69c; --c3: #e58ad0;
  --c4: #d6c24a; --c5: #b0b0b0; --c6: #4fd0d0; --c7: #ff7b72; } }
@media print { :root { --text: #000; --page: #fff; --muted: #444; --grid: #ccc; --good: #00663f;
  --c0: #0060a8; --c1: #b34700; --c2: #007a4d; --c3: #9b2d86; --c4: #6b5b00; --c5: #5a5a5a;
  --c6: #007a80; --c7: #a8201a; } figure, tr, p { break-inside: avoid; }
  h2, h3, h2 + p { break-after: avoid; } details:not([open]) { display: none; } }
* { box-sizing: border-box; }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 64rem; margin: 1.5rem auto; padding: 0 1rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 .5rem; } h2 { margin: 2.5rem 0 .5rem; } h3 { margin: 1.5rem 0 0; }
h3 small, .note, figcaption small { color: var(--muted); font-weight: normal; }
.note { margin: .25rem 0; font-size: 13px; }
.plots { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr));
  gap: 1rem 2rem; align-items: start; margin-bottom: 1rem; }
figure { margin: 0; min-width: 0; } figcaption { font-weight: 600; font-size: 14px; }
svg { display: block; width: 100%; max-width: 30rem; height: auto; }
svg text { font-family: system-ui, sans-serif; }
.legend { margin: 0; font-size: 13px; } .legend span { white-space: nowrap; margin-right: .75rem; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; border-radius: 2px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--grid); text-align: right;
  font-variant-numeric: tabular-nums; overflow-wrap: normal; }
th:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; } tbody th { font-weight: normal; min-width: 9rem; }
.wide + .plots, .note + .plots { margin-top: 1rem; }
.papers th:last-child, .papers td:last-child { text-align: left; }
@media (max-width: 36rem) { table { font-size: 13px; } th, td { padding: .15rem .35rem; }
  tbody th { min-width: 8rem; } }
details { font-size: 14px; } summary { cursor: pointer; color: var(--muted); }
";

/// A page while it is written.
struct Page {
    out: String,
    /// Number of figures so far.
    figures: usize,
}

impl Page {
    fn new(title: &str) -> Self {
        let mut out = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <title>{title}</title>\n<style>\n{STYLE}"
        );
        for colour in 0..COLOURS {
            // Writing to a `String` cannot fail, neither here nor below.
            let _ = writeln!(out, ".c{colour} {{ background: var(--c{colour}); }}");
        }
        let _ = write!(out, "</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n");
        Self { out, figures: 0 }
    }

    fn end(mut self) -> String {
        self.out.push_str("</main>\n</body>\n</html>\n");
        self.out
    }

    fn heading(&mut self, text: &str) {
        let _ = writeln!(self.out, "<h2>{}</h2>", escape(text));
    }

    fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.out, "<p>{}</p>", escape(text));
    }

    fn note(&mut self, text: &str) {
        let _ = writeln!(self.out, "<p class=\"note\">{}</p>", escape(text));
    }

    /// Numbers a figure and appends it.
    fn figure(&mut self, mut figure: Figure) {
        self.figures += 1;
        figure.number = self.figures;
        figure.push(&mut self.out);
    }
}

/// Returns the report of the rows as a page.
pub(crate) fn report(rows: &[Row], notes: &[Note]) -> Result<String, Failure> {
    let mut page = Page::new("jstream benchmarks");
    position::push(&mut page, rows)?;
    page.heading("Runs");
    let found = runs(rows);
    if found.is_empty() {
        page.paragraph("The rows are of files without a version, which do not tell their machine.");
    }
    for run in found {
        let (command, machine, build) = (&run.command, &run.machine, &run.build);
        page.note(&format!("{command}: {machine}; {build}"));
    }
    curves::push(&mut page, rows)?;
    applications::push(&mut page, rows)?;
    push_papers(&mut page, rows);
    push_allocations(&mut page, rows);
    push_cases(&mut page, rows, notes)?;
    Ok(page.end())
}

fn push_papers(page: &mut Page, rows: &[Row]) {
    let lines: Vec<Vec<String>> = papers::lines(rows)
        .into_iter()
        .map(|line| line.cells.to_vec())
        .collect();
    if lines.is_empty() {
        return;
    }
    page.heading("The papers");
    page.paragraph(
        "Ratios of costs, theirs on their machines and ours in this run; less is better. They show \
         what a layer adds to the one below it, and not which machine is faster.",
    );
    let header = cells(["quantity", "paper", "theirs", "ours", "our case"]);
    page.out.push_str("<div class=\"papers\">\n");
    push_table(&mut page.out, &header, &lines);
    page.out.push_str("</div>\n");
}

/// Appends a table with the allocations of each case and subject.
fn push_allocations(page: &mut Page, rows: &[Row]) {
    let of = rows.iter().filter(|row| row.metric.starts_with("allocs"));
    let of: Vec<Row> = of.cloned().collect();
    if of.is_empty() {
        return;
    }
    page.heading("Allocations");
    page.paragraph("Allocations for each message that is read, sent or answered.");
    for suite in distinct(&of, |row| &row.suite) {
        let lines: Vec<Vec<String>> = of
            .iter()
            .filter(|row| row.suite == suite)
            .map(|row| {
                let case = format!("{}, {}", row.case, row.metric);
                vec![case, row.subject.clone(), number(row.value)]
            })
            .collect();
        let none = lines
            .iter()
            .filter(|line| line.last().is_some_and(|n| n == "0"));
        let title = format!(
            "{suite}: {} of {} figures without allocations",
            none.count(),
            lines.len()
        );
        let header = cells(["case", "subject", "allocations"]);
        markup::push_details(&mut page.out, &title, &header, &lines);
    }
}

/// Appends the figures of each case.
fn push_cases(page: &mut Page, rows: &[Row], notes: &[Note]) -> Result<(), Failure> {
    if rows.is_empty() {
        return Ok(());
    }
    page.heading("All cases");
    page.paragraph(
        "Boxes are between the quartiles of the rounds, with a mark at the median; lines go from the \
         fastest round to the 99th percentile. The tables also have the sextiles. All times are for one operation. Below a plot, the \
         value of a time is the minimum where the median stands beside it.",
    );
    let subjects = distinct(rows, |row| &row.subject);
    for group in by_case(rows) {
        let Some(first) = group.first() else {
            continue;
        };
        let _ = writeln!(
            page.out,
            "<section>\n<h3>{} <small>{}</small></h3>\n<div class=\"plots\">",
            escape(&first.case),
            escape(&first.suite)
        );
        let mut others = Vec::new();
        for metric in distinct(group.iter().copied(), |row| &row.metric) {
            let of: Vec<&Row> = group
                .iter()
                .copied()
                .filter(|r| r.metric == metric)
                .collect();
            match case_figure(metric, &of, &subjects)? {
                Some(figure) => page.figure(figure),
                None => others.extend(of),
            }
        }
        page.out.push_str("</div>\n");
        if !others.is_empty() {
            let lines: Vec<Vec<String>> = others.iter().map(|row| plain_line(row)).collect();
            let header = cells(["metric", "subject", "value", "unit"]);
            markup::push_details(&mut page.out, "Counts and sizes", &header, &lines);
        }
        for note in notes.iter().filter(|note| note.is_of(first)) {
            page.note(&note.text);
        }
        page.out.push_str("</section>\n");
    }
    Ok(())
}

/// Returns the cells of the first two and the last two sextiles, which are empty if the histogram
/// is damaged. McMPI (001), section 4.4.3, takes the first for the most frequent minimum, and the
/// second for the end of its error bar.
fn sextiles(times: &Distribution) -> [String; 4] {
    match times.sextiles() {
        Ok([first, second, _, fourth, fifth]) => [first, second, fourth, fifth].map(number),
        Err(_) => Default::default(),
    }
}

fn plain_line(row: &Row) -> Vec<String> {
    vec![
        row.metric.clone(),
        row.subject.clone(),
        number(row.value),
        row.unit.clone(),
    ]
}

/// Returns the box plot of a metric, or `None` if no row has a distribution.
fn case_figure(metric: &str, rows: &[&Row], subjects: &[&str]) -> Result<Option<Figure>, Failure> {
    let timed: Vec<_> = rows
        .iter()
        .filter_map(|row| {
            let name = Name {
                text: &row.subject,
                colour: colour(subjects, &row.subject),
            };
            Some((name, row.times.as_ref()?))
        })
        .collect();
    let Some(first) = rows.first().filter(|_| !timed.is_empty()) else {
        return Ok(None);
    };
    let ours = rows.iter().find(|row| row.subject == "jstream");
    let ours = ours.unwrap_or(first);
    let mut lines = Vec::new();
    for row in rows {
        let mut line = vec![row.subject.clone(), number(row.value), row.unit.clone()];
        line.push(ratio(Some(ours), Some(row)));
        if let Some(d) = &row.times {
            line.extend([d.min, d.q1, d.median, d.q3, d.p99].map(number));
            line.extend(sextiles(d));
            line.extend([d.rounds, d.batch].map(|n| number(n as f64)));
        }
        lines.push(line);
    }
    Ok(Some(Figure {
        number: 0,
        title: format!("{metric}, time for one operation"),
        description: format!(
            "Box plot of the rounds of {} subjects of the case {} of the suite {}",
            timed.len(),
            first.case,
            first.suite
        ),
        svg: boxes(&timed)?,
        legend: Vec::new(),
        header: cells([
            "subject",
            "value",
            "unit",
            "ratio",
            "min (ns)",
            "q1",
            "median",
            "q3",
            "p99",
            "sextile 1",
            "sextile 2",
            "sextile 4",
            "sextile 5",
            "rounds",
            "batch",
        ]),
        lines,
    }))
}

/// Returns the colour of a subject, which is the same on the whole page.
fn colour(subjects: &[&str], subject: &str) -> usize {
    let place = subjects.iter().position(|s| *s == subject).unwrap_or(0);
    place % COLOURS
}

/// Maximum number of plots of a comparison. The tables have all figures.
const MAX_PLOTS: usize = 60;

/// Returns the comparison as a page.
pub(crate) fn comparison(found: &Comparison) -> Result<String, Failure> {
    let mut page = Page::new("jstream benchmarks, compared");
    page.paragraph(&found.summary());
    for run in &found.runs {
        page.note(run);
    }
    for (title, verdict) in [
        ("Slower or larger", Verdict::Worse),
        ("Faster or smaller", Verdict::Better),
    ] {
        let lines = found.with(verdict);
        page.heading(title);
        if lines.is_empty() {
            page.paragraph("No figure.");
            continue;
        }
        let header = cells(["figure", "change", "old", "new"]);
        let table: Vec<Vec<String>> = lines.iter().map(|line| change_cells(line)).collect();
        push_table(&mut page.out, &header, &table);
        // Counts have no plot, and do not take the place of one.
        let timed = lines.iter().filter(|line| line.is_timed());
        let left_out = timed.clone().count().saturating_sub(MAX_PLOTS);
        if left_out > 0 {
            page.note(&format!(
                "The plots show the {MAX_PLOTS} largest changes of times, and leave out {left_out}."
            ));
        }
        page.out.push_str("<div class=\"plots\">\n");
        for line in timed.take(MAX_PLOTS) {
            if let Some(figure) = change_figure(line)? {
                page.figure(figure);
            }
        }
        page.out.push_str("</div>\n");
    }
    for (title, names) in [("Missing", &found.missing), ("Added", &found.added)] {
        if !names.is_empty() {
            page.heading(title);
            page.paragraph(&names.join("; "));
        }
    }
    Ok(page.end())
}

/// Returns the cells of a changed figure. They are short, so that a phone shows all columns.
fn change_cells(line: &Line) -> Vec<String> {
    let unit = Unit::of(&line.new.unit);
    // A line does not break before a unit.
    let [old, new] = line
        .values()
        .map(|value| unit.format(value).replace(' ', "\u{a0}"));
    vec![line.name(), compare::percent(line.change), old, new]
}

/// Returns the box plot of the old and the new rounds, or `None` if there are none.
fn change_figure(line: &Line) -> Result<Option<Figure>, Failure> {
    let (Some(old), Some(new)) = (&line.old.times, &line.new.times) else {
        return Ok(None);
    };
    let name = |text, colour| Name { text, colour };
    let table = [("old", old), ("new", new)].map(|(text, d)| {
        let mut cells = vec![text.to_owned()];
        cells.extend([d.min, d.q1, d.median, d.q3, d.p99].map(number));
        cells.push(number(d.rounds as f64));
        cells
    });
    Ok(Some(Figure {
        number: 0,
        title: format!("{} ({})", line.name(), compare::percent(line.change)),
        description: "Box plot of the old and the new rounds".to_owned(),
        svg: boxes(&[(name("old", 5), old), (name("new", 0), new)])?,
        legend: Vec::new(),
        header: cells(["rows", "min (ns)", "q1", "median", "q3", "p99", "rounds"]),
        lines: table.to_vec(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::{row, timed};

    fn size(case: &str, subject: &str, ns: f64) -> Row {
        timed(case, subject, "half_rtt_p50", vec![ns, ns * 1.1, ns * 1.3])
    }

    #[test]
    fn each_plot_has_marks_a_description_and_a_table() {
        let mut rows = vec![row("s/shm/8", "jstream", "allocs", 0.0)];
        for (bytes, ns) in [(8, 100.0), (1024, 300.0), (65_536, 9_000.0)] {
            for (subject, factor) in [("jstream", 1.0), ("openmpi", 1.5)] {
                rows.push(size(&format!("s/shm/{bytes}"), subject, ns * factor));
            }
        }
        let page = report(&rows, &[]).unwrap();
        let plots = page.matches("<svg").count();
        // Ratios, latency and bandwidth over the size, and three cases.
        assert_eq!(plots, 6);
        assert_eq!(page.matches("<desc").count(), plots);
        assert!(page.matches("<details").count() >= plots);
        for plot in page.split("<svg").skip(1) {
            let (plot, _) = plot.split_once("</svg>").unwrap();
            assert!(plot.contains("<circle") || plot.contains("<rect"), "{plot}");
            assert!(!plot.contains('#'), "a colour is not the page's: {plot}");
        }
        assert!(page.contains("1 of 1 figures without allocations"));
    }

    #[test]
    fn nothing_outside_the_page_is_named_and_text_is_escaped() {
        let note = Note {
            suite: "s".to_owned(),
            case: "<c>".to_owned(),
            text: "a & b".to_owned(),
        };
        let rows = [size("s/<c>", "\"x\"", 0.0), row("s/<c>", "y", "bytes", 0.0)];
        let page = report(&rows, &[note]).unwrap();
        assert!(!page.contains("http") && !page.contains("<c>"));
        assert!(page.contains("&lt;c&gt;") && page.contains("&quot;x&quot;"));
        assert!(page.contains("a &amp; b"));
    }

    #[test]
    fn a_page_of_nothing_is_a_page() {
        assert!(report(&[], &[]).unwrap().ends_with("</html>\n"));
    }

    #[test]
    fn a_comparison_shows_what_changed() {
        let of = |ns: f64| timed("s/c", "jstream", "read", vec![ns; 50]);
        let found = Comparison::of(&[of(10.0)], &[of(12.0)], true).unwrap();
        let page = comparison(&found).unwrap();
        assert_eq!(page.matches("<svg").count(), 1);
        assert!(page.contains("+20.0%"));
    }

    #[test]
    fn counts_do_not_take_the_places_of_plots() {
        let count = |case: usize, value: f64| Row {
            unit: "count".to_owned(),
            ..row(&format!("s/{case}"), "jstream", "allocs", value)
        };
        let time =
            |case: usize, ns: f64| timed(&format!("s/{case}"), "jstream", "read", vec![ns; 50]);
        let of = |value: f64| -> Vec<Row> {
            let counts = (0..2 * MAX_PLOTS).map(|case| count(case, value * value));
            counts
                .chain((0..=MAX_PLOTS).map(|case| time(case, value)))
                .collect()
        };
        let page = comparison(&Comparison::of(&of(10.0), &of(12.0), true).unwrap()).unwrap();
        assert_eq!(page.matches("<svg").count(), MAX_PLOTS);
        assert!(page.contains("leave out 1."));
    }
}
