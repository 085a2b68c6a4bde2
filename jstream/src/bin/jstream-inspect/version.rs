//! Versions of types: a schema and its root, from a file with a schema or snapshot, or from a file
//! of objects.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use jstream::inspect::Input;
use jstream::schema::{Schema, TypeIndex};

use crate::output::Failure;

/// A version of a type.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) path: PathBuf,
    pub(crate) schema: Schema,
    pub(crate) root: TypeIndex,
    pub(crate) descriptor: u64,
}

impl Version {
    pub(crate) fn new(path: &Path, (schema, root): (Schema, TypeIndex)) -> Self {
        Self {
            path: path.to_owned(),
            descriptor: schema.descriptor(root),
            schema,
            root,
        }
    }

    /// Reads a file with a schema or a snapshot.
    pub(crate) fn of_snapshot(path: &Path) -> Result<Self, Failure> {
        let decoded = Schema::from_snapshot(&start(path)?);
        let decoded = decoded
            .map_err(|error| Failure::Said(format!("{}: not a schema: {error}", path.display())))?;
        Ok(Self::new(path, decoded))
    }

    /// Reads a file with a schema or a snapshot, or the schema of a type in a file of objects. The
    /// type is given by its name or descriptor, or is the only one.
    pub(crate) fn load(path: &Path, type_of: Option<&str>) -> Result<Self, Failure> {
        match Input::detect(&start(path)?) {
            Ok(Input::File) => of_objects(path, type_of),
            Ok(Input::Schema) => Self::of_snapshot(path),
            _ => Err(Failure::Said(format!(
                "{}: neither a schema or snapshot (Schema::to_bytes, Schema::to_snapshot) nor a \
                 file of objects",
                path.display()
            ))),
        }
    }

    /// Returns the name of the type as the program knows it, without the suffix of its form.
    pub(crate) fn name(&self) -> &str {
        let name = self.schema.get(self.root).map_or("", |info| &info.name);
        base_name(name)
    }

    /// Returns true if this is a version of the type with this name, which it may have had before.
    pub(crate) fn is_of(&self, name: &str) -> bool {
        let rules = self.schema.rules(self.root).into_iter();
        let mut older = rules.flat_map(|rules| &rules.names);
        self.name() == base_name(name) || older.any(|older| base_name(older) == base_name(name))
    }

    /// Returns the schema and its root.
    pub(crate) fn types(&self) -> (&Schema, TypeIndex) {
        (&self.schema, self.root)
    }
}

/// Returns the name of a type without the suffix of forms.
fn base_name(name: &str) -> &str {
    name.strip_suffix("Ref").unwrap_or(name)
}

/// Reads the start of a file: all of it, if it may be a schema.
fn start(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = (Schema::MAX_BYTES as u64).saturating_add(1);
    let read = File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|error| Failure::Said(format!("{}: {error}", path.display())))?;
    Ok(bytes)
}

#[cfg(not(unix))]
fn of_objects(path: &Path, _: Option<&str>) -> Result<Version, Failure> {
    let path = path.display();
    Err(Failure::Said(format!(
        "{path}: files of objects are supported on Unix only"
    )))
}

#[cfg(unix)]
fn of_objects(path: &Path, type_of: Option<&str>) -> Result<Version, Failure> {
    use jstream::file::{FileError, FileReader};
    use std::collections::BTreeSet;

    let failed = |error: FileError| Failure::Said(format!("{}: {error}", path.display()));
    let mut reader = FileReader::open(path).map_err(failed)?;
    let mut roots = BTreeSet::new();
    for number in 0..reader.len() {
        roots.insert(reader.entry(number).map_err(failed)?.descriptor);
    }
    let mut versions = Vec::new();
    for descriptor in roots {
        let stored = reader.schema(descriptor).map_err(failed)?;
        versions.extend(stored.map(|stored| Version::new(path, stored)));
    }
    let is_wanted = |version: &Version| match type_of {
        Some(text) => {
            base_name(text) == version.name() || text == format!("{:#018x}", version.descriptor)
        }
        None => true,
    };
    let names: Vec<_> = versions
        .iter()
        .map(|version| format!("`{}` ({:#018x})", version.name(), version.descriptor))
        .collect();
    let mut wanted = versions.into_iter().filter(is_wanted);
    match (wanted.next(), wanted.next()) {
        (Some(version), None) => Ok(version),
        (found, _) => {
            let of_type = type_of.map_or_else(String::new, |name| format!(" named `{name}`"));
            let number = if found.is_some() { "several" } else { "no" };
            let known = match names.is_empty() {
                true => "the file has no objects with a schema".to_owned(),
                false => format!("--type selects one of {}", names.join(", ")),
            };
            Err(Failure::Said(format!(
                "{}: objects of {number} types{of_type}: {known}",
                path.display()
            )))
        }
    }
}
