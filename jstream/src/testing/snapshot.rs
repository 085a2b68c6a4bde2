//! Files with the snapshots of types.

use std::error::Error;
use std::fmt;
use std::fs::{self, OpenOptions};
#[cfg(feature = "evolve")]
use std::io::Read;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

#[cfg(feature = "evolve")]
use crate::evolve::{Compatibility, InvalidSchema, compatibility};
use crate::model::Transportable;
use crate::schema::{Schema, SnapshotError};
#[cfg(feature = "evolve")]
use crate::schema::{SchemaError, TypeIndex};

/// Writes the [snapshot](Schema::to_snapshot) of a type to a file, which a program of a later
/// version needs to convert messages of this one. Call it once for each released version, in a test
/// or an example, and put the file under version control:
///
/// ```no_run
/// use jstream::{Transportable, testing};
///
/// #[derive(Transportable)]
/// struct Order {
///     id: u64,
///     note: String,
/// }
///
/// # fn main() -> Result<(), testing::SnapshotFileError> {
/// testing::write_snapshot::<Order>("schemas/order-v1.jschema")?;
/// # Ok(())
/// # }
/// ```
///
/// The folder is created if it does not exist. The file is complete or absent, even if the program
/// is killed. A file with the same snapshot stays as it is. The program `jstream-inspect` shows
/// such files.
///
/// # Errors
///
/// [`SnapshotFileError::Differs`] if the file has other contents: a version that was released does
/// not change, so a changed type needs a file of its own. [`SnapshotFileError::Snapshot`] if there
/// is no snapshot of the type, and [`SnapshotFileError::System`] if the file can't be written.
pub fn write_snapshot<T: Transportable + 'static>(
    path: impl AsRef<Path>,
) -> Result<(), SnapshotFileError> {
    let (schema, root) = Schema::of::<T>();
    write(path.as_ref(), schema.to_snapshot(root))
}

fn write(path: &Path, snapshot: Result<Vec<u8>, SnapshotError>) -> Result<(), SnapshotFileError> {
    let snapshot = snapshot.map_err(|error| SnapshotFileError::Snapshot {
        path: path.to_owned(),
        error,
    })?;
    let system = |doing: &'static str| {
        move |source| SnapshotFileError::System {
            doing,
            path: path.to_owned(),
            source,
        }
    };
    match fs::read(path) {
        Ok(found) if found == snapshot => return Ok(()),
        Ok(_) => {
            return Err(SnapshotFileError::Differs {
                path: path.to_owned(),
            });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(system("reading")(error)),
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(system("creating the folder of"))?;
    }
    let temporary = temporary(path);
    let written = write_new(&temporary, &snapshot).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // The error that is returned is the first one.
        let _ = fs::remove_file(&temporary);
        system("writing")(error)
    })
}

/// Returns the path of a file beside `path` that no other process or thread writes.
fn temporary(path: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{count}.tmp", std::process::id()));
    path.with_file_name(name)
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Checks that this program can read messages of the version whose snapshot is in the file at
/// `path`. One line in a test for each version that is in use detects a change of the type that
/// would refuse its messages:
///
/// ```no_run
/// # use jstream::{Transportable, testing};
/// # #[derive(Transportable)]
/// # struct Order { id: u64, note: String }
/// testing::assert_compatible::<Order>("schemas/order-v1.jschema");
/// testing::assert_compatible::<Order>("schemas/order-v2.jschema");
/// ```
///
/// Versions whose messages are refused only if they have certain values pass: see
/// [`compatibility_with`]. Classes of trait objects are not part of the type's schema, so they need
/// snapshots and checks of their own.
///
/// # Panics
///
/// Panics with all differences if all messages of the version would be refused, and if the file
/// can't be read.
#[cfg(feature = "evolve")]
#[track_caller]
pub fn assert_compatible<T: Transportable + 'static>(path: impl AsRef<Path>) {
    let path = path.as_ref();
    let found = match compatibility_with::<T>(path) {
        Ok(found) => found,
        Err(error) => panic!("{error}"),
    };
    assert!(
        found.is_compatible(),
        "messages of the version in {} can't be read as `{}`:\n{found}\nUndo these changes, or give \
         rules for the refused fields (`default`, `renamed_from`, `narrow`); if no message of that \
         version is in use any more, remove the file and this check",
        path.display(),
        std::any::type_name::<T>(),
    );
}

/// Returns the differences between the version of a type whose snapshot is in the file at `path`
/// and the one of this program, with the rules of its types, and their effects on messages of the
/// older version.
///
/// ```no_run
/// # use jstream::{Transportable, testing};
/// use jstream::evolve::Effect;
/// # #[derive(Transportable)]
/// # struct Order { id: u64, note: String }
///
/// # fn main() -> Result<(), testing::SnapshotFileError> {
/// // No message may be refused, whatever its values.
/// let found = testing::compatibility_with::<Order>("schemas/order-v1.jschema")?;
/// assert_eq!(found.effect(), Effect::Converted, "{found}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`SnapshotFileError::System`] if the file can't be read, [`SnapshotFileError::Encoding`] if it
/// is not a snapshot, and [`SnapshotFileError::Inconsistent`] if its types, or those of this
/// program, are inconsistent.
#[cfg(feature = "evolve")]
pub fn compatibility_with<T: Transportable + 'static>(
    path: impl AsRef<Path>,
) -> Result<Compatibility, SnapshotFileError> {
    let (new, new_root) = Schema::of::<T>();
    compare(path.as_ref(), (&new, new_root))
}

#[cfg(feature = "evolve")]
fn compare(path: &Path, new: (&Schema, TypeIndex)) -> Result<Compatibility, SnapshotFileError> {
    let mut bytes = Vec::new();
    // A longer file is no snapshot, which the decoder reports.
    let most = (Schema::MAX_BYTES as u64).saturating_add(1);
    let read = fs::File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes));
    read.map_err(|source| SnapshotFileError::System {
        doing: "reading the snapshot",
        path: path.to_owned(),
        source,
    })?;
    let decoded = Schema::from_snapshot(&bytes);
    let (old, old_root) = decoded.map_err(|error| SnapshotFileError::Encoding {
        path: path.to_owned(),
        error,
    })?;
    let found = compatibility((&old, old_root), new);
    found.map_err(|error| SnapshotFileError::Inconsistent {
        path: path.to_owned(),
        error,
    })
}

/// An error of [`write_snapshot`] and [`compatibility_with`].
#[derive(jstream_derive::ErrorDebug)]
#[non_exhaustive]
pub enum SnapshotFileError {
    /// The type has no snapshot.
    Snapshot {
        /// The file that was to be written.
        path: PathBuf,
        /// The reason.
        error: SnapshotError,
    },
    /// The file has the snapshot of another type or version, or other contents.
    Differs {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a snapshot.
    #[cfg(feature = "evolve")]
    Encoding {
        /// The file.
        path: PathBuf,
        /// The error in its bytes.
        error: SchemaError,
    },
    /// The versions can't be compared, because the types of one of them are inconsistent.
    #[cfg(feature = "evolve")]
    Inconsistent {
        /// The file.
        path: PathBuf,
        /// The inconsistent type.
        error: InvalidSchema,
    },
    /// A system call failed.
    System {
        /// The operation that failed.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

impl fmt::Display for SnapshotFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Snapshot { path, error } => {
                write!(
                    f,
                    "the snapshot {} was not written: {error}",
                    path.display()
                )
            }
            Self::Differs { path } => write!(
                f,
                "{} has other contents than the snapshot of the type: write the snapshot of a new \
                 version to another file, or remove this one if the version was never used",
                path.display()
            ),
            #[cfg(feature = "evolve")]
            Self::Encoding { path, error } => {
                write!(f, "{} is not a snapshot of a type: {error}", path.display())
            }
            #[cfg(feature = "evolve")]
            Self::Inconsistent { path, error } => {
                write!(f, "{} can't be compared: {error}", path.display())
            }
            Self::System {
                doing,
                path,
                source,
            } => write!(f, "{doing} {}: {source}", path.display()),
        }
    }
}

impl Error for SnapshotFileError {}
