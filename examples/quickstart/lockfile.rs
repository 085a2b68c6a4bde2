//! The parts of a `Cargo.lock` that the graph needs.

use std::collections::HashMap;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::graph::Package;
use crate::page::{NAMES, ends, escaped, shown};

/// The packages of a lock file.
#[derive(Debug)]
pub(crate) struct Lockfile {
    /// Name of the file for messages.
    pub(crate) file: String,
    package: Vec<Locked>,
}

#[derive(Debug)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    /// Each is `name`, `name version` or `name version (source)`, with as many parts as are needed
    /// to be unambiguous.
    dependencies: Vec<String>,
}

/// An error in a lock file: the offset of the value, and the reason.
type Misfit = (usize, String);

/// The packages with their indices, by name, and by name and version.
type Places<'a> = HashMap<(&'a str, Option<&'a str>), Vec<(u32, &'a Locked)>>;

impl Lockfile {
    /// Reads a file, which must contain packages.
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let file = escaped(&path.display().to_string());
        let text =
            std::fs::read_to_string(path).map_err(|error| format!("can't read {file}: {error}"))?;
        let package = packages(&text).map_err(|(at, what)| {
            let before = text.as_bytes().get(..at).unwrap_or_default().iter();
            let line = before.filter(|byte| **byte == b'\n').count();
            let (line, what) = (line.saturating_add(1), escaped(&what));
            format!("{file} is not a valid Cargo.lock: line {line}: {what}")
        })?;
        if package.is_empty() {
            return Err(format!("{file} has no packages"));
        }
        Ok(Self { file, package })
    }

    /// Returns the indices of the dependencies of each package.
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

    /// Returns the packages of the graph with these edges.
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
    fn of(value: &Spanned<DeValue<'_>>) -> Result<Self, Misfit> {
        let table = value.get_ref().as_table();
        let table = table.ok_or_else(|| misfit(value, "a package", "a table"))?;
        let text_at = |key: &str| table.get(key).map(|value| text(value, key)).transpose();
        let required = |key: &str| {
            let missing = || (value.span().start, format!("a package has no `{key}`"));
            text_at(key)?.ok_or_else(missing)
        };
        let dependencies = table.get("dependencies");
        let dependencies = dependencies.map(|value| array(value, "dependencies"));
        let dependencies = dependencies.transpose()?.unwrap_or_default().iter();
        Ok(Self {
            name: required("name")?,
            version: required("version")?,
            source: text_at("source")?,
            dependencies: dependencies
                .map(|value| text(value, "a dependency"))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Returns true if the package is from this source. A dependency may omit the commit of a git
    /// source.
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

/// Parses a lock file.
fn packages(text: &str) -> Result<Vec<Locked>, Misfit> {
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().unwrap_or_default().start;
        (at, error.message().to_owned())
    })?;
    let packages = table.get_ref().get("package");
    let packages = packages.map(|value| array(value, "package")).transpose()?;
    packages
        .unwrap_or_default()
        .iter()
        .map(Locked::of)
        .collect()
}

fn array<'t, 'i>(
    value: &'t Spanned<DeValue<'i>>,
    name: &str,
) -> Result<&'t [Spanned<DeValue<'i>>], Misfit> {
    let array = value.get_ref().as_array();
    Ok(array.ok_or_else(|| misfit(value, name, "an array"))?)
}

fn text(value: &Spanned<DeValue<'_>>, name: &str) -> Result<String, Misfit> {
    let text = value.get_ref().as_str();
    Ok(text
        .ok_or_else(|| misfit(value, name, "a string"))?
        .to_owned())
}

fn misfit(value: &Spanned<DeValue<'_>>, name: &str, wanted: &str) -> Misfit {
    let found = value.get_ref().type_str();
    let what = format!("{name} must be {wanted} and is of the type {found}");
    (value.span().start, what)
}

/// Returns the only package that a dependency may refer to, or the reason why there is no such
/// package.
fn resolve(places: &Places<'_>, dependency: &str) -> Result<u32, String> {
    let mut words = dependency.splitn(3, ' ');
    let key = (words.next().unwrap_or_default(), words.next());
    let source = words.next().map(|word| word.trim_matches(['(', ')']));
    let named = places.get(&key).into_iter().flatten();
    let fitting: Vec<_> = named
        .filter(|(_, package)| source.is_none_or(|source| package.is_from(source)))
        .collect();
    // If several packages have the same version, a dependency without a source refers to the one of
    // this workspace.
    let mut local = fitting
        .iter()
        .filter(|(_, package)| package.source.is_none());
    match (fitting.as_slice(), (local.next(), local.next())) {
        ([(place, _)], _) => Ok(*place),
        ([], _) => Err("is not in the file".to_owned()),
        (_, (Some((place, _)), None)) if key.1.is_some() => Ok(*place),
        (candidates, _) => {
            let candidates = ends(candidates, NAMES, |(_, package)| {
                format!("`{}`", package.shown())
            });
            Err(format!("is ambiguous: {}", candidates.join(", ")))
        }
    }
}
