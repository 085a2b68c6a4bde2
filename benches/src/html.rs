//! Self-contained HTML page with the figures as bar plots in inline SVG.

use std::fmt::Write;

use crate::row::{Row, by_case, distinct};
use crate::suites::Note;
use crate::table::{number, ratio};

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1c1c1e; --page: #fff; --muted: #6b6b70; }
@media (prefers-color-scheme: dark) { :root { --text: #e8e8ea; --page: #18181a; --muted: #9a9aa0; } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page);
  max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin: 2.5rem 0 0; } h2 small { color: var(--muted); font-weight: normal; }
figure { margin: 1rem 0; } figcaption span, .note { color: var(--muted); }
svg { display: block; width: 100%; height: auto; } svg text { fill: var(--text); font-size: 13px; }
";

/// Colours of the subjects, distinguishable for colour-blind readers. They repeat after the last
/// one.
const COLOURS: [&str; 6] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00",
];

const WIDTH: usize = 700;
const BAR: usize = 20;
const STEP: usize = 26;
/// Start of the bars, to the right of the names of the subjects.
const LEFT: usize = 110;
/// Width reserved for the figure to the right of the longest bar.
const RIGHT: usize = 110;

/// Returns the complete page.
pub(crate) fn page(rows: &[Row], notes: &[Note]) -> String {
    let mut out = String::from(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>jstream benchmarks</title>\n<style>\n",
    );
    out.push_str(STYLE);
    out.push_str("</style>\n</head>\n<body>\n<h1>jstream benchmarks</h1>\n");
    out.push_str(
        "<p>Shorter bars are better, except where the unit is per second. Times are the minimum of \
         many rounds in which the subjects took turns on one core; figures of the suite transport \
         are the median of rounds on two cores.</p>\n",
    );
    let subjects = distinct(rows, |row| &row.subject);
    for group in by_case(rows) {
        push_case(&mut out, &group, &subjects, notes);
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn push_case(out: &mut String, group: &[&Row], subjects: &[&str], notes: &[Note]) {
    let Some(first) = group.first() else {
        return;
    };
    // Writing to a `String` cannot fail, neither here nor below.
    let _ = writeln!(
        out,
        "<section>\n<h2>{} <small>{}</small></h2>",
        escape(&first.case),
        escape(&first.suite)
    );
    for metric in distinct(group.iter().copied(), |row| &row.metric) {
        let bars: Vec<&Row> = group
            .iter()
            .copied()
            .filter(|row| row.metric == metric)
            .collect();
        push_plot(out, metric, &bars, subjects);
    }
    for note in notes.iter().filter(|note| note.is_of(first)) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(&note.text));
    }
    out.push_str("</section>\n");
}

fn push_plot(out: &mut String, metric: &str, bars: &[&Row], subjects: &[&str]) {
    let unit = bars.first().map_or("", |row| &row.unit);
    let _ = write!(
        out,
        "<figure>\n<figcaption><b>{}</b> <span>{}",
        escape(metric),
        escape(unit)
    );
    if let Some((ours, peers)) = bars.split_first() {
        for peer in peers {
            let (of, to) = (escape(&ours.subject), escape(&peer.subject));
            let _ = write!(out, "; {of}/{to} {}", ratio(Some(ours), Some(peer)));
        }
    }
    let height = bars.len() * STEP;
    let _ = writeln!(
        out,
        "</span></figcaption>\n<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">"
    );
    let most = bars.iter().map(|row| row.value).fold(0.0, f64::max);
    for (i, row) in bars.iter().enumerate() {
        push_bar(out, row, i * STEP, most, colour(subjects, &row.subject));
    }
    out.push_str("</svg>\n</figure>\n");
}

fn push_bar(out: &mut String, row: &Row, top: usize, most: f64, colour: &str) {
    let share = if most > 0.0 { row.value / most } else { 0.0 };
    let room = (WIDTH - LEFT - RIGHT) as f64;
    // A bar of length 0 is still visible as a line.
    let length = (share * room).clamp(1.0, room);
    let (base, name, value) = (top + BAR - 5, escape(&row.subject), number(row.value));
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{base}\" text-anchor=\"end\">{name}</text>\
         <rect x=\"{LEFT}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"2\" \
         fill=\"{colour}\"/>\
         <text x=\"{:.1}\" y=\"{base}\">{value}</text>",
        LEFT - 8,
        LEFT as f64 + length + 8.0,
    );
}

/// Returns the colour of a subject, which is the same on the whole page.
fn colour(subjects: &[&str], subject: &str) -> &'static str {
    let place = subjects.iter().position(|s| *s == subject).unwrap_or(0);
    COLOURS.iter().cycle().nth(place).copied().unwrap_or("#777")
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::row;

    #[test]
    fn the_longest_bar_takes_all_room_and_colours_stay() {
        let rows = [
            row("s/one", "jstream", "read", 50.0),
            row("s/one", "rkyv", "read", 100.0),
            row("s/two", "rkyv", "read", 7.0),
        ];
        let page = page(&rows, &[]);
        assert_eq!(page.matches("<svg").count(), 2);
        assert_eq!(page.matches("<rect").count(), 3);
        assert_eq!(page.matches("width=\"480.0\"").count(), 2);
        assert_eq!(page.matches("width=\"240.0\"").count(), 1);
        assert_eq!(page.matches(COLOURS[1]).count(), 2);
        assert!(page.contains("jstream/rkyv 0.50"));
    }

    #[test]
    fn nothing_outside_the_page_is_named_and_text_is_escaped() {
        let note = Note {
            suite: "s".to_owned(),
            case: "<c>".to_owned(),
            text: "a & b".to_owned(),
        };
        let page = page(&[row("s/<c>", "\"x\"", "read", 0.0)], &[note]);
        assert!(!page.contains("http") && !page.contains("<c>"));
        assert!(page.contains("&lt;c&gt;") && page.contains("&quot;x&quot;"));
        assert!(page.contains("a &amp; b"));
        assert!(page.contains("width=\"1.0\""));
    }

    #[test]
    fn a_page_of_nothing_is_a_page() {
        assert!(page(&[], &[]).ends_with("</html>\n"));
    }
}
