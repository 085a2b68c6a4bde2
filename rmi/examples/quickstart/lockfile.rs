//! A `Cargo.lock`, as far as the graph needs it.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use crate::graph::Package;
use crate::page::{NAMES, ends, escaped, shown};

/// The file's packages.
#[derive(Debug, Deserialize)]
pub(crate) struct Lockfile {
    /// The file's name as it is shown.
    #[serde(skip)]
    pub(crate) file: String,
    #[serde(default)]
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    /// `name`, `name version` or `name version (source)`, as much as is needed to be unambiguous.
    #[serde(default)]
    dependencies: Vec<String>,
}

/// The packages of a name, and of a name in a version, with their places.
type Places<'a> = HashMap<(&'a str, Option<&'a str>), Vec<(u32, &'a Locked)>>;

impl Lockfile {
    /// Reads a file that has packages.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = escaped(&path.display().to_string());
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("can't read {file}: {error}"))?;
        let lockfile: Self = toml::from_str(&text).map_err(|error| {
            let before = error.span().and_then(|at| text.as_bytes().get(..at.start));
            let before = before.unwrap_or_default().iter();
            let line = before.filter(|byte| **byte == b'\n').count();
            let (line, what) = (line.saturating_add(1), escaped(error.message()));
            format!("{file} is no Cargo.lock: line {line}: {what}")
        })?;
        if lockfile.package.is_empty() {
            return Err(format!("{file} has no packages"));
        }
        Ok(Self { file, ..lockfile })
    }

    /// For each package the places of its dependencies.
    pub(crate) fn edges(&self) -> Result<Vec<Vec<u32>>, String> {
        let mut places = Places::new();
        for (place, package) in (0..).zip(&self.package) {
            for version in [None, Some(package.version.as_str())] {
                let places = places.entry((&package.name, version)).or_default();
                places.push((place, package));
            }
        }
        let of_one = |of: &Locked| -> Result<Vec<u32>, String> {
            let needs = of.dependencies.iter();
            let found = needs.map(|dependency| {
                resolve(&places, dependency).map_err(|why| {
                    let (file, of, dependency) = (&self.file, of.shown(), shown(dependency));
                    format!("{file}: `{of}` depends on `{dependency}`, which {why}")
                })
            });
            found.collect()
        };
        self.package.iter().map(of_one).collect()
    }

    /// The packages of the graph, with these edges.
    pub(crate) fn packages<'a>(&'a self, edges: &'a [Vec<u32>]) -> Vec<Package<'a>> {
        let packages = self.package.iter().zip(edges);
        packages
            .map(|(package, dependencies)| Package {
                name: &package.name,
                version: &package.version,
                dependencies,
            })
            .collect()
    }
}

impl Locked {
    /// Whether it comes from there. A dependency may leave out the commit of a git source.
    fn is_from(&self, source: &str) -> bool {
        let own = self.source.as_deref().unwrap_or_default();
        own == source || own.split_once('#').is_some_and(|(own, _)| own == source)
    }

    fn shown(&self) -> String {
        let (name, version) = (shown(&self.name), shown(&self.version));
        match &self.source {
            Some(source) => format!("{name} {version} ({})", shown(source)),
            None => format!("{name} {version}"),
        }
    }
}

/// The only package that a dependency may mean, or what is wrong with it.
fn resolve(places: &Places<'_>, dependency: &str) -> Result<u32, String> {
    let mut words = dependency.splitn(3, ' ');
    let key = (words.next().unwrap_or_default(), words.next());
    let source = words.next().map(|word| word.trim_matches(['(', ')']));
    let named = places.get(&key).into_iter().flatten();
    let fitting: Vec<_> = named
        .filter(|(_, package)| source.is_none_or(|source| package.is_from(source)))
        .collect();
    // Without a source, one of this workspace is meant where others are of the same version.
    let mut local = fitting
        .iter()
        .filter(|(_, package)| package.source.is_none());
    match (fitting.as_slice(), (local.next(), local.next())) {
        ([(place, _)], _) => Ok(*place),
        ([], _) => Err("is not in it".to_owned()),
        (_, (Some((place, _)), None)) if key.1.is_some() => Ok(*place),
        (candidates, _) => {
            let candidates = ends(candidates, NAMES, |(_, package)| {
                format!("`{}`", package.shown())
            });
            Err(format!("may be any of {}", candidates.join(", ")))
        }
    }
}
