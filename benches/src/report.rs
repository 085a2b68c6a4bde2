//! Output files of a report.

use std::fs;
use std::path::Path;

use crate::suites::Outcome;
use crate::{Failure, markdown, page};

/// Writes the page to `path`.
pub(crate) fn save_page(path: &Path, outcome: &Outcome) -> Result<(), Failure> {
    save(path, &page::report(&outcome.rows, &outcome.notes)?)
}

/// Writes the tables of ratios to `path`.
pub(crate) fn save_tables(path: &Path, outcome: &Outcome) -> Result<(), Failure> {
    save(path, &markdown::text(&outcome.rows))
}

/// Writes a text to `path`.
pub(crate) fn save(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()).into())
}
