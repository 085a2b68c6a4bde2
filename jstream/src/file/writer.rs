//! Writing a file, and appending to one.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::IoSlice;
use std::mem;
use std::path::{Path, PathBuf};

use zerocopy::FromBytes;

use super::contents::{Chunk, Contents};
use super::error::FileError;
use super::format::{BLOCKS, Commit, MOST_SCHEMAS, RawEntry};
use super::output::Output;
use super::source::Source;
use super::target::{Target, assert_writable, followed, lock, taken};
use crate::buffer::Filled;
use crate::model::Transportable;
use crate::schema::{Schema, TypeIndex};
use crate::wire::Header;
use crate::write::Writer;

/// How a file is written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Whether a commit waits until the device has everything (default true). Without it, a file that
    /// a program wrote is whole whatever becomes of the program; but after a failure of the system or of
    /// its power, it may be neither the old one nor the new one.
    pub sync: bool,
    /// How many bytes the objects, bulk and text of one object have at most, each (default 4 GiB): see
    /// [`Writer::with_limit`].
    pub limit: usize,
    /// Whether a new file may replace one that has its name (default true). Without it, making the file or
    /// its first commit fails then, with a [`FileError::System`] of
    /// [`AlreadyExists`](std::io::ErrorKind::AlreadyExists); of two that make it at the same time, one has it.
    pub replace: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            sync: true,
            limit: 4 << 30,
            replace: true,
        }
    }
}

/// Writes objects into a file, one after another.
///
/// Nothing of them is in the file before [`commit`](Self::commit), and then all of them are. What was not
/// committed when the writer is dropped is forgotten.
///
/// Other writers are kept away by a lock (`flock`) as long as this one is there.
#[derive(Debug)]
pub struct FileWriter {
    pub(super) target: Target,
    pub(super) path: PathBuf,
    pub(super) sync: bool,
    pub(super) replace: bool,
    pub(super) output: Output,
    writer: Writer,
    /// What the file holds, and which of the two commits says so.
    pub(super) commit: Commit,
    pub(super) which: usize,
    /// The chunks of the index, the newest first.
    pub(super) chunks: Vec<Chunk>,
    /// What was pushed since the last commit.
    pub(super) entries: Vec<RawEntry>,
    /// Where the schemas stand, by descriptor.
    pub(super) schemas: BTreeMap<u64, (u64, u64)>,
    /// Whether the directory lacks some of them.
    pub(super) has_new_schemas: bool,
    /// Whether a commit failed half-way.
    pub(super) abandoned: bool,
}

impl FileWriter {
    /// Begins a new file. It gets its name with the first commit; until then there is a temporary file
    /// in the same folder, and a file that has the name keeps it. Then that file is replaced, and the new
    /// one has its permissions; of a symbolic link, the file that it leads to. Other than a file, nothing is
    /// replaced.
    ///
    /// A program that is killed before leaves the temporary file, whose name begins with `.jstream-`.
    ///
    /// # Errors
    ///
    /// [`FileError::System`] when the system refuses.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::create_with(path, &WriteOptions::default())
    }

    /// As [`create`](Self::create), with options of one's own.
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

    /// Opens a file to add objects to it. A commit that somebody could not complete is forgotten.
    ///
    /// # Errors
    ///
    /// [`FileError::Locked`] when somebody else writes to it; else as for
    /// [`FileReader::open`](super::FileReader::open).
    pub fn append(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::append_with(path, &WriteOptions::default())
    }

    /// As [`append`](Self::append), with options of one's own.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append).
    pub fn append_with(path: impl AsRef<Path>, options: &WriteOptions) -> Result<Self, FileError> {
        let path = path.as_ref();
        let target = Target::named(path)?;
        let file = target.file()?.try_clone();
        let file = file.map_err(FileError::system("opening", path))?;
        let contents = Contents::of(Source::of_file(file, path)?)?;
        let mut writer = Self::new(target, path, options);
        writer.output = Output::new(contents.commit.end);
        writer.schemas = contents.directory()?;
        writer.commit = contents.commit;
        writer.which = contents.which;
        writer.chunks = contents.chunks;
        Ok(writer)
    }

    /// Begins a new file in an open one, which should be empty: a memory file, for example. Until the
    /// first commit has ended it is no file of objects. It must have been opened to read and to write.
    ///
    /// # Errors
    ///
    /// [`FileError::Locked`] when somebody else writes to it; [`FileError::Mode`] when it was opened
    /// otherwise, or to append; [`FileError::System`].
    pub fn in_file(file: File, options: &WriteOptions) -> Result<Self, FileError> {
        let path = Path::new("");
        assert_writable(&file)?;
        lock(&file, path)?;
        Ok(Self::new(Target::Named(file), path, options))
    }

    /// Begins a new file in anonymous memory; [`seal`](Self::seal) gives it.
    ///
    /// # Errors
    ///
    /// [`FileError::System`] when the system refuses.
    #[cfg(target_os = "linux")]
    pub fn in_memory() -> Result<Self, FileError> {
        use rustix::fs::{MemfdFlags, memfd_create};

        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("jstream", flags)
            .map_err(|error| FileError::system("making a memory file", "")(error.into()))?;
        let options = WriteOptions {
            sync: false,
            ..WriteOptions::default()
        };
        Self::in_file(memory.into(), &options)
    }

    /// Commits, and sees to it that nobody changes the memory file any more: other processes can read it
    /// in place ([`FileMap::sealed`](super::FileMap::sealed)).
    ///
    /// # Errors
    ///
    /// As for [`commit`](Self::commit); [`FileError::System`] when this is no memory file, or somebody
    /// has mapped it to write to it.
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
        let mut writer = Writer::with_limit(options.limit);
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
            has_new_schemas: false,
            abandoned: false,
        }
    }

    /// Writes with a writer that has met objects like these before, so that its memory serves again; its
    /// limit holds from then on.
    #[must_use]
    pub fn with_writer(mut self, writer: Writer) -> Self {
        self.writer = writer;
        self.writer.note_classes(true);
        self
    }

    /// Gives the writer for use elsewhere. What was not committed is forgotten.
    #[must_use]
    pub fn into_writer(mut self) -> Writer {
        self.writer.note_classes(false);
        mem::take(&mut self.writer)
    }

    /// How many objects there are, those that are not committed included.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.commit.count.saturating_add(self.entries.len() as u64)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes an object, and all that it reaches; returns its number. Large plain arrays are written from
    /// where they are. The structure of its type is stored with it, and those of the classes of its trait
    /// objects, each once in the file. Of each object, 40 bytes stay in memory until the next commit.
    ///
    /// # Errors
    ///
    /// [`FileError::Write`] as for [`Writer::gather`], [`FileError::System`] when the system refuses. The
    /// file is then as if this had not been asked for, and can be gone on with.
    pub fn push<T: Transportable>(&mut self, value: &T) -> Result<u64, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let (output, path) = (&mut self.output, &self.path);
        // Those of an object that could not be written.
        drop(self.writer.take_classes());
        let (place, hash, header, len) = self
            .writer
            .gather(value, |segments| put_message(output, file, path, segments))??;
        self.note_schema(header.descriptor, Schema::of_form::<T::InPlace<'_>>)?;
        for (number, class) in self.writer.take_classes() {
            self.note_schema(number, || class.schema())?;
        }
        Ok(self.note(place, len, header.descriptor, hash))
    }

    /// Stores a message as it is, unread. The file has the schemas of its type and of the classes in it if
    /// something with them was written to this file, before or later.
    ///
    /// # Errors
    ///
    /// [`FileError::NoMessage`] where its header does not fit its length; [`FileError::System`].
    pub fn push_message(&mut self, message: &Filled) -> Result<u64, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let segments = [IoSlice::new(message.as_bytes())];
        let (place, hash, header, len) =
            put_message(&mut self.output, file, &self.path, &segments)?;
        Ok(self.note(place, len, header.descriptor, hash))
    }

    fn note(&mut self, place: u64, len: u64, descriptor: u64, hash: u64) -> u64 {
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
        if self.schemas.contains_key(&descriptor) {
            return Ok(());
        }
        let (schema, root) = structure();
        let bytes = schema.to_bytes(root);
        let is_full = self.schemas.len() as u64 >= MOST_SCHEMAS;
        if is_full || bytes.len() > Schema::MAX_BYTES {
            // Nobody would read it; errors about objects of this type say less.
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
    /// What was not committed is of no use: its room is given back.
    fn drop(&mut self) {
        let end = self.commit.end;
        let has_more = self.commit.generation > 0 && self.output.at() > end;
        if let (Target::Named(file), true, false) = (&self.target, has_more, self.abandoned) {
            // Without success there are bytes behind the end, which mean nothing.
            let _ = file.set_len(end);
        }
    }
}

/// The file, unless nobody knows what it holds.
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
    let header = Header::read_from_prefix(first).ok();
    let header = header.filter(|(header, _)| header.message_len() == Some(len as u64));
    let Some((header, _)) = header else {
        return Err(FileError::NoMessage { len });
    };
    let place = output.begin_block();
    let hash = output
        .put_message(file, segments)
        .map_err(FileError::system("writing", path))?;
    Ok((place, hash, header, len as u64))
}
