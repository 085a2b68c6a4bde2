//! Limits of instruction counts, and their comparison.
//!
//! Decision 097 has the reasons.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Number of operations of each path that are counted together.
pub(crate) const OPERATIONS: u32 = 1_000;

/// The command that makes the counts of this run the limits.
const UPDATE: &str = "cargo bench --workspace --bench counts -- --update";

/// The excess over a limit that is no fault, as a fraction of the limit. Hash functions with random
/// keys and the addresses of allocations move some counts by less.
const TOLERANCE: f64 = 0.02;

/// Instructions of each path, for [`OPERATIONS`] operations.
pub(crate) type Counts = BTreeMap<String, u64>;

/// Counts that were taken with one compiler.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Limits {
    compiler: String,
    instructions_per_thousand: Counts,
}

impl Limits {
    pub(crate) fn new(compiler: String, counts: Counts) -> Self {
        Self {
            compiler,
            instructions_per_thousand: counts,
        }
    }

    /// Parses the content of the file with the limits.
    pub(crate) fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// Returns the content of the file with the limits.
    pub(crate) fn to_json(&self) -> Result<String, serde_json::Error> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Returns the compiler with which the limits were counted.
    pub(crate) fn compiler(&self) -> &str {
        &self.compiler
    }

    /// Returns a table with a line for each path: the instructions of an operation, those of its
    /// limit, and the change.
    pub(crate) fn table(&self, counts: &Counts) -> String {
        let mut out = format!(
            "{:<28} {:>12} {:>12} {:>8}\n",
            "path", "instructions", "limit", "change"
        );
        for (path, &count) in counts {
            let limit = self.instructions_per_thousand.get(path).copied();
            let shown = limit.map_or_else(|| "-".to_owned(), per_operation);
            let change = limit.map_or_else(|| "new".to_owned(), |limit| change(count, limit));
            // Writing to a string does not fail.
            let _ = writeln!(
                out,
                "{path:<28} {:>12} {shown:>12} {change:>8}",
                per_operation(count)
            );
        }
        out
    }

    /// Returns a line for each path that exceeds its limit by more than the tolerance, has no
    /// limit, or has a limit without a count.
    pub(crate) fn faults(&self, counts: &Counts) -> Vec<String> {
        let mut faults = Vec::new();
        for (path, &count) in counts {
            match self.instructions_per_thousand.get(path) {
                None => faults.push(format!("path {path} has no limit; set it with: {UPDATE}")),
                Some(&limit) if exceeds(count, limit) => faults.push(format!(
                    "path {path} takes {} instructions, {} over the limit of {} (tolerance {} %); \
                     if this is intended, raise the limit with: {UPDATE}",
                    per_operation(count),
                    change(count, limit),
                    per_operation(limit),
                    TOLERANCE * 100.0
                )),
                Some(_) => {}
            }
        }
        for path in self.instructions_per_thousand.keys() {
            if !counts.contains_key(path) {
                faults.push(format!(
                    "path {path} has a limit but was not counted; remove the limit with: {UPDATE}"
                ));
            }
        }
        faults
    }
}

#[allow(
    clippy::cast_precision_loss,
    reason = "counts are far below the integers that a double cannot represent"
)]
fn exceeds(count: u64, limit: u64) -> bool {
    count as f64 > limit as f64 * (1.0 + TOLERANCE)
}

/// Formats the instructions of one operation.
#[allow(
    clippy::cast_precision_loss,
    reason = "counts are far below the integers that a double cannot represent"
)]
fn per_operation(count: u64) -> String {
    format!("{:.1}", count as f64 / f64::from(OPERATIONS))
}

/// Formats the change from a limit to a count.
#[allow(
    clippy::cast_precision_loss,
    reason = "counts are far below the integers that a double cannot represent"
)]
fn change(count: u64, limit: u64) -> String {
    format!("{:+.1} %", (count as f64 / limit as f64 - 1.0) * 100.0)
}

/// Takes the counts from the output of gungraun, which has one JSON object per path.
pub(crate) fn counts(output: &str) -> Result<Counts, Box<dyn Error + Send + Sync>> {
    let mut counts = Counts::new();
    for summary in serde_json::Deserializer::from_str(output).into_iter::<Value>() {
        let summary = summary?;
        let path = summary.get("id").and_then(Value::as_str);
        let path = path.ok_or("a summary of gungraun names no path")?;
        let count = instructions(&summary);
        let count = count.ok_or_else(|| format!("gungraun counted nothing for {path}"))?;
        counts.insert(path.to_owned(), count);
    }
    if counts.is_empty() {
        return Err("gungraun ran no path".into());
    }
    Ok(counts)
}

/// Returns the instructions in a summary of gungraun. If it compares two runs, the first is the new
/// one.
fn instructions(summary: &Value) -> Option<u64> {
    let metrics = summary.pointer("/profiles/0/summaries/total/summary/Callgrind/Ir/metrics")?;
    let new = metrics.get("Left").or_else(|| metrics.pointer("/Both/0"))?;
    new.get("Int")?.as_u64()
}
