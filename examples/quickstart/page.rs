//! The output: a short page, whatever the file contains.

use std::io::{self, Write};
use std::time::Duration;

use thiserror::Error;

use crate::measure::Costs;
use crate::service::Summary;

/// Error of writing to standard output.
#[derive(Debug, Error)]
#[error("can't write the output: {0}")]
pub(crate) struct OutputError(io::Error);

impl From<io::Error> for OutputError {
    fn from(error: io::Error) -> Self {
        Self(error)
    }
}

impl OutputError {
    /// Returns true if the reader has closed the pipe, which is not a failure of this program.
    pub(crate) fn nobody_reads(&self) -> bool {
        self.0.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Maximum number of names of a list, and of versions of a name, that are printed.
pub(crate) const NAMES: usize = 20;
const VERSIONS: usize = 6;

type Printed = Result<(), OutputError>;

/// Prints the file and the size of the graph.
pub(crate) fn summary(out: &mut impl Write, file: &str, summary: Summary) -> Printed {
    let packages = counted(summary.packages, "package", "packages");
    let dependencies = counted(summary.edges, "dependency", "dependencies");
    writeln!(out, "{file}: {packages}, {dependencies}")?;
    Ok(())
}

/// Prints a list of names under a heading, on one line.
pub(crate) fn names(out: &mut impl Write, heading: &str, names: &[&str], between: &str) -> Printed {
    let count = grouped(names.len() as u64);
    let line = ends(names, NAMES, |name| shown(name)).join(between);
    writeln!(out, "\n{heading} ({count}):\n    {line}")?;
    Ok(())
}

/// Prints names with their versions under a heading, with one line for each name.
pub(crate) fn versions(
    out: &mut impl Write,
    heading: &str,
    several: &[(&str, &[&str])],
) -> Printed {
    writeln!(out, "\n{heading} ({}):", grouped(several.len() as u64))?;
    let lines = ends(several, NAMES, |(name, versions)| {
        let versions = ends(versions, VERSIONS, |version| shown(version)).join(", ");
        format!("{}: {versions}", shown(name))
    });
    for line in lines {
        writeln!(out, "    {line}")?;
    }
    Ok(())
}

/// Prints the measurements.
pub(crate) fn costs(out: &mut impl Write, costs: &Costs) -> Printed {
    let rounds = counted(costs.rounds as u64, "round", "rounds");
    let in_ms = costs.call >= Duration::from_millis(10);
    let bytes = grouped(costs.bytes as u64);
    writeln!(out, "\nCost (medians of {rounds}):")?;
    for (what, amount) in [
        ("bytes sent for the graph", bytes),
        ("in this process, in a heap buffer:", String::new()),
        ("  writing the graph", time(costs.write, in_ms)),
        (
            "  checking it and making it native",
            time(costs.read, in_ms),
        ),
        ("between the two processes, over TCP:", String::new()),
        ("  round trip of the call", time(costs.call, in_ms)),
        (
            "  round trip of a bare socket, as many bytes",
            time(costs.raw, in_ms),
        ),
    ] {
        let line = format!("    {what:<44}{amount:>13}");
        writeln!(out, "{}", line.trim_end())?;
    }
    out.flush()?;
    Ok(())
}

/// Returns the items of a list. If it has more than `most` items, returns those at both ends, and
/// the number of items in between.
pub(crate) fn ends<T>(items: &[T], most: usize, show: impl Fn(&T) -> String) -> Vec<String> {
    if items.is_empty() {
        return vec!["none".to_owned()];
    }
    if items.len() <= most {
        return items.iter().map(show).collect();
    }
    let first = most / 2;
    let last = items
        .len()
        .saturating_sub(most.saturating_sub(first.saturating_add(1)));
    let between = grouped(last.saturating_sub(first) as u64);
    let mut shown: Vec<String> = items.iter().take(first).map(&show).collect();
    shown.push(format!("... {between} more ..."));
    shown.extend(items.iter().skip(last).map(&show));
    shown
}

/// Escapes and truncates a name of the file.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 80;
    match name.char_indices().nth(LONGEST) {
        Some((end, _)) => escaped(name.get(..end).unwrap_or_default()) + "...",
        None => escaped(name),
    }
}

/// Escapes control characters, which a terminal would interpret.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\'' | '"' | '\\' => escaped.push(char),
            _ => escaped.extend(char.escape_debug()),
        }
    }
    escaped
}

fn counted(count: u64, one: &str, many: &str) -> String {
    let noun = if count == 1 { one } else { many };
    format!("{} {noun}", grouped(count))
}

/// Formats a number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && digits.len().saturating_sub(place) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats a time with one decimal, in ms or us.
fn time(time: Duration, in_ms: bool) -> String {
    let (tenths, unit) = if in_ms {
        (time.as_micros() / 100, "ms")
    } else {
        (time.as_nanos() / 100, "us")
    };
    let whole = grouped(u64::try_from(tenths / 10).unwrap_or(u64::MAX));
    format!("{whole}.{} {unit}", tenths % 10)
}
