//! Creating files and appending to them.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::IoSlice;
use std::mem;
use std::path::{Path, PathBuf};

use super::contents::{Chunk, Contents};
use super::error::FileError;
use super::format::{BLOCKS, Commit, MOST_SCHEMAS, RawEntry};
use super::output::Output;
use super::source::Source;
use super::target::{LockedFile, Target, assert_writable, followed, taken};
use crate::buffer::MessageBuffer;
use crate::model::Transportable;
use crate::read::Limits;
use crate::schema::{Schema, TypeIndex};
use crate::wire::Header;
use crate::write::Writer;

/// Options of writing a file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Block each commit until the data is on the device (default true). Without it, the file is
    /// consistent after a crash of the program, but after a crash or power failure of the system it
    /// may match neither the old nor the new commit.
    pub sync: bool,
    /// Limits of each object: see [`Writer::with_limits`].
    pub limits: Limits,
    /// Allow a new file to replace an existing file of the same name (default true). Without it,
    /// creating the file or its first commit fails with a [`FileError::System`] of kind
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists). If two writers create the file
    /// concurrently, one of them succeeds.
    pub replace: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            sync: true,
            limits: Limits::default(),
            replace: true,
        }
    }
}

/// Writes objects into a file, one after another.
///
/// A [`commit`](Self::commit) adds all objects that were pushed before it, atomically. Dropping the
/// writer discards objects that were not committed.
///
/// The writer holds an exclusive lock (`flock`) on the file as long as it lives.
#[derive(Debug)]
pub struct FileWriter {
    pub(super) target: Target,
    pub(super) path: PathBuf,
    pub(super) sync: bool,
    pub(super) replace: bool,
    pub(super) output: Output,
    writer: Writer,
    /// The current commit, and its index.
    pub(super) commit: Commit,
    pub(super) which: usize,
    /// The chunks of the index, the newest first.
    pub(super) chunks: Vec<Chunk>,
    /// Entries of the objects that were pushed since the last commit.
    pub(super) entries: Vec<RawEntry>,
    /// Place and length of each schema, by descriptor.
    pub(super) schemas: BTreeMap<u64, (u64, u64)>,
    /// Descriptors of the types whose schemas are in the file as this program has them.
    noted: HashSet<u64>,
    /// True if some schemas are not in the directory on disk yet.
    pub(super) has_new_schemas: bool,
    /// True if a commit failed in its last step.
    pub(super) abandoned: bool,
}

impl FileWriter {
    /// Creates a new file.
    ///
    /// The first commit gives the file its name. Until then the data is in a temporary file in the
    /// same folder, and an existing file of that name remains. The commit replaces the existing
    /// file, and the new file takes over its permissions. If the path is a symbolic link, the file
    /// that it points to is replaced. Only regular files are replaced.
    ///
    /// If the program is killed before the first commit, the temporary file remains. Its name
    /// begins with `.jstream-`.
    ///
    /// # Errors
    ///
    /// [`FileError::System`] if a system call fails.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::create_with(path, &WriteOptions::default())
    }

    /// Like [`create`](Self::create), with the given options.
    ///
    /// # Errors
    ///
    /// As for [`create`](Self::create).
    pub fn create_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self, FileError> {
        let path = followed(path.as_ref());
        if !options.replace && path.symlink_metadata().is_ok() {
            return Err(taken(&path));
        }
        Ok(Self::new(Target::temporary(&path)?, &path, options))
    }

    /// Opens an existing file to append objects. The remains of an incomplete commit are ignored.
    ///
    /// # Errors
    ///
    /// [`FileError::Locked`] if another writer has the file open; otherwise as for
    /// [`FileReader::open`](super::FileReader::open).
    pub fn append(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::append_with(path, &WriteOptions::default())
    }

    /// Like [`append`](Self::append), with the given options.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append).
    pub fn append_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self, FileError> {
        let path = path.as_ref();
        let target = Target::named(path)?;
        let file = target.file()?.try_clone();
        let file = file.map_err(FileError::system("opening", path))?;
        let contents = Contents::read(Source::of_file(file, path)?)?;
        let mut writer = Self::new(target, path, options);
        writer.output = Output::new(contents.commit.end);
        writer.schemas = contents.directory()?;
        writer.commit = contents.commit;
        writer.which = contents.which;
        writer.chunks = contents.chunks;
        Ok(writer)
    }

    /// Creates a new file in an open file, for example a memory file. The open file should be
    /// empty, and must be open for reading and writing. Until the first commit has completed, it is
    /// not a valid file of objects.
    ///
    /// # Errors
    ///
    /// - [`FileError::Locked`] if another writer has the file open
    /// - [`FileError::Mode`] if it is not open for reading and writing, or is open in append mode
    /// - [`FileError::System`] if a system call fails
    pub fn in_file(file: File, options: &WriteOptions) -> Result<Self, FileError> {
        let path = Path::new("");
        assert_writable(&file)?;
        let file = LockedFile::new(file, path)?;
        Ok(Self::new(Target::Named(file), path, options))
    }

    /// Creates a new file in anonymous memory; [`seal`](Self::seal) returns the memory file.
    ///
    /// # Errors
    ///
    /// [`FileError::System`] if a system call fails.
    #[cfg(target_os = "linux")]
    pub fn in_memory() -> Result<Self, FileError> {
        use rustix::fs::{MemfdFlags, memfd_create};

        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("jstream", flags)
            .map_err(|error| FileError::system("creating a memory file", "")(error.into()))?;
        let options = WriteOptions {
            sync: false,
            ..WriteOptions::default()
        };
        Self::in_file(memory.into(), &options)
    }

    /// Commits, and seals the memory file against further changes, so that other processes can read
    /// it in place ([`FileMap::sealed`](super::FileMap::sealed)).
    ///
    /// # Errors
    ///
    /// As for [`commit`](Self::commit); [`FileError::System`] if this is not a memory file, or a
    /// process has a writable mapping of it.
    #[cfg(target_os = "linux")]
    pub fn seal(mut self) -> Result<File, FileError> {
        use rustix::fs::{SealFlags, fcntl_add_seals};

        self.commit()?;
        let refused = FileError::system("sealing", &self.path);
        let file = self.target.file()?.try_clone();
        let file = file.map_err(FileError::system("opening", &self.path))?;
        let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        match fcntl_add_seals(&file, seals) {
            Ok(()) => Ok(file),
            Err(error) => Err(refused(error.into())),
        }
    }

    fn new(target: Target, path: &Path, options: &WriteOptions) -> Self {
        let mut writer = Writer::with_limits(options.limits);
        writer.note_classes(true);
        Self {
            target,
            path: path.to_owned(),
            sync: options.sync,
            replace: options.replace,
            output: Output::new(BLOCKS),
            writer,
            commit: Commit {
                end: BLOCKS,
                ..Commit::default()
            },
            which: 0,
            chunks: Vec::new(),
            entries: Vec::new(),
            schemas: BTreeMap::new(),
            noted: HashSet::new(),
            has_new_schemas: false,
            abandoned: false,
        }
    }

    /// Sets the writer that serializes the objects. A writer that has written similar objects
    /// before reuses its memory. Its limits replace [`WriteOptions::limits`].
    #[must_use]
    pub fn with_writer(mut self, writer: Writer) -> Self {
        self.writer = writer;
        self.writer.note_classes(true);
        self
    }

    /// Returns the writer for use elsewhere. Objects that were not committed are discarded.
    #[must_use]
    pub fn into_writer(mut self) -> Writer {
        self.writer.note_classes(false);
        mem::take(&mut self.writer)
    }

    /// Returns the number of objects, including those that are not committed.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.commit.count.saturating_add(self.entries.len() as u64)
    }

    /// Returns true if there are no objects.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes an object and everything that it reaches, and returns its number.
    ///
    /// Large plain arrays and long text are written from their memory without a copy. The structure
    /// of the object's type and those of the classes of its trait objects are stored with it, each
    /// once in the file. Each object takes 40 bytes of memory until the next commit.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`] as for [`Writer::gather`], [`FileError::System`] if a system call
    /// fails. The object is then not part of the file, and the writer remains usable.
    pub fn push<T: Transportable>(&mut self, value: &T) -> Result<u64, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let (output, path) = (&mut self.output, &self.path);
        // Discards the classes of an earlier object that could not be written.
        drop(self.writer.take_classes());
        let (place, hash, header, len) = self
            .writer
            .gather(value, |segments| put_message(output, file, path, segments))??;
        self.note_schema(header.descriptor, Schema::of_form::<T::InPlace<'_>>)?;
        for (number, class) in self.writer.take_classes() {
            self.note_schema(number, || class.schema())?;
        }
        Ok(self.record(place, len, header.descriptor, hash))
    }

    /// Stores a message without reading it. Its schemas are in the file only if an object with the
    /// same type and classes is pushed to this file, before or later, or they are pushed by
    /// [`push_schema`](Self::push_schema).
    ///
    /// # Errors
    ///
    /// [`FileError::NoMessage`] if the header does not match the length; [`FileError::System`] if a
    /// system call fails.
    pub fn push_message(&mut self, message: &MessageBuffer) -> Result<u64, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let segments = [IoSlice::new(message.as_bytes())];
        let (place, hash, header, len) =
            put_message(&mut self.output, file, &self.path, &segments)?;
        Ok(self.record(place, len, header.descriptor, hash))
    }

    /// Stores the structure of a type, unless the file has it: for objects that are stored by
    /// [`push_message`](Self::push_message), which does not store it. It becomes part of the file
    /// with the next commit of an object. A schema of more than [`Schema::MAX_BYTES`], or beyond
    /// the 65,536th of the file, is not stored; then only programs with the type read its objects.
    ///
    /// # Errors
    ///
    /// [`FileError::System`] if a system call fails.
    pub fn push_schema(&mut self, schema: &Schema, root: TypeIndex) -> Result<(), FileError> {
        self.store_schema(schema.descriptor(root), schema, root)
    }

    fn record(&mut self, place: u64, len: u64, descriptor: u64, hash: u64) -> u64 {
        let number = self.len();
        let entry = RawEntry::new(number, place, len, descriptor, hash);
        self.entries.push(entry);
        number
    }

    /// Stores the structure of a form, unless the file has it.
    fn note_schema(
        &mut self,
        descriptor: u64,
        structure: impl FnOnce() -> (Schema, TypeIndex),
    ) -> Result<(), FileError> {
        if self.noted.contains(&descriptor) {
            return Ok(());
        }
        let (schema, root) = structure();
        self.store_schema(descriptor, &schema, root)?;
        self.noted.insert(descriptor);
        Ok(())
    }

    fn store_schema(
        &mut self,
        descriptor: u64,
        schema: &Schema,
        root: TypeIndex,
    ) -> Result<(), FileError> {
        // Readers would reject it if it were too long. Without it, only programs with the same type
        // read the objects.
        let Ok((bytes, _)) = schema.to_obligations(root) else {
            return Ok(());
        };
        let is_known = match self.schemas.get(&descriptor) {
            // The file may have been written before a field had to be understood.
            Some((_, len)) => *len >= bytes.len() as u64,
            None => self.schemas.len() as u64 >= MOST_SCHEMAS,
        };
        if is_known {
            return Ok(());
        }
        let file = usable(self.abandoned, &self.target)?;
        let place = self.output.begin_block();
        self.output
            .put(file, &bytes)
            .map_err(FileError::system("writing", &self.path))?;
        self.schemas.insert(descriptor, (place, bytes.len() as u64));
        self.has_new_schemas = true;
        Ok(())
    }
}

impl Drop for FileWriter {
    /// Truncates the file to the committed end.
    fn drop(&mut self) {
        let end = self.commit.end;
        let has_more = self.commit.generation > 0 && self.output.at() > end;
        let file = usable(self.abandoned, &self.target);
        if let (Target::Named(_), Ok(file), true) = (&self.target, file, has_more) {
            // If truncating fails, the bytes behind the end are ignored by readers.
            let _ = file.set_len(end);
        }
    }
}

/// Returns the file, unless an earlier commit was abandoned.
pub(super) fn usable(abandoned: bool, target: &Target) -> Result<&File, FileError> {
    if abandoned {
        return Err(FileError::Abandoned);
    }
    target.file()
}

/// Writes a message, and returns its place, checksum, header and length.
fn put_message(
    output: &mut Output,
    file: &File,
    path: &Path,
    segments: &[IoSlice<'_>],
) -> Result<(u64, u64, Header, u64), FileError> {
    let len = segments.iter().map(|segment| segment.len()).sum::<usize>();
    let first = segments.first().map_or(&[][..], |segment| segment);
    let header = Header::at_start_of(first);
    let header = header.filter(|header| header.message_len() == Some(len as u64));
    let Some(header) = header else {
        return Err(FileError::NoMessage { len });
    };
    let place = output.begin_block();
    let hash = output
        .put_message(file, segments)
        .map_err(FileError::system("writing", path))?;
    Ok((place, hash, header, len as u64))
}
