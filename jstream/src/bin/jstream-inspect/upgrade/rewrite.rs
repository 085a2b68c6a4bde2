//! Rewriting of a file, object by object.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use jstream::MessageBuffer;
use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};
use jstream::inspect::{Catalog, Options, message};
use tempfile::TempPath;

use super::arguments::Upgrade;
use super::failure::{failed, text_of, write_failed};
use super::plan::Plans;
use super::progress::Progress;
use crate::output::{Failure, Output, print_error, spelled};
use crate::version::Version;

/// Maximum number of objects between two commits.
const OBJECTS_PER_COMMIT: u64 = 4096;

/// Number of bytes of objects after which they are committed.
const BYTES_PER_COMMIT: u64 = 64 << 20;

/// Rewrites the file, and returns true if all objects are in the new one.
pub(super) fn rewrite(arguments: &Upgrade) -> Result<bool, Failure> {
    let new = &arguments.new;
    if new.symlink_metadata().is_ok() {
        return Err(Failure::Said(format!(
            "{} exists; choose another name, or remove it",
            new.display()
        )));
    }
    let snapshots = snapshots(&arguments.schema)?;
    let mut reader = FileReader::open(&arguments.old).map_err(failed(&arguments.old))?;
    let plans = match Plans::new(&mut reader, snapshots, &arguments.old)? {
        Ok(plans) => plans,
        Err(refused) => {
            for (name, error) in refused {
                say_lines(&format!("objects of {name} can't be converted: {error}"));
            }
            return Ok(false);
        }
    };
    let partial = partial(new);
    let mut rewriting = Rewriting::begin(arguments, reader, plans, &partial)?;
    let resumed = rewriting.writer.len();
    if !rewriting.convert_all(!arguments.quiet)? {
        return Ok(false);
    }
    // The writer holds the lock on the file until it has its name.
    name(&partial, new)?;
    if !arguments.quiet {
        let mut output = Output::standard(false);
        if resumed > 0 {
            let line = format!("continued after {resumed} objects of an interrupted run");
            output.line(&line)?;
        }
        rewriting.plans.print(&mut output)?;
        output.finish()?;
    }
    Ok(true)
}

/// Reads the snapshots, which must be of different types.
fn snapshots(paths: &[PathBuf]) -> Result<Vec<Version>, Failure> {
    let mut snapshots: Vec<Version> = Vec::new();
    for path in paths {
        let snapshot = Version::of_snapshot(path)?;
        let mut others = snapshots.iter();
        if let Some(other) = others.find(|other| other.name() == snapshot.name()) {
            return Err(Failure::Said(format!(
                "{} and {} are both snapshots of `{}`: pass only the one that the objects are to \
                 be converted to",
                other.path.display(),
                path.display(),
                snapshot.name()
            )));
        }
        snapshots.push(snapshot);
    }
    Ok(snapshots)
}

/// Returns the name of the new file until it is complete.
fn partial(new: &Path) -> PathBuf {
    let mut partial = new.as_os_str().to_owned();
    partial.push(".upgrading");
    PathBuf::from(partial)
}

/// Gives the complete file its name, unless there is a file of that name.
fn name(partial: &Path, new: &Path) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        Failure::Said(format!(
            "{} is complete, but can't be renamed to {}: {error}",
            partial.display(),
            new.display()
        ))
    };
    let path = TempPath::try_from_path(partial).map_err(failed)?;
    if let Err(error) = path.persist_noclobber(new) {
        // Dropping the path would remove the file.
        let _ = error.path.keep();
        return Err(failed(error.error));
    }
    let folder = match new.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Failure::Said(format!("syncing {}: {error}", folder.display())))
}

struct Rewriting {
    reader: FileReader,
    plans: Plans,
    writer: FileWriter,
    old: PathBuf,
    partial: PathBuf,
    /// The schemas of the new objects, to check them.
    catalog: Catalog,
    /// Descriptors of the classes whose schemas were stored.
    stored: HashSet<u64>,
    new_descriptors: HashMap<u64, u64>,
}

impl Rewriting {
    /// Creates the new file, or continues that of an interrupted run.
    fn begin(
        arguments: &Upgrade,
        reader: FileReader,
        plans: Plans,
        partial: &Path,
    ) -> Result<Self, Failure> {
        let (writer, begun) = match create(partial, &arguments.old)? {
            Some(writer) => (writer, None),
            None => {
                let writer = FileWriter::append(partial).map_err(failed(partial))?;
                let begun = FileReader::open(partial).map_err(failed(partial))?;
                (writer, Some(begun))
            }
        };
        let mut catalog = Catalog::default();
        let olds = plans
            .by_descriptor
            .values()
            .filter_map(|plan| plan.old.as_ref());
        for version in olds.chain(&plans.classes).chain(&plans.snapshots) {
            let added = catalog.add(&version.schema, version.root);
            added.map_err(|error| {
                let path = version.path.display();
                Failure::Said(format!("{path}: `{}`: {error}", version.name()))
            })?;
        }
        let descriptors = plans.by_descriptor.keys();
        let new_descriptors = descriptors.map(|old| (*old, plans.new_descriptor(*old)));
        let mut rewriting = Self {
            new_descriptors: new_descriptors.collect(),
            reader,
            plans,
            writer,
            old: arguments.old.clone(),
            partial: partial.to_owned(),
            catalog,
            stored: HashSet::new(),
        };
        if let Some(mut begun) = begun {
            if !rewriting.is_continued_by(&mut begun)? {
                return Err(Failure::Said(format!(
                    "{} was not begun by this upgrade: it has objects that {} does not have at \
                     these places; remove it to begin anew",
                    partial.display(),
                    arguments.old.display()
                )));
            }
        }
        rewriting.plans.store_schemas(&mut rewriting.writer)?;
        Ok(rewriting)
    }

    /// Returns true if the objects of an interrupted run are those that this run would write. The
    /// types of all objects are compared, the lengths of those that are copied, and the bytes of
    /// the first and last object.
    fn is_continued_by(&mut self, begun: &mut FileReader) -> Result<bool, Failure> {
        let count = begun.len();
        if count > self.reader.len() {
            return Ok(false);
        }
        for number in 0..count {
            let old = self.reader.entry(number).map_err(failed(&self.old))?;
            let new = begun.entry(number).map_err(failed(&self.partial))?;
            let is_copied = self.is_copied(old.descriptor);
            if self.new_descriptors.get(&old.descriptor) != Some(&new.descriptor)
                || (is_copied && old.len != new.len)
            {
                return Ok(false);
            }
        }
        let ends = [0, count.saturating_sub(1)];
        for number in ends.into_iter().filter(|number| *number < count) {
            let Ok(converted) = self.converted(number)? else {
                return Ok(false);
            };
            let found = begun.message(number).map_err(failed(&self.partial))?;
            if found.as_bytes() != converted.as_bytes() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_copied(&self, descriptor: u64) -> bool {
        let plan = self.plans.by_descriptor.get(&descriptor);
        plan.is_none_or(|plan| plan.conversion.is_none())
    }

    /// Writes all objects that the new file does not have yet; returns false if one of them can't
    /// be converted.
    fn convert_all(&mut self, shown: bool) -> Result<bool, Failure> {
        let count = self.reader.len();
        let progress = Progress::new(count, self.writer.len(), shown);
        let (mut objects, mut bytes) = (0u64, 0u64);
        for number in self.writer.len()..count {
            let converted = match self.converted(number)? {
                Ok(converted) => converted,
                Err(details) => {
                    self.writer.commit().map_err(write_failed)?;
                    drop(progress);
                    let partial = self.partial.display();
                    say_lines(&details);
                    print_error(&format!(
                        "the {number} objects before it are in {partial}, where another run \
                         continues; remove this file to begin anew"
                    ));
                    return Ok(false);
                }
            };
            self.writer.push_message(&converted).map_err(write_failed)?;
            objects = objects.saturating_add(1);
            bytes = bytes.saturating_add(converted.len() as u64);
            if objects >= OBJECTS_PER_COMMIT || bytes >= BYTES_PER_COMMIT {
                self.writer.commit().map_err(write_failed)?;
                (objects, bytes) = (0, 0);
            }
            progress.advance();
        }
        self.writer.commit().map_err(write_failed)?;
        Ok(true)
    }

    /// Returns the message of the new object, or the reason why there is none.
    fn converted(&mut self, number: u64) -> Result<Result<MessageBuffer, String>, Failure> {
        let old = match self.reader.message(number) {
            Ok(message) => message,
            Err(error @ FileError::System { .. }) => return Err(failed(&self.old)(error)),
            Err(error) => return Ok(Err(text_of(&self.old, &error))),
        };
        let descriptor = self.reader.entry(number);
        let descriptor = descriptor.map_err(failed(&self.old))?.descriptor;
        let plan = self.plans.by_descriptor.get_mut(&descriptor);
        let Some(conversion) = plan.and_then(|plan| plan.conversion.as_mut()) else {
            return Ok(Ok(old));
        };
        let converted = match conversion.convert(old.as_bytes()) {
            Ok(converted) => converted,
            Err(error) => return Ok(Err(format!("object {number}: {error}"))),
        };
        // The conversion leaves the check of some values to the readers of the result.
        let mut options = Options::default();
        (options.elements, options.depth, options.values) = (0, 0, 0);
        let checked = message(converted.as_bytes(), &self.catalog, &options);
        if let Some(fault) = checked.fault {
            let text = format!("object {number}: the converted object is not valid: {fault}");
            return Ok(Err(text));
        }
        let stored = &mut self.stored;
        self.plans
            .store_classes(descriptor, &mut self.writer, stored)?;
        Ok(Ok(converted))
    }
}

/// Creates the file with the permissions of the old one. Returns `None` if it exists and has
/// objects of an interrupted run.
fn create(partial: &Path, old: &Path) -> Result<Option<FileWriter>, Failure> {
    let failed = |error: io::Error| Failure::Said(format!("{}: {error}", partial.display()));
    let about = old.metadata();
    let about = about.map_err(|error| Failure::Said(format!("{}: {error}", old.display())))?;
    let mode = about.mode() & 0o777;
    // The first commit replaces this empty file, and takes over its permissions.
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(partial);
    match created {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let is_begun = partial.metadata().map_err(failed)?.len() > 0;
            if is_begun {
                return Ok(None);
            }
        }
        Err(error) => return Err(failed(error)),
    }
    let writer = FileWriter::create_with(partial, &WriteOptions::default());
    writer.map(Some).map_err(write_failed)
}

/// Prints a message of several lines to the standard error output.
fn say_lines(text: &str) {
    let mut lines = text.lines();
    print_error(lines.next().unwrap_or_default());
    for line in lines {
        let _ = writeln!(io::stderr(), "  {}", spelled(line));
    }
}
