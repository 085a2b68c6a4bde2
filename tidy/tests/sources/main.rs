//! Runs all checks over the sources of the repository.
#![allow(clippy::unwrap_used, reason = "test code")]

use std::fs;
use std::path::Path;

use tidy::{
    Finding, Source, doc_openings, error_debugs, error_sources, long_lines, repeated_types,
    sources, upward_imports,
};

/// Packages with Rust sources.
const PACKAGES: [&str; 9] = [
    "benches",
    "derive",
    "examples",
    "fuzz",
    "jstream",
    "rmi",
    "sync",
    "tidy",
    "transport",
];

/// Folders of libraries that others build on. The layers of the transport count as one.
const LIBRARIES: [&str; 5] = ["derive", "jstream", "rmi", "sync", "transport"];

/// Packages whose modules are layers, with the layers in their order. Each imports only from those
/// before it.
const LAYERS: [(&str, &[&str]); 1] = [(
    "rmi",
    &[
        "support",
        "frame",
        "interface",
        "session",
        "reference",
        "stream",
        "call",
        "client",
        "server",
        "directory",
        "mock",
    ],
)];

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
fn errors_include_their_causes_in_their_texts() {
    for package in ["examples", "jstream", "rmi", "sync", "transport"] {
        let sources = sources_of(package);
        assert_none(&sources.iter().flat_map(error_sources).collect::<Vec<_>>());
    }
}

#[test]
fn errors_print_their_sentence_by_debug() {
    for package in ["jstream", "rmi", "sync", "transport"] {
        let mut sources = sources_of(package);
        sources.retain(|source| source.path.iter().any(|folder| folder == "src"));
        assert_none(&error_debugs(&sources));
    }
}

#[test]
fn front_pages_name_the_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (readme, architecture) = (read("README.md"), read("ARCHITECTURE.md"));
    let mut programs = 0;
    for package in ["jstream", "transport", "rmi"] {
        let manifest = read(&format!("{package}/Cargo.toml"));
        let pages = [
            read(&format!("{package}/src/lib.rs")),
            read(&format!("{package}/README.md")),
            readme.clone(),
            architecture.clone(),
        ];
        for bin in manifest.split("[[bin]]").skip(1) {
            let name = bin.split('"').nth(1).unwrap();
            for page in &pages {
                assert!(page.contains(&format!("`{name}`")), "{package}: {name}");
            }
            programs += 1;
        }
    }
    assert_eq!(programs, 5);
}

#[test]
fn private_type_names_occur_at_most_twice_in_a_crate() {
    for package in LIBRARIES {
        let mut sources = sources_of(package);
        sources.retain(|source| source.path.iter().any(|folder| folder == "src"));
        assert_none(&repeated_types(&sources));
    }
}

#[test]
fn layers_import_only_from_those_before_them() {
    for (package, layers) in LAYERS {
        for layer in layers {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
            let module = root.join(package).join("src").join(layer);
            let exists = module.is_dir() || module.with_extension("rs").is_file();
            assert!(exists, "{package} has no layer {layer}");
        }
        assert_none(&upward_imports(
            &sources_of(&format!("{package}/src")),
            layers,
        ));
    }
}
