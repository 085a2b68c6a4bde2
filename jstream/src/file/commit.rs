//! The commit, which makes all pushed objects part of the file.
//!
//! Decisions 055 and 056 have the reasons.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::contents::Chunk;
use super::error::FileError;
use super::format::{
    COMMITS, ChunkHeader, Commit, DIRECTORY, DirectoryHeader, RawEntry, SchemaEntry, front,
};
use super::target::Target;
use super::writer::{FileWriter, usable};
use xxhash_rust::xxh3::xxh3_64;

/// Number of bytes of the index that are copied at once.
const PIECE: u64 = 64 << 10;

impl FileWriter {
    /// Makes all pushed objects part of the file, atomically. After a crash of the program, the
    /// file has either the state before this call or the state after it. If
    /// [`WriteOptions::sync`](super::WriteOptions::sync) is set, this also holds for a crash of the
    /// system.
    ///
    /// # Errors
    ///
    /// - [`FileError::System`] if a system call fails, for example because the device is full. The
    ///   file is unchanged and the commit can be retried, unless the last step of the commit
    ///   failed: then every later call returns [`FileError::Abandoned`].
    /// - [`FileError::Locked`] if a new file would replace a file that another writer has open
    /// - [`FileError::Irregular`] if it would replace something other than a regular file
    pub fn commit(&mut self) -> Result<(), FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let is_new = self.commit.generation == 0;
        if self.entries.is_empty() && !is_new {
            return Ok(());
        }
        let Some(generation) = self.commit.generation.checked_add(1) else {
            return Err(FileError::Damaged {
                details: "the generation of its commits overflows",
                at: COMMITS.get(self.which).copied().unwrap_or_default(),
            });
        };
        let mut commit = Commit {
            generation,
            count: self.len(),
            ..self.commit
        };
        if self.has_new_schemas {
            commit.schemas = self.output.begin_block();
            let directory = directory(&self.schemas);
            let result = self.output.put(file, &directory);
            result.map_err(FileError::system("writing", &self.path))?;
        }
        let mut chunks = self.chunks.clone();
        if !self.entries.is_empty() {
            let chunk = self.write_chunk(&mut chunks)?;
            commit.index = chunk.place;
            chunks.insert(0, chunk);
        }
        let result = self.output.flush(usable(self.abandoned, &self.target)?);
        result.map_err(FileError::system("writing", &self.path))?;
        commit.end = self.output.at();
        self.which = if is_new {
            self.begin(commit)?
        } else {
            self.switch(commit)?
        };
        self.commit = commit;
        self.chunks = chunks;
        self.entries.clear();
        self.has_new_schemas = false;
        Ok(())
    }

    /// Writes a chunk of the index for all new objects. The chunk absorbs, newest first, the chunks
    /// that have less than twice as many entries as it has by then.
    fn write_chunk(&mut self, chunks: &mut Vec<Chunk>) -> Result<Chunk, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let mut count = self.entries.len() as u64;
        let mut absorbed = Vec::new();
        while let Some(newest) = chunks.first().copied() {
            if newest.count >= count.saturating_mul(2) {
                break;
            }
            count = count.saturating_add(newest.count);
            absorbed.push(chunks.remove(0));
        }
        let first = self.len().saturating_sub(count);
        let previous = chunks.first().map_or(0, |chunk| chunk.place);
        let place = self.output.begin_block();
        let header = ChunkHeader::new(previous, first, count);
        let output = &mut self.output;
        let mut put = |bytes: &[u8]| {
            let result = output.put(file, bytes);
            result.map_err(FileError::system("writing", &self.path))
        };
        put(&header.to_bytes())?;
        let mut piece = Vec::new();
        for chunk in absorbed.iter().rev() {
            let mut at = chunk.place.saturating_add(ChunkHeader::LEN);
            let mut rest = chunk.count.saturating_mul(RawEntry::LEN);
            while rest > 0 {
                let len = rest.min(PIECE);
                piece.resize(usize::try_from(len).unwrap_or(0), 0);
                let result = file.read_exact_at(&mut piece, at);
                result.map_err(FileError::system("reading", &self.path))?;
                put(&piece)?;
                at = at.saturating_add(len);
                rest = rest.saturating_sub(len);
            }
        }
        for entries in self.entries.chunks(1024) {
            let bytes: Vec<_> = entries.iter().map(|entry| entry.to_bytes()).collect();
            put(bytes.as_flattened())?;
        }
        Ok(Chunk {
            place,
            first,
            count,
        })
    }

    /// Completes a new file, and gives it its name if it has one; returns the index of its commit.
    fn begin(&mut self, commit: Commit) -> Result<usize, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        write_at(file, &front(commit), 0, &self.path)?;
        // After a failed sync, the state on the device is unknown.
        self.abandoned = true;
        if self.sync {
            file.sync_all()
                .map_err(FileError::system("syncing", &self.path))?;
        }
        let result = self.target.rename(&self.path, self.replace, self.sync);
        self.abandoned = result.is_err() && !matches!(self.target, Target::Temporary(_));
        result.map(|()| 0)
    }

    /// Writes the commit that is not current, after syncing all blocks; returns its index.
    fn switch(&mut self, commit: Commit) -> Result<usize, FileError> {
        let file = usable(self.abandoned, &self.target)?;
        let which = 1usize.wrapping_sub(self.which);
        let at = COMMITS.get(which).copied().unwrap_or_default();
        self.abandoned = true;
        let sync = || match self.sync {
            true => file
                .sync_data()
                .map_err(FileError::system("syncing", &self.path)),
            false => Ok(()),
        };
        sync()?;
        write_at(file, &commit.sector(), at, &self.path)?;
        sync()?;
        self.abandoned = false;
        Ok(which)
    }
}

/// Writes `bytes` at offset `at`.
pub(super) fn write_at(file: &File, bytes: &[u8], at: u64, path: &Path) -> Result<(), FileError> {
    let result = file.write_all_at(bytes, at);
    result.map_err(FileError::system("writing", path))
}

/// Encodes a schema directory.
fn directory(schemas: &BTreeMap<u64, (u64, u64)>) -> Vec<u8> {
    let header = DirectoryHeader {
        magic: DIRECTORY,
        count: schemas.len() as u64,
    };
    let mut bytes = header.to_bytes().to_vec();
    for (descriptor, (place, len)) in schemas {
        let entry = SchemaEntry {
            descriptor: *descriptor,
            place: *place,
            len: *len,
        };
        bytes.extend_from_slice(&entry.to_bytes());
    }
    let sum = xxh3_64(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}
