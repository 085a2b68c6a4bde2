//! Measured figures, and files of them.
//!
//! Decision 096 has the reasons.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Failure;
use crate::distribution::Distribution;
use crate::environment::{Machine, Run, VERSION};

/// A figure of one subject.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    pub(crate) suite: String,
    pub(crate) case: String,
    pub(crate) subject: String,
    pub(crate) metric: String,
    /// Measured value. For times, the minimum of all rounds.
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// Distribution of the rounds. Counts, sizes and figures of old files have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<Distribution>,
    /// Run that measured the figure. In a file, only the first row of a run has it. Rows of files
    /// without a version have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Arc<Run>>,
}

impl Row {
    /// Returns the median of the rounds in nanoseconds, if the figure was timed.
    pub(crate) fn median(&self) -> Option<f64> {
        self.times.as_ref().map(|times| times.median)
    }

    /// Returns the value that ratios compare: the median for whole runs (`total`), whose rounds are
    /// few and vary, and the value itself for everything else. All tables take it from here, so
    /// that one case has one ratio.
    pub(crate) fn compared(&self) -> f64 {
        match self.median() {
            Some(median) if self.metric == "total" => median,
            _ => self.value,
        }
    }

    /// Returns the median of the rounds if the value is the time of the fastest one.
    pub(crate) fn shown_median(&self) -> Option<f64> {
        let times = self.times.as_ref().filter(|_| self.unit == "ns")?;
        (self.value < times.median).then_some(times.median)
    }

    /// Returns true if a larger value is better, as it is for rates.
    pub(crate) fn more_is_better(&self) -> bool {
        self.unit.ends_with("/s")
    }

    /// Returns true if both rows measure the same thing.
    pub(crate) fn is_same_figure(&self, other: &Self) -> bool {
        self.suite == other.suite
            && self.case == other.case
            && self.subject == other.subject
            && self.metric == other.metric
            && self.unit == other.unit
    }
}

/// Returns the rows as a JSON array, one row per line. The first row of each run has the run.
fn to_json(rows: &[Row]) -> Result<String, Failure> {
    // Rows without a run precede all others, because a row belongs to the last run before it.
    let (old, new): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.run.is_none());
    let mut lines = Vec::new();
    let mut last = None;
    for row in old.into_iter().chain(new) {
        let mut row = row.clone();
        let run = row.run.take();
        if run != last {
            row.run.clone_from(&run);
            last = run;
        }
        lines.push(serde_json::to_string(&row)?);
    }
    Ok(format!("[\n{}\n]\n", lines.join(",\n")))
}

/// Parses rows, and gives each row the run of the first row of its run.
fn from_json(text: &str) -> Result<Vec<Row>, Failure> {
    let values: Vec<Value> = serde_json::from_str(text)?;
    let versions = values.iter().filter_map(|row| row.pointer("/run/version"));
    for version in versions.filter_map(Value::as_u64) {
        if version > VERSION {
            return Err(format!(
                "the rows have version {version}, and this program reads up to {VERSION}; use a \
                 newer program"
            )
            .into());
        }
    }
    let mut rows = Vec::with_capacity(values.len());
    let mut run = None;
    for value in values {
        let mut row: Row = serde_json::from_value(value)?;
        match &row.run {
            Some(new) => run = Some(new.clone()),
            None => row.run.clone_from(&run),
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Writes the rows to `path`.
pub(crate) fn save(path: &Path, rows: &[Row]) -> Result<(), Failure> {
    fs::write(path, to_json(rows)?)
        .map_err(|e| format!("cannot write {}: {e}", path.display()).into())
}

/// Reads the rows of `path`.
pub(crate) fn load(path: &Path) -> Result<Vec<Row>, Failure> {
    let text =
        fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
    from_json(&text).map_err(|e| {
        format!(
            "{} holds no rows as --json writes them: {e}",
            path.display()
        )
        .into()
    })
}

/// Returns the distinct values of `key` among `rows`, in order of their first appearance.
pub(crate) fn distinct<'r>(
    rows: impl IntoIterator<Item = &'r Row>,
    key: impl Fn(&'r Row) -> &'r str,
) -> Vec<&'r str> {
    let mut found = Vec::new();
    for row in rows {
        let value = key(row);
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

/// Groups the rows by suite and case, in order of their first appearance.
pub(crate) fn by_case(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    for row in rows {
        let same = |group: &&mut Vec<&Row>| {
            group
                .first()
                .is_some_and(|first| first.suite == row.suite && first.case == row.case)
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Returns the distinct machines of the rows. A row of a file without a version has the machine
/// `None`.
fn machines<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<Option<&'a Machine>> {
    let mut found = Vec::new();
    for row in rows {
        let machine = row.run.as_ref().map(|run| &run.machine);
        if !found.contains(&machine) {
            found.push(machine);
        }
    }
    found
}

/// Checks that all rows are of one known machine.
pub(crate) fn check_one_machine<'a>(
    rows: impl IntoIterator<Item = &'a Row>,
) -> Result<(), Failure> {
    let found = machines(rows);
    let name = |machine: &Option<&Machine>| {
        machine.map_or_else(
            || "an unknown machine (a file without a version)".to_owned(),
            Machine::to_string,
        )
    };
    match found.as_slice() {
        [] | [Some(_)] => Ok(()),
        [None] => Err(format!(
            "the figures are of {}, so nothing says that they can be compared; --force compares \
             them all the same",
            name(&None)
        )
        .into()),
        [first, second, ..] => Err(format!(
            "the figures are of different machines: {} and {}; --force compares them all the same",
            name(first),
            name(second)
        )
        .into()),
    }
}

/// Returns the distinct runs of the rows, in order of their first appearance.
pub(crate) fn runs(rows: &[Row]) -> Vec<&Run> {
    let mut found: Vec<&Run> = Vec::new();
    for run in rows.iter().filter_map(|row| row.run.as_deref()) {
        if !found.contains(&run) {
            found.push(run);
        }
    }
    found
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::environment::tests::run_on;
    use crate::measure::Times;

    /// Creates a row of the case `suite/case`.
    pub(crate) fn row(case: &str, subject: &str, metric: &str, value: f64) -> Row {
        let (suite, case) = case.split_once('/').unwrap();
        Row {
            suite: suite.to_owned(),
            case: case.to_owned(),
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            value,
            unit: "ns".to_owned(),
            times: None,
            run: None,
        }
    }

    /// Creates a row of the case `suite/case` with a distribution, whose value is the minimum.
    pub(crate) fn timed(case: &str, subject: &str, metric: &str, rounds: Vec<f64>) -> Row {
        let times = Times::of(rounds, 1);
        Row {
            times: times.distribution,
            ..row(case, subject, metric, times.min)
        }
    }

    #[test]
    fn rows_come_back_from_json_one_per_line() {
        let rows = [
            row("s/c", "a\"b", "read", 1.25),
            row("s/c", "b", "read", 2.0),
        ];
        let json = to_json(&rows).unwrap();
        assert_eq!(json.lines().count(), 4);
        let line =
            r#"{"suite":"s","case":"c","subject":"b","metric":"read","value":2.0,"unit":"ns"}"#;
        assert_eq!(json.lines().nth(2), Some(line));
        assert_eq!(from_json(&json).unwrap(), rows);
        assert!(from_json(&to_json(&[]).unwrap()).unwrap().is_empty());
    }

    #[test]
    fn the_first_row_of_each_run_has_the_run() {
        let of = |cpu: Option<&str>, value: f64| {
            let mut row = timed("s/c", "jstream", "read", vec![value]);
            row.run = cpu.map(run_on);
            row
        };
        let rows = [
            of(None, 1.0),
            of(Some("a"), 2.0),
            of(Some("a"), 3.0),
            of(Some("b"), 4.0),
        ];
        let json = to_json(&rows).unwrap();
        let having: Vec<bool> = json.lines().map(|l| l.contains(r#""run":{"#)).collect();
        assert_eq!(having, [false, false, true, false, true, false]);
        assert!(json.contains(r#""version":2"#));
        assert_eq!(from_json(&json).unwrap(), rows);
        // Files that are joined still tell which run measured a row, but for rows without a run.
        let mixed = [of(Some("a"), 1.0), of(None, 2.0)];
        let back = from_json(&to_json(&mixed).unwrap()).unwrap();
        assert_eq!(back, [of(None, 2.0), of(Some("a"), 1.0)]);
    }

    #[test]
    fn files_without_a_version_are_read_and_newer_ones_are_refused() {
        let old = r#"[{"suite":"s","case":"c","subject":"b","metric":"m","value":2,"unit":"ns"}]"#;
        let rows = from_json(old).unwrap();
        assert_eq!(rows[0].median(), None);
        assert_eq!(rows[0].run, None);
        let mut newer = rows[0].clone();
        let mut run = (*run_on("a")).clone();
        run.version = VERSION + 1;
        newer.run = Some(Arc::new(run));
        let refused = from_json(&to_json(&[newer]).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("version 3"), "{refused}");
        for wrong in ["{}", "[1]", r#"[{"suite":"s"}]"#, "", "[{\"extra\":1}]"] {
            assert!(from_json(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = load(Path::new("/nowhere/rows.json")).unwrap_err();
        assert!(error.to_string().contains("/nowhere/rows.json"));
    }

    #[test]
    fn rows_are_grouped_in_order() {
        let rows = [
            row("s/b", "x", "read", 1.0),
            row("s/a", "x", "read", 2.0),
            row("s/b", "y", "read", 3.0),
        ];
        let groups = by_case(&rows);
        let values: Vec<Vec<f64>> = groups
            .iter()
            .map(|group| group.iter().map(|row| row.value).collect())
            .collect();
        assert_eq!(values, [vec![1.0, 3.0], vec![2.0]]);
        assert_eq!(distinct(&rows, |row| &row.subject), ["x", "y"]);
    }

    #[test]
    fn figures_of_two_machines_or_of_an_unknown_one_are_refused() {
        let of = |cpu: Option<&str>| {
            let mut row = row("s/c", "jstream", "read", 1.0);
            row.run = cpu.map(run_on);
            row
        };
        let refused =
            |rows: &[Row]| check_one_machine(rows).map_or_else(|e| e.to_string(), |()| "".into());
        assert_eq!(refused(&[]), "");
        assert_eq!(refused(&[of(Some("a")), of(Some("a"))]), "");
        assert!(refused(&[of(None)]).contains("unknown machine"));
        let two = refused(&[of(Some("a")), of(Some("b"))]);
        assert!(
            two.contains("different machines: a, 2 cores") && two.contains("and b,"),
            "{two}"
        );
        assert!(refused(&[of(Some("a")), of(None)]).contains("--force"));
        assert_eq!(runs(&[of(Some("a")), of(None), of(Some("b"))]).len(), 2);
    }
}
