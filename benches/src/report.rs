//! The page of a report, on disk.

use std::fs;
use std::path::Path;

use crate::Failure;
use crate::html;
use crate::suites::Outcome;

/// Writes the page to `path`.
pub(crate) fn save(path: &Path, outcome: &Outcome) -> Result<(), Failure> {
    let page = html::page(&outcome.rows, &outcome.notes);
    fs::write(path, page).map_err(|e| format!("can't write {}: {e}", path.display()).into())
}
