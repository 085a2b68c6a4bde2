//! Files that were changed, cut off or forged, or whose writer died.
#![cfg(unix)]

use std::fs;
use std::path::Path;

use jstream::Transportable;
use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};
use tempfile::tempdir;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Transportable, Debug, PartialEq, Clone)]
#[transportable(derive(Debug, PartialEq))]
struct Note {
    at: u64,
    text: String,
}

fn note(at: u64) -> Note {
    Note {
        at,
        text: format!("note {at}"),
    }
}

fn quick() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.sync = false;
    options
}

/// Appends notes and commits.
fn append(path: &Path, numbers: std::ops::Range<u64>) {
    let mut writer = FileWriter::append_with(path, &quick()).unwrap();
    for number in numbers {
        writer.push(&note(number)).unwrap();
    }
    writer.commit().unwrap();
}

/// Returns the bytes of a file with a commit after each of these numbers.
fn bytes(commits: &[u64]) -> Vec<u8> {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    FileWriter::create_with(&path, &quick())
        .unwrap()
        .commit()
        .unwrap();
    let mut done = 0;
    for end in commits {
        append(&path, done..*end);
        done = *end;
    }
    fs::read(path).unwrap()
}

/// Reads all notes with a [`FileReader`] and a [`FileMap`], checks that both agree, and returns the
/// notes or the first error.
fn read(bytes: &[u8], options: &ReadOptions) -> Result<Vec<u64>, FileError> {
    let mut reader = FileReader::from_bytes(bytes.to_vec(), options.clone())?;
    let verified = reader.verify();
    assert_eq!(reader.summary().commit.objects, reader.len());
    let mut notes = Vec::new();
    let mut first = None;
    // The count may be forged, so the loop is bounded.
    for number in 0..reader.len().min(1000) {
        match reader.read::<Note>(number) {
            Ok(received) => {
                let len = reader.entry(number).unwrap().len;
                assert_eq!(reader.message(number).unwrap().len() as u64, len);
                notes.push(received.get().at);
                if options.checksums {
                    assert_eq!(received.get().text, format!("note {}", received.get().at));
                }
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                first.get_or_insert(error);
            }
        }
    }
    let map = FileMap::from_bytes(bytes.to_vec(), options.clone())?;
    let mut mapped = Vec::new();
    for number in (0..map.len().min(1000)).rev() {
        if let Ok(note) = map.get::<Note>(number) {
            let _ = note.text.chars().count();
            mapped.push(note.at);
        }
    }
    // The map has the same notes, except that it gives each byte to one object only.
    assert!(mapped.len() <= notes.len());
    match (first, verified) {
        (None, Ok(())) => {
            mapped.reverse();
            assert_eq!(mapped, notes);
            Ok(notes)
        }
        (Some(error), _) => Err(error),
        (None, Err(error)) => Err(error),
    }
}

fn notes(count: u64) -> Vec<u64> {
    (0..count).collect()
}

#[test]
fn each_byte_matters_or_means_nothing() {
    let sound = bytes(&[3, 4]);
    let options = ReadOptions::default();
    assert_eq!(read(&sound, &options).unwrap(), notes(4));
    let mut without = options.clone();
    without.checksums = false;
    let (mut harmless, mut refused) = (0, 0);
    for at in 0..sound.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[at] ^= change;
            match read(&bytes, &options) {
                // The byte is in a gap between blocks, in a block that was superseded, or in the
                // older commit.
                Ok(seen) if seen == notes(4) => harmless += 1,
                // If the newest commit is damaged, the file has the content of the commit before.
                Ok(seen) => {
                    assert!(
                        seen == notes(3) && (512..1536).contains(&at),
                        "{at}: {seen:?}"
                    );
                    refused += 1;
                }
                Err(_) => refused += 1,
            }
            // Without checksums a number may be wrong, but nothing worse happens.
            let _ = read(&bytes, &without);
        }
    }
    assert!(
        refused > harmless / 4,
        "{refused} refused, {harmless} harmless"
    );
    assert!(refused > 3 * 1000, "{refused} refused");
}

#[test]
fn a_file_that_was_cut_off_says_so() {
    let sound = bytes(&[2, 3]);
    for len in 0..sound.len() {
        let error = read(&sound[..len], &ReadOptions::default()).unwrap_err();
        match len {
            0 => assert!(matches!(error, FileError::Foreign { .. }), "{error}"),
            _ => {
                let end = if len < 1536 { 1536 } else { sound.len() as u64 };
                assert!(
                    matches!(error, FileError::Truncated { len: l, end: e } if l == len as u64 && e == end),
                    "{len}: {error}"
                );
            }
        }
    }
}

/// Writes `word` at `at` and recomputes the checksum of the range `summed`, which is stored
/// directly behind it. If `number` is given, the checksum covers that object number too.
fn forge(
    bytes: &mut [u8],
    at: usize,
    word: u64,
    summed: std::ops::Range<usize>,
    number: Option<u64>,
) {
    bytes[at..at + 8].copy_from_slice(&word.to_le_bytes());
    let mut covered = number.map(u64::to_le_bytes).unwrap_or_default().to_vec();
    if number.is_none() {
        covered.clear();
    }
    covered.extend_from_slice(&bytes[summed.clone()]);
    let sum = xxh3_64(&covered).to_le_bytes();
    bytes[summed.end..summed.end + 8].copy_from_slice(&sum);
}

#[test]
fn forged_places_and_lengths_are_refused_before_anything_is_allocated() {
    let sound = bytes(&[3]);
    let word = |at: usize| u64::from_le_bytes(sound[at..at + 8].try_into().unwrap());
    let newest = if word(1024) > word(512) { 1024 } else { 512 };
    let (index, schemas) = (word(newest + 16) as usize, word(newest + 24) as usize);
    let numbers = [
        0,
        1,
        40,
        127,
        128,
        1535,
        1536,
        index as u64,
        sound.len() as u64,
        (sound.len() as u64 + 127) & !127,
        1 << 32,
        1 << 62,
        (1 << 63) - 1,
        1 << 63,
        u64::MAX - 127,
        u64::MAX,
    ];
    let mut options = ReadOptions::default();
    for checksums in [true, false] {
        options.checksums = checksums;
        for number in numbers {
            // Fields of the commit: end, index, schemas, count.
            for field in 1..5 {
                let mut bytes = sound.clone();
                forge(
                    &mut bytes,
                    newest + 8 * field,
                    number,
                    newest..newest + 40,
                    None,
                );
                let _ = read(&bytes, &options);
            }
            // Fields of the index chunk: previous chunk, first number, count.
            for field in 1..4 {
                let mut bytes = sound.clone();
                forge(
                    &mut bytes,
                    index + 8 * field,
                    number,
                    index..index + 32,
                    None,
                );
                let changed = bytes != sound;
                assert_eq!(
                    read(&bytes, &options).is_err(),
                    changed,
                    "chunk {field} {number:#x}"
                );
            }
            // Fields of an entry: offset, length, descriptor, checksum.
            for field in 0..4 {
                let mut bytes = sound.clone();
                let entry = index + 40 + 40;
                forge(
                    &mut bytes,
                    entry + 8 * field,
                    number,
                    entry..entry + 32,
                    Some(1),
                );
                let changed = bytes != sound;
                if checksums {
                    assert_eq!(
                        read(&bytes, &options).is_err(),
                        changed,
                        "entry {field} {number:#x}"
                    );
                } else {
                    let _ = read(&bytes, &options);
                }
            }
            // Fields of the schema directory: its count, and the descriptor, offset and length of
            // its entry.
            for field in 1..5 {
                let mut bytes = sound.clone();
                forge(
                    &mut bytes,
                    schemas + 8 * field,
                    number,
                    schemas..schemas + 40,
                    None,
                );
                let changed = bytes != sound;
                assert_eq!(
                    read(&bytes, &options).is_err(),
                    changed,
                    "schemas {field} {number:#x}"
                );
                let reader = FileReader::from_bytes(bytes, options.clone()).unwrap();
                let _ = reader.schema(jstream::descriptor::<Note>());
            }
        }
    }
}

#[test]
fn objects_that_share_bytes_are_not_made_native_twice() {
    let sound = bytes(&[3]);
    let word = |bytes: &[u8], at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let newest = if word(&sound, 1024) > word(&sound, 512) {
        1024
    } else {
        512
    };
    let index = word(&sound, newest + 16) as usize;
    let entry = |number: usize| index + 40 + 40 * number;
    // Object 2 becomes an alias of object 1, which is allowed. Then it begins inside object 1, or
    // begins before it and overlaps it.
    let first = [word(&sound, entry(0)), word(&sound, entry(0) + 8)];
    let second = [word(&sound, entry(1)), word(&sound, entry(1) + 8)];
    let mut options = ReadOptions::default();
    options.checksums = false;
    for (place, len) in [
        (second[0], second[1]),
        (second[0], second[1] - 1),
        (second[0], second[1] + 1),
        (first[0], second[0] - first[0] + 1),
        (first[0], second[0] - first[0]),
        (first[0], 2000),
    ] {
        let mut bytes = sound.clone();
        let at = entry(2);
        forge(&mut bytes, at, place, at..at + 32, Some(2));
        forge(&mut bytes, at + 8, len, at..at + 32, Some(2));
        let map = FileMap::from_bytes(bytes.clone(), options.clone()).unwrap();
        let one = map.get::<Note>(1).unwrap();
        match map.get::<Note>(2) {
            Ok(same) => assert!(std::ptr::eq(one, same), "two objects at one offset"),
            Err(error) => assert!(
                matches!(
                    error,
                    FileError::Taken { .. } | FileError::Object { .. } | FileError::Damaged { .. }
                ),
                "{error}"
            ),
        }
        assert_eq!(*one.text, *"note 1", "a returned object stays valid");
        // The same two objects, requested in the opposite order.
        let map = FileMap::from_bytes(bytes, options.clone()).unwrap();
        let two = map.get::<Note>(2).map(|note| note.at);
        let one = map.get::<Note>(1);
        assert!(one.is_ok() || two.is_err() || matches!(one, Err(FileError::Taken { .. })));
    }
}

#[test]
fn one_object_is_not_read_as_two_types() {
    #[derive(Transportable, Debug)]
    struct Other {
        at: u64,
        text: String,
        added: u8,
    }
    let map = FileMap::from_bytes(bytes(&[2]), ReadOptions::default()).unwrap();
    let note = map.get::<Note>(0).unwrap();
    assert!(matches!(
        map.get::<Other>(0),
        Err(FileError::Taken { number: 0, .. })
    ));
    assert!(map.get::<Other>(1).is_err());
    assert_eq!(note.at, 0);
}

/// A commit that a power failure interrupted: any part of the written bytes may be missing.
#[test]
fn a_commit_that_was_cut_short_leaves_the_old_content() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    FileWriter::create_with(&path, &quick())
        .unwrap()
        .commit()
        .unwrap();
    append(&path, 0..3);
    for round in 0..4u64 {
        let count = 3 + round;
        let old = fs::read(&path).unwrap();
        append(&path, count..count + 1);
        let new = fs::read(&path).unwrap();
        // The blocks are synced before the commit record is written. So while the record is still
        // the old one, any part of the blocks may be missing.
        for cut in (old.len()..new.len()).step_by(7) {
            let mut torn = new[..cut].to_vec();
            torn[..1536].copy_from_slice(&old[..1536]);
            assert_eq!(read(&torn, &ReadOptions::default()).unwrap(), notes(count));
            torn.resize(new.len(), 0x5a);
            assert_eq!(read(&torn, &ReadOptions::default()).unwrap(), notes(count));
        }
        // After that, any part of the commit record may be missing.
        let changed = if old[512..1024] == new[512..1024] {
            1024..1536
        } else {
            512..1024
        };
        for cut in changed.clone() {
            let mut torn = new.clone();
            torn[cut..changed.end].copy_from_slice(&old[cut..changed.end]);
            let seen = read(&torn, &ReadOptions::default()).unwrap();
            let is_whole = torn == new;
            assert_eq!(seen, notes(count + u64::from(is_whole)), "torn at {cut}");
            torn[cut..changed.end].fill(0xff);
            let seen = read(&torn, &ReadOptions::default()).unwrap();
            assert_eq!(seen, notes(count));
            // A new appender continues from the old commit.
            if cut % 64 == 0 {
                let torn_path = folder.path().join("torn.jst");
                fs::write(&torn_path, &torn).unwrap();
                append(&torn_path, count..count + 2);
                let healed = fs::read(&torn_path).unwrap();
                assert_eq!(
                    read(&healed, &ReadOptions::default()).unwrap(),
                    notes(count + 2)
                );
            }
        }
    }
}
