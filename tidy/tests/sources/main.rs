//! Runs all checks over the sources of the repository.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::path::Path;

use tidy::{Finding, Source, doc_openings, long_lines, repeated_types, sources};

/// Packages with Rust sources.
const PACKAGES: [&str; 7] = [
    "benches",
    "derive",
    "fuzz",
    "jstream",
    "rmi",
    "tidy",
    "transport",
];

/// Packages whose `src` is a library that others build on.
const LIBRARIES: [&str; 4] = ["derive", "jstream", "rmi", "transport"];

fn sources_of(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let found = sources(&root.join(folder)).unwrap();
    assert!(!found.is_empty(), "{folder} has no Rust sources");
    found
}

fn all_sources() -> impl Iterator<Item = Source> {
    PACKAGES.into_iter().flat_map(sources_of)
}

fn assert_none(findings: &[Finding]) {
    let lines: Vec<_> = findings.iter().map(Finding::to_string).collect();
    assert!(
        lines.is_empty(),
        "{} findings:\n{}",
        lines.len(),
        lines.join("\n")
    );
}

#[test]
fn doc_comments_open_with_a_noun_or_a_verb() {
    assert_none(
        &all_sources()
            .flat_map(|source| doc_openings(&source))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn comments_have_at_most_100_columns() {
    assert_none(
        &all_sources()
            .flat_map(|source| long_lines(&source))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn private_type_names_occur_at_most_twice_in_a_crate() {
    for package in LIBRARIES {
        assert_none(&repeated_types(&sources_of(&format!("{package}/src"))));
    }
}
