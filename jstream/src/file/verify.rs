//! Verification of a whole file.

use super::contents::{Contents, Entry};
use super::error::FileError;
use crate::wire::{HEADER_LEN, Header, in_memory};
use xxhash_rust::xxh3::Xxh3;

/// Number of bytes that are read at once.
const PIECE: usize = 256 << 10;

pub(super) fn verify(contents: &mut Contents) -> Result<(), FileError> {
    for (descriptor, (place, len)) in contents.directory()? {
        contents.schema_at(descriptor, place, len)?;
    }
    let mut piece = Vec::new();
    let mut end = 0;
    for number in 0..contents.commit.count {
        let entry = contents.entry(number)?;
        if entry.place < end {
            return Err(FileError::Damaged {
                details: "objects overlap, or are not in order",
                at: entry.place,
            });
        }
        end = entry.place.saturating_add(entry.len);
        object(contents, &entry, &mut piece)?;
    }
    Ok(())
}

fn object(contents: &Contents, entry: &Entry, piece: &mut Vec<u8>) -> Result<(), FileError> {
    let mut bytes = [0; HEADER_LEN];
    let (at, end) = (entry.place, entry.place.saturating_add(entry.len));
    contents.source.read(&mut bytes, at)?;
    let header = Header::of_bytes(bytes);
    let mut sum = Xxh3::new();
    let mut from = at;
    while from < end {
        let len = in_memory(end.saturating_sub(from).min(PIECE as u64));
        piece.resize(len, 0);
        contents.source.read(piece, from)?;
        sum.update(piece);
        from = from.saturating_add(len as u64);
    }
    if sum.digest() != entry.hash {
        return Err(FileError::Checksum {
            number: entry.number,
            at,
        });
    }
    assert_header(&header, entry)
}

/// Checks that a message with this header can be the object of the entry.
pub(super) fn assert_header(header: &Header, entry: &Entry) -> Result<(), FileError> {
    let at = entry.place;
    let damaged = |details| FileError::Damaged { details, at };
    if header.message_len() != Some(entry.len) {
        return Err(damaged("an object is not a valid message"));
    }
    if header.descriptor != entry.descriptor {
        return Err(damaged("an object's type differs from that in the index"));
    }
    Ok(())
}
