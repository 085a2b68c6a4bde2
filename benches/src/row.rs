//! Measured figures, and files of them.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::Failure;

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
    /// Median of all rounds, only for times measured in this run; not stored in files.
    #[serde(skip)]
    pub(crate) median: Option<f64>,
}

/// Returns the rows as a JSON array, one row per line.
fn to_json(rows: &[Row]) -> Result<String, Failure> {
    let lines: Result<Vec<String>, _> = rows.iter().map(serde_json::to_string).collect();
    Ok(format!("[\n{}\n]\n", lines?.join(",\n")))
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
    serde_json::from_str(&text).map_err(|e| {
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
            median: None,
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
        let back: Vec<Row> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, rows);
        let none: Vec<Row> = serde_json::from_str(&to_json(&[]).unwrap()).unwrap();
        assert!(none.is_empty());
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
}
