//! Untrusted files.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

use jstream::file::{FileMap, FileReader, FileWriter, ReadOptions};
use jstream::{Covariant, Transportable};
use xxhash_rust::xxh3::xxh3_64;

/// Flags in the first byte of an input.
pub mod flag {
    /// The checksums of objects are verified.
    pub const CHECKSUMS: u8 = 1;
    /// All checksums are recomputed.
    pub const SUMMED: u8 = 2;
    /// The rest of the input is damage to the sample, not a file.
    pub const SAMPLE: u8 = 4;
}

/// Opens the file that `input` describes and reads all of it in every way.
pub fn run(input: &[u8]) {
    let Some((&first, rest)) = input.split_first() else {
        return;
    };
    let mut bytes = if first & flag::SAMPLE != 0 {
        let mut bytes = sample().to_vec();
        for step in rest.chunks_exact(4) {
            damage(&mut bytes, step);
        }
        bytes
    } else {
        rest.to_vec()
    };
    if first & flag::SUMMED != 0 {
        sum(&mut bytes);
    }
    let mut options = ReadOptions::default();
    options.checksums = first & flag::CHECKSUMS != 0;
    read(bytes, &options);
}

fn read(bytes: Vec<u8>, options: &ReadOptions) {
    let mut reader = match FileReader::from_bytes(bytes.clone(), options.clone()) {
        Ok(reader) => reader,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let map = FileMap::from_bytes(bytes.clone(), options.clone()).expect("the same bytes");
    let is_sound = reader.verify().is_ok();
    for descriptor in reader.descriptors().unwrap_or_default() {
        if let Ok(Some((schema, root))) = reader.schema(descriptor) {
            assert_eq!(schema.descriptor(root), descriptor);
        }
    }
    // The number of objects may be forged, so it is limited.
    let count = reader.len().min(bytes.len() as u64 / 40);
    let mut numbers: Vec<u64> = (0..count).collect();
    numbers.push(u64::MAX);
    for number in numbers {
        let Ok(entry) = reader.entry(number) else {
            assert!(!is_sound || number >= count);
            continue;
        };
        let end = entry.place.checked_add(entry.len).expect("it was checked");
        assert!(end <= bytes.len() as u64, "an object lies outside the file");
        one::<String>(&mut reader, &map, number, |text| text.chars().count());
        one::<Vec<u64>>(&mut reader, &map, number, |words| words.len());
        one::<Vec<String>>(&mut reader, &map, number, |texts| {
            texts.iter().map(|text| text.chars().count()).sum()
        });
    }
}

/// Reads an object with the reader and through the map. An object that the map has handed out must
/// not change.
fn one<T>(
    reader: &mut FileReader,
    map: &FileMap,
    number: u64,
    walk: impl for<'x> Fn(&'x T::InPlace<'x>) -> usize,
) where
    T: Transportable + Covariant + 'static,
    for<'x> T::InPlace<'x>: Send + Sync,
{
    let read = reader.read::<T>(number).map(|object| walk(object.get()));
    let mapped = map.get::<T>(number).map(&walk);
    match (read, mapped) {
        (Ok(read), Ok(mapped)) => assert_eq!(read, mapped),
        // The map refuses bytes that belong to another object.
        (Ok(_), Err(error)) | (Err(error), Err(_)) => assert!(!error.to_string().is_empty()),
        (Err(error), Ok(_)) => panic!("the map reads an object that the reader refuses: {error}"),
    }
    let again = map.get::<T>(number).map(&walk);
    assert_eq!(map.get::<T>(number).map(&walk).ok(), again.ok());
}

/// A file with objects of several types, and several commits.
pub fn sample() -> &'static [u8] {
    static SAMPLE: OnceLock<Vec<u8>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let mut writer = FileWriter::in_memory().expect("there is memory");
        for round in 0..3u64 {
            writer.push(&format!("round {round}")).expect("it fits");
            writer.push(&vec![round; 3]).expect("it fits");
            if round > 0 {
                let texts = vec!["a".to_owned(), "grün".to_owned()];
                writer.push(&texts).expect("it fits");
                writer.commit().expect("it fits");
            }
        }
        content(&writer.seal().expect("it is a memory file"))
    })
}

fn content(file: &File) -> Vec<u8> {
    let len = file.metadata().expect("it is open").len();
    let mut bytes = vec![0; len as usize];
    file.read_exact_at(&mut bytes, 0).expect("it has that many");
    bytes
}

/// Applies one step of damage: offset, operation and value. Words with offsets are at multiples of
/// eight.
fn damage(bytes: &mut [u8], step: &[u8]) {
    let &[low, high, what, with] = step else {
        return;
    };
    let at = usize::from(u16::from_le_bytes([low, high]));
    let word = at * 8 % bytes.len();
    let value = match what % 6 {
        0 => {
            bytes[at % bytes.len()] ^= with.max(1);
            return;
        }
        1 => u64::from(with),
        2 => u64::from(with) * 128,
        3 => u64::from(with) << 56,
        4 => u64::MAX - u64::from(with),
        _ => 1536 + u64::from(with) * 8,
    };
    for (into, from) in bytes[word..].iter_mut().zip(value.to_le_bytes()) {
        *into = from;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(word.try_into().ok()?))
}

/// Writes the checksum of `before` and of the `len` bytes at `at` directly behind these bytes.
fn put_sum(bytes: &mut [u8], at: usize, len: usize, before: &[u8]) -> Option<()> {
    let end = at.checked_add(len)?;
    let summed = [before, bytes.get(at..end)?].concat();
    let sum = xxh3_64(&summed).to_le_bytes();
    bytes
        .get_mut(end..end.checked_add(8)?)?
        .copy_from_slice(&sum);
    Some(())
}

/// Recomputes all checksums that it finds.
fn sum(bytes: &mut [u8]) {
    for commit in [512, 1024] {
        let index = word(bytes, commit + 16).unwrap_or(0) as usize;
        let schemas = word(bytes, commit + 24).unwrap_or(0) as usize;
        let mut chunk = index;
        for _ in 0..8 {
            let Some(next) = sum_chunk(bytes, chunk) else {
                break;
            };
            chunk = next as usize;
        }
        if let Some(count) = word(bytes, schemas.saturating_add(8)).filter(|count| *count < 100) {
            put_sum(bytes, schemas, 16 + 24 * count as usize, &[]);
        }
        // An empty sector is no commit.
        if word(bytes, commit).is_some_and(|generation| generation > 0) {
            put_sum(bytes, commit, 40, &[]);
        }
    }
}

/// Recomputes the checksums of an index chunk and returns the offset of the previous one.
fn sum_chunk(bytes: &mut [u8], chunk: usize) -> Option<u64> {
    let first = word(bytes, chunk.checked_add(16)?)?;
    let count = word(bytes, chunk.checked_add(24)?)?;
    for i in 0..count.min(100) {
        let entry = chunk.checked_add(40 + 40 * i as usize)?;
        let (place, len) = (
            word(bytes, entry)? as usize,
            word(bytes, entry + 8)? as usize,
        );
        let message = place.checked_add(len).and_then(|end| bytes.get(place..end));
        if let Some(hash) = message.map(xxh3_64) {
            bytes
                .get_mut(entry + 24..entry + 32)?
                .copy_from_slice(&hash.to_le_bytes());
        }
        let number = first.wrapping_add(i).to_le_bytes();
        put_sum(bytes, entry, 32, &number)?;
    }
    put_sum(bytes, chunk, 32, &[])?;
    word(bytes, chunk + 8)
}
