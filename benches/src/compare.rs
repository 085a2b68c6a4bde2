//! Comparison of two files of rows: figures that became faster or slower beyond noise.
//!
//! Times are compared by the Mann-Whitney test on all rounds that the histograms keep. It assumes
//! no shape of the distribution, which has outliers on one side only. A single slow round counts as
//! one round and no more. Unlike a bootstrap, it has the same result every time. A figure counts as
//! changed if the test statistic exceeds [`Z`] and the medians differ by more than [`SMALLEST`].
//!
//! The test knows the noise within a run. Between runs there is more: the layout of the code and of
//! memory, and what else the machine does. A difference is certain only if it appears again when
//! both builds are measured again.
//!
//! Decision 096 has the reasons.

use std::cmp::Ordering;
use std::fmt::Write;

use crate::Failure;
use crate::distribution::Distribution;
use crate::row::{Row, check_one_machine, runs};
use crate::table::{number, push_aligned};

/// Text after the options in the output of --help.
pub(crate) const HELP: &str = "\
Times are compared by the Mann-Whitney test on all rounds. They count as changed if the test is
certain (4 standard deviations) and the medians differ by more than 1 %. Counts and sizes are
compared exactly. Measure both builds again before you believe a difference: the test knows the noise
within a run, and not that between runs.

Exit codes: 0 on success, 1 on failure and if a figure became worse by more than --fail-above, 2 on
wrong usage.";

/// Standard deviations that the rank sum of equal distributions exceeds in 6 of 100,000 figures.
const Z: f64 = 4.0;
/// Smallest relative difference of two medians that is a change. The histograms keep differences of
/// 0.1 %.
const SMALLEST: f64 = 0.01;
/// Smallest absolute difference of two counts that is a change. Allocations of other threads make
/// small fractions.
const SMALLEST_COUNT: f64 = 0.01;

/// Result for one figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verdict {
    /// Slower, or more bytes or allocations, beyond noise.
    Worse,
    /// Faster, or fewer bytes or allocations, beyond noise.
    Better,
    /// No difference beyond noise.
    Same,
    /// Too few rounds for any result, or no rounds that the files keep.
    Untested,
}

/// A figure of both files.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) old: Row,
    pub(crate) new: Row,
    /// Relative increase of the cost: 0.1 if the new time or size is 10 % above the old one.
    pub(crate) change: f64,
    pub(crate) verdict: Verdict,
}

impl Line {
    /// Returns the names of suite, case, subject and metric.
    pub(crate) fn name(&self) -> String {
        name(&self.new)
    }

    /// Returns true if both files have the rounds of the figure.
    pub(crate) fn is_timed(&self) -> bool {
        self.old.times.is_some() && self.new.times.is_some()
    }

    /// Returns the old and the new figure. A time is the median, by which it is compared.
    pub(crate) fn values(&self) -> [f64; 2] {
        [&self.old, &self.new].map(|row| match row.median() {
            Some(median) if row.unit == "ns" => median,
            _ => row.value,
        })
    }

    fn new(old: &Row, new: &Row) -> Result<Self, Failure> {
        let (change, verdict) = match (&old.times, &new.times) {
            (Some(old), Some(new)) => {
                let change = new.median / old.median - 1.0;
                (change, tested(old, new, change)?)
            }
            _ => {
                let change = cost_ratio(old, new) - 1.0;
                (change, exact(old, new, change))
            }
        };
        Ok(Self {
            old: old.clone(),
            new: new.clone(),
            change,
            verdict,
        })
    }
}

/// Returns the names of suite, case, subject and metric of a row.
fn name(row: &Row) -> String {
    let Row {
        suite,
        case,
        subject,
        metric,
        ..
    } = row;
    format!("{suite} / {case}: {subject}, {metric}")
}

/// Returns the ratio of the new cost to the old one, where a rate is an inverse cost.
fn cost_ratio(old: &Row, new: &Row) -> f64 {
    if old.value.total_cmp(&new.value) == Ordering::Equal {
        return 1.0;
    }
    if new.more_is_better() {
        old.value / new.value
    } else {
        new.value / old.value
    }
}

/// Returns the verdict on two times whose medians differ by `change`.
fn tested(old: &Distribution, new: &Distribution, change: f64) -> Result<Verdict, Failure> {
    let Some(z) = mann_whitney(&old.cells()?, &new.cells()?) else {
        return Ok(Verdict::Untested);
    };
    // The medians and the ranks of two distributions with several peaks can disagree.
    Ok(if z > Z && change > SMALLEST {
        Verdict::Worse
    } else if z < -Z && change < -SMALLEST {
        Verdict::Better
    } else {
        Verdict::Same
    })
}

/// Returns the verdict on two figures without rounds. Counts and sizes have no noise; nothing is
/// known about the noise of other figures.
fn exact(old: &Row, new: &Row, change: f64) -> Verdict {
    if !matches!(new.unit.as_str(), "count" | "B") {
        return Verdict::Untested;
    }
    if change.abs() <= SMALLEST || (new.value - old.value).abs() <= SMALLEST_COUNT {
        return Verdict::Same;
    }
    if change > 0.0 {
        Verdict::Worse
    } else {
        Verdict::Better
    }
}

/// Returns how many standard deviations the rank sum of the new rounds is above that of two equal
/// distributions, with the correction for ties. Returns `None` if there are so few rounds that no
/// result could exceed [`Z`].
fn mann_whitney(old: &[(f64, u64)], new: &[(f64, u64)]) -> Option<f64> {
    let rounds = |cells: &[(f64, u64)]| cells.iter().map(|(_, n)| *n as f64).sum::<f64>();
    let (olds, news) = (rounds(old), rounds(new));
    let all = olds + news;
    let mean = olds * news / 2.0;
    if mean / (olds * news * (all + 1.0) / 12.0).sqrt() <= Z || !mean.is_normal() {
        return None;
    }
    let mut cells: Vec<(f64, f64, f64)> = old
        .iter()
        .map(|(ns, n)| (*ns, *n as f64, 0.0))
        .chain(new.iter().map(|(ns, n)| (*ns, 0.0, *n as f64)))
        .collect();
    cells.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    // `above` counts the pairs in which the new round is slower, and half of the equal pairs.
    let (mut above, mut ties, mut olds_below) = (0.0, 0.0, 0.0);
    for group in cells.chunk_by(|a, b| a.0.total_cmp(&b.0) == Ordering::Equal) {
        let of_old: f64 = group.iter().map(|cell| cell.1).sum();
        let of_new: f64 = group.iter().map(|cell| cell.2).sum();
        above += of_new * (olds_below + of_old / 2.0);
        olds_below += of_old;
        let tied = of_old + of_new;
        ties += tied * tied * tied - tied;
    }
    let variance = olds * news / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    if variance <= 0.0 {
        // All rounds are in the same cell.
        return Some(0.0);
    }
    Some((above - mean) / variance.sqrt())
}

/// Two files, compared.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Figures of both files. The largest increase comes first.
    pub(crate) lines: Vec<Line>,
    /// Names of figures of the old file that the new file lacks.
    pub(crate) missing: Vec<String>,
    /// Names of figures of the new file that the old file lacks.
    pub(crate) added: Vec<String>,
    /// Descriptions of the runs, old before new.
    pub(crate) runs: Vec<String>,
}

impl Comparison {
    /// Compares the rows of two files. Unless `force`, it is an error if the old and the new row of
    /// a figure are of different or of unknown machines; the figures of one file may be of several.
    /// Rows that have nothing in common are an error, too.
    pub(crate) fn of(old: &[Row], new: &[Row], force: bool) -> Result<Self, Failure> {
        let mut found = Self::default();
        for (of, rows) in [("old", old), ("new", new)] {
            let runs = runs(rows).into_iter();
            found.runs.extend(runs.map(|run| {
                let (command, machine, build) = (&run.command, &run.machine, &run.build);
                format!("{of}: `{command}`, {build}, on {machine}")
            }));
        }
        for row in new {
            match old.iter().find(|old| old.is_same_figure(row)) {
                Some(old) => {
                    if !force {
                        check_one_machine([old, row])?;
                    }
                    found.lines.push(Line::new(old, row)?);
                }
                None => found.added.push(name(row)),
            }
        }
        let lacking = old
            .iter()
            .filter(|row| !new.iter().any(|new| new.is_same_figure(row)));
        found.missing.extend(lacking.map(name));
        if found.lines.is_empty() {
            return Err(
                "the files have no figure in common, so there is nothing to compare".into(),
            );
        }
        let lines = &mut found.lines;
        lines.sort_by(|a, b| b.change.total_cmp(&a.change));
        Ok(found)
    }

    /// Returns the figures with this verdict, the largest change first.
    pub(crate) fn with(&self, verdict: Verdict) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.iter().filter(|l| l.verdict == verdict).collect();
        if verdict == Verdict::Better {
            lines.reverse();
        }
        lines
    }

    /// Returns the figures that became worse by more than `limit`.
    pub(crate) fn above(&self, limit: f64) -> Vec<&Line> {
        let mut worse = self.with(Verdict::Worse);
        worse.retain(|line| line.change > limit);
        worse
    }

    /// Returns an error that names the figures that became worse by more than `limit`, if there are
    /// any.
    pub(crate) fn check(&self, limit: f64) -> Result<(), Failure> {
        let above = self.above(limit);
        if above.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = above
            .iter()
            .map(|line| format!("{} ({})", line.name(), percent(line.change)))
            .collect();
        Err(format!(
            "{} of {} figures became worse by more than {}: {}",
            above.len(),
            self.lines.len(),
            percent(limit).trim_start_matches('+'),
            names.join("; ")
        )
        .into())
    }

    /// Returns one sentence with the number of figures for each verdict.
    pub(crate) fn summary(&self) -> String {
        let count = |verdict| self.with(verdict).len();
        format!(
            "{} figures: {} slower or larger, {} faster or smaller, {} within noise, {} untested \
             (too few rounds, or none kept); {} missing, {} added",
            self.lines.len(),
            count(Verdict::Worse),
            count(Verdict::Better),
            count(Verdict::Same),
            count(Verdict::Untested),
            self.missing.len(),
            self.added.len(),
        )
    }

    /// Returns the comparison as text.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a `String` cannot fail, neither here nor below.
        for run in &self.runs {
            let _ = writeln!(out, "{run}");
        }
        for (title, verdict) in [
            ("slower or larger", Verdict::Worse),
            ("faster or smaller", Verdict::Better),
        ] {
            let found = self.with(verdict);
            if found.is_empty() {
                continue;
            }
            let _ = writeln!(out, "\n{title}");
            let header = ["figure", "unit", "old", "new", "change"].map(str::to_owned);
            let mut lines = vec![header.to_vec()];
            lines.extend(found.iter().map(|line| cells(line).to_vec()));
            push_aligned(&mut out, &lines);
        }
        for (title, names) in [("missing", &self.missing), ("added", &self.added)] {
            if !names.is_empty() {
                let _ = writeln!(out, "\n{title}\n  {}", names.join("\n  "));
            }
        }
        let _ = writeln!(out, "\n{}", self.summary());
        out
    }
}

/// Returns the cells of a figure's line: its name, the unit, both values, and the change.
pub(crate) fn cells(line: &Line) -> [String; 5] {
    let [old, new] = line.values().map(number);
    [
        line.name(),
        line.new.unit.clone(),
        old,
        new,
        percent(line.change),
    ]
}

/// Formats a relative change: `+12.3%`, or as a multiple (`x21`) if it is more than tenfold.
pub(crate) fn percent(change: f64) -> String {
    if change.is_finite() && change > 10.0 {
        format!("x{}", number((change + 1.0).round()))
    } else if change.is_finite() {
        format!("{:+.1}%", change * 100.0)
    } else {
        "from 0".to_owned()
    }
}

/// Parses a limit: `5%`, or `5` for the same.
pub(crate) fn limit(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.parse::<f64>() {
        Ok(percent) if percent.is_finite() && percent >= 0.0 => Ok(percent / 100.0),
        _ => Err(format!("`{text}` is no percentage of at least 0, like 5%")),
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_pcg::Lcg64Xsh32;

    use super::*;
    use crate::environment::tests::run_on;
    use crate::row::tests::{row, timed};

    /// Returns rounds like those of a measurement: a lower bound, and a tail of slow rounds.
    fn rounds(seed: u64, count: usize, ns: f64) -> Vec<f64> {
        let mut random = Lcg64Xsh32::seed_from_u64(seed);
        let mut round = || {
            let slow: f64 = random.r#gen();
            ns * (1.0 + 0.05 * -slow.ln() + if slow < 0.01 { 3.0 } else { 0.0 })
        };
        (0..count).map(|_| round()).collect()
    }

    fn of(seed: u64, count: usize, ns: f64) -> Row {
        Row {
            run: Some(run_on("a")),
            ..timed("s/c", "jstream", "read", rounds(seed, count, ns))
        }
    }

    fn verdict(old: Row, new: Row) -> Verdict {
        let found = Comparison::of(&[old], &[new], false).unwrap();
        found.lines[0].verdict
    }

    #[test]
    fn equal_distributions_do_not_differ() {
        // Each pair of 200 has another seed. One false verdict among 16,000 is expected.
        for seed in 0..200 {
            let (old, new) = (of(seed, 500, 100.0), of(seed + 1_000, 500, 100.0));
            assert_eq!(verdict(old, new), Verdict::Same, "{seed}");
        }
        let row = of(1, 500, 100.0);
        assert_eq!(verdict(row.clone(), row), Verdict::Same);
    }

    #[test]
    fn ten_percent_are_found_in_both_directions() {
        for seed in 0..50 {
            let (old, new) = (of(seed, 200, 100.0), of(seed + 1_000, 200, 110.0));
            assert_eq!(verdict(old.clone(), new.clone()), Verdict::Worse, "{seed}");
            assert_eq!(verdict(new, old), Verdict::Better, "{seed}");
        }
        // The fewest rounds of a measurement suffice if the distributions hardly overlap.
        assert_eq!(verdict(of(1, 20, 100.0), of(2, 20, 150.0)), Verdict::Worse);
    }

    #[test]
    fn a_certain_difference_below_one_percent_is_no_change() {
        let (old, new) = (of(1, 2_000, 100.0), of(1, 2_000, 100.5));
        assert_eq!(verdict(old, new), Verdict::Same);
    }

    #[test]
    fn few_rounds_have_no_result() {
        for (olds, news) in [(1, 1), (5, 5), (1, 2_000), (8, 8)] {
            let (old, new) = (of(1, olds, 100.0), of(2, news, 900.0));
            assert_eq!(verdict(old, new), Verdict::Untested, "{olds}, {news}");
        }
    }

    #[test]
    fn rounds_that_all_take_the_same_time_are_compared() {
        let equal = |ns: f64| Row {
            run: Some(run_on("a")),
            ..timed("s/c", "jstream", "read", vec![ns; 50])
        };
        assert_eq!(verdict(equal(10.0), equal(10.0)), Verdict::Same);
        assert_eq!(verdict(equal(10.0), equal(11.0)), Verdict::Worse);
    }

    #[test]
    fn the_statistic_is_that_of_a_worked_example() {
        // 1 2 2 against 2 3 4: 7.5 of 9 pairs, variance 9/12 * (7 - 24/30), each ten times.
        let old = [(1.0, 10), (2.0, 20)];
        let new = [(2.0, 10), (3.0, 10), (4.0, 10)];
        let pairs: f64 = 100.0 + 0.5 * 200.0 + 600.0;
        let ties: f64 = 3.0 * (1_000.0 - 10.0) + (27_000.0 - 30.0);
        let variance: f64 = 900.0 / 12.0 * (61.0 - ties / (60.0 * 59.0));
        let z = mann_whitney(&old, &new).unwrap();
        assert!((z - (pairs - 450.0) / variance.sqrt()).abs() < 1e-9, "{z}");
        let back = mann_whitney(&new, &old).unwrap();
        assert!((z + back).abs() < 1e-9);
        assert_eq!(mann_whitney(&[], &new), None);
    }

    #[test]
    fn counts_have_no_noise_and_rates_are_better_if_larger() {
        let unit = |unit: &str, value: f64| Row {
            unit: unit.to_owned(),
            run: Some(run_on("a")),
            ..row("s/c", "jstream", "m", value)
        };
        for (of, old, new, expected) in [
            ("count", 0.0, 1.0, Verdict::Worse),
            ("count", 2.0, 1.0, Verdict::Better),
            ("count", 0.0, 0.0, Verdict::Same),
            ("count", 0.000_1, 0.000_3, Verdict::Same),
            ("B", 100.0, 120.0, Verdict::Worse),
            ("ns", 100.0, 120.0, Verdict::Untested),
        ] {
            assert_eq!(verdict(unit(of, old), unit(of, new)), expected, "{of}");
        }
        // The rate fell, and the times of its rounds rose.
        let rate = |seed, ns: f64| Row {
            unit: "1/s".to_owned(),
            value: 1e9 / ns,
            ..of(seed, 200, ns)
        };
        assert_eq!(verdict(rate(1, 100.0), rate(2, 120.0)), Verdict::Worse);
        let text = Comparison::of(&[unit("count", 0.0)], &[unit("count", 1.0)], false);
        assert!(text.unwrap().text().contains("from 0"));
    }

    #[test]
    fn missing_and_added_figures_are_named() {
        let other = Row {
            metric: "write".to_owned(),
            ..of(1, 50, 10.0)
        };
        let (old, new) = ([of(1, 50, 10.0), other.clone()], [of(1, 50, 10.0)]);
        let found = Comparison::of(&old, &new, false).unwrap();
        assert_eq!(found.missing, ["s / c: jstream, write"]);
        assert!(found.added.is_empty());
        assert!(
            found
                .text()
                .contains("\nmissing\n  s / c: jstream, write\n")
        );
        let found = Comparison::of(&new, &old, false).unwrap();
        assert_eq!(found.added, ["s / c: jstream, write"]);
        let nothing = Comparison::of(&[other], &new, false).unwrap_err();
        assert!(nothing.to_string().contains("no figure in common"));
        assert!(Comparison::of(&[], &[], true).is_err());
    }

    #[test]
    fn only_increases_above_the_limit_fail() {
        let found = Comparison::of(&[of(1, 200, 100.0)], &[of(2, 200, 110.0)], false).unwrap();
        assert_eq!(found.above(limit("5%").unwrap()).len(), 1);
        assert_eq!(found.above(limit("20").unwrap()).len(), 0);
        let found = Comparison::of(&[of(1, 200, 110.0)], &[of(2, 200, 100.0)], false).unwrap();
        assert_eq!(found.above(0.0).len(), 0);
        assert!(found.text().contains("faster or smaller"));
        for wrong in ["", "%", "-1%", "inf", "five"] {
            assert!(limit(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn other_machines_are_refused_unless_forced() {
        let here = of(1, 50, 100.0);
        let mut there = of(2, 50, 100.0);
        there.run = Some(run_on("b"));
        let (old, new) = ([here], [there]);
        let refused = Comparison::of(&old, &new, false).unwrap_err();
        assert!(refused.to_string().contains("different machines"));
        assert_eq!(Comparison::of(&old, &new, true).unwrap().lines.len(), 1);
    }

    #[test]
    fn a_file_may_have_figures_of_two_machines() {
        let here = of(1, 50, 100.0);
        let mut there = of(2, 50, 100.0);
        there.case = "other".to_owned();
        there.run = Some(run_on("b"));
        let rows = [here, there];
        let found = Comparison::of(&rows, &rows, false).unwrap();
        assert_eq!((found.lines.len(), found.runs.len()), (2, 4));
    }
}
