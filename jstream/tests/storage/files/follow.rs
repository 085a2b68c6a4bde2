//! Readers that follow a growing file, pass its messages on, and describe its commits.
#![cfg(unix)]

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;

use jstream::file::{FileError, FileReader, FileWriter, ReadOptions, WriteOptions};
use jstream::{Pool, Reader};
use tempfile::{TempDir, tempdir};

fn quick() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.sync = false;
    options
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    (folder, path)
}

fn text(number: u64) -> String {
    format!("text {number}")
}

/// Writes a file with one commit for each number; each commit adds so many texts.
fn written(path: &PathBuf, commits: &[u64]) -> FileWriter {
    let mut writer = FileWriter::create_with(path, &quick()).unwrap();
    for count in commits {
        append(&mut writer, *count);
    }
    writer
}

fn append(writer: &mut FileWriter, count: u64) {
    for _ in 0..count {
        writer.push(&text(writer.len())).unwrap();
    }
    writer.commit().unwrap();
}

/// Reads to the end and returns the number of objects read.
fn read_on(reader: &mut FileReader) -> u64 {
    let from = reader.position();
    while let Some(received) = reader.next::<String>().unwrap() {
        assert_eq!(*received.get(), text(reader.position() - 1));
    }
    reader.position() - from
}

#[test]
fn a_reader_goes_on_with_what_was_appended() {
    let (_folder, path) = place();
    let mut writer = written(&path, &[5]);
    let mut reader = FileReader::open(&path).unwrap();
    assert!(!reader.reload().unwrap());
    assert_eq!(read_on(&mut reader), 5);
    for count in [1, 1, 300, 2, 700] {
        for _ in 0..count {
            writer.push(&text(writer.len())).unwrap();
        }
        assert!(!reader.reload().unwrap(), "the object is not committed");
        writer.commit().unwrap();
        assert_eq!(read_on(&mut reader), 0);
        assert!(reader.reload().unwrap() && !reader.reload().unwrap());
        assert_eq!(read_on(&mut reader), count);
    }
    assert_eq!(reader.len(), 1009);
    reader.verify().unwrap();
    // Earlier objects are unchanged.
    assert_eq!(*reader.read::<String>(3).unwrap().get(), text(3));
}

#[test]
fn a_reader_follows_while_another_thread_appends() {
    const COMMITS: u64 = 400;
    let (_folder, path) = place();
    let mut writer = written(&path, &[1]);
    let mut reader = FileReader::open(&path).unwrap();
    let mut generations = vec![reader.summary().commit.generation];
    thread::scope(|scope| {
        scope.spawn(move || (0..COMMITS).for_each(|number| append(&mut writer, 1 + number % 3)));
        let mut read = read_on(&mut reader);
        while read < 1 + COMMITS * 2 - 1 {
            if reader.reload().unwrap() {
                generations.push(reader.summary().commit.generation);
            }
            read += read_on(&mut reader);
        }
        assert_eq!(read, reader.len());
    });
    assert!(generations.is_sorted());
    assert_eq!(generations.last(), Some(&(1 + COMMITS)));
}

#[test]
fn what_does_not_follow_is_refused_and_the_reader_as_it_was() {
    let (_folder, path) = place();
    drop(written(&path, &[2]));
    let older = fs::read(&path).unwrap();
    let mut writer = FileWriter::append(&path).unwrap();
    append(&mut writer, 3);
    drop(writer);
    let mut reader = FileReader::open(&path).unwrap();
    let summary = reader.summary();
    let sound = fs::read(&path).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();

    // Only the older commit is left.
    file.write_all_at(&older[..1536], 0).unwrap();
    assert!(matches!(
        reader.reload(),
        Err(FileError::Damaged { at: 512, .. })
    ));
    // First no commit at all, then a file that was cut off.
    file.write_all_at(&[1; 1024], 512).unwrap();
    assert!(matches!(reader.reload(), Err(FileError::NoCommit)));
    file.write_all_at(&sound, 0).unwrap();
    file.set_len(sound.len() as u64 - 1).unwrap();
    assert!(matches!(reader.reload(), Err(FileError::Truncated { .. })));
    // A newer commit whose index is damaged.
    file.write_all_at(&sound, 0).unwrap();
    let mut writer = FileWriter::append_with(&path, &quick()).unwrap();
    append(&mut writer, 9);
    let place = FileReader::open(&path).unwrap().summary().chunks[0].place;
    file.write_all_at(&[9], place + 24).unwrap();
    file.write_all_at(&[0xff], place + 25).unwrap();
    assert!(matches!(reader.reload(), Err(FileError::Damaged { at, .. }) if at == place));

    assert_eq!(reader.summary(), summary);
    assert_eq!(read_on(&mut reader), 5);
}

#[test]
fn a_file_of_the_same_name_is_another_one() {
    let (_folder, path) = place();
    drop(written(&path, &[2]));
    let mut reader = FileReader::open(&path).unwrap();
    drop(written(&path, &[7, 7]));
    assert!(!reader.reload().unwrap());
    assert_eq!(read_on(&mut reader), 2);
    let bytes = fs::read(&path).unwrap();
    let mut reader = FileReader::from_bytes(bytes, ReadOptions::default()).unwrap();
    assert!(!reader.reload().unwrap());
}

#[test]
fn the_message_of_an_object_is_given_as_it_is() {
    let (_folder, path) = place();
    drop(written(&path, &[40]));
    let pool = Pool::default();
    let mut options = ReadOptions::default();
    options.pool = Some(pool.clone());
    let mut reader = FileReader::open_with(&path, options).unwrap();
    let other = path.with_extension("other");
    let mut writer = FileWriter::create_with(&other, &quick()).unwrap();
    let bytes = fs::read(&path).unwrap();
    // In sequence, and then at random.
    for number in (0..20).chain([39, 3]) {
        let message = reader.message(number).unwrap();
        assert!(pool.contains(message.as_bytes()));
        let entry = reader.entry(number).unwrap();
        let place = entry.place as usize;
        assert_eq!(
            message.as_bytes(),
            &bytes[place..place + entry.len as usize]
        );
        writer.push_message(&message).unwrap();
        let received = Reader::default().read::<String>(message).unwrap();
        assert_eq!(*received.get(), text(number));
    }
    writer.commit().unwrap();
    let mut other = FileReader::open(&other).unwrap();
    assert_eq!(*other.read::<String>(20).unwrap().get(), text(39));
    assert!(matches!(
        reader.message(40),
        Err(FileError::NoObject {
            number: 40,
            count: 40
        })
    ));
}

#[test]
fn a_message_that_is_not_as_it_was_written_is_refused() {
    let (_folder, path) = place();
    drop(written(&path, &[3]));
    let sound = fs::read(&path).unwrap();
    let mut reader = FileReader::open(&path).unwrap();
    let place = reader.entry(1).unwrap().place;
    let with = |at: usize, checksums: bool| {
        let mut bytes = sound.clone();
        bytes[place as usize + at] ^= 1;
        let mut options = ReadOptions::default();
        options.checksums = checksums;
        let mut reader = FileReader::from_bytes(bytes, options).unwrap();
        reader.message(0).unwrap();
        reader.message(2).unwrap();
        reader.message(1)
    };
    let at_checksum =
        |error| matches!(error, Err(FileError::Checksum { number: 1, at }) if at == place);
    for at in [0, 9, 30, 60] {
        assert!(at_checksum(with(at, true)), "{at}");
    }
    // Without checksums, the reader still checks the length and the type against the index.
    for at in [0, 9, 16] {
        let refused = with(at, false);
        assert!(matches!(refused, Err(FileError::Damaged { .. })), "{at}");
    }
    with(60, false).unwrap();

    let mut options = ReadOptions::default();
    options.limits.bytes = 50;
    let mut reader = FileReader::open_with(&path, options).unwrap();
    assert!(matches!(
        reader.message(0),
        Err(FileError::TooLong {
            number: 0,
            limit: 50,
            ..
        })
    ));
}

#[test]
fn a_summary_says_what_counts() {
    let (_folder, path) = place();
    let mut writer = written(&path, &[8]);
    let mut reader = FileReader::open(&path).unwrap();
    let first = reader.summary();
    assert_eq!((first.version, first.slot), (1, 0));
    assert_eq!(first.slots[0].commit, Some(first.commit));
    assert_eq!(first.slots[1].commit, None);
    assert!(first.slots[1].is_blank && !first.slots[0].is_blank);
    assert_eq!((first.commit.generation, first.commit.objects), (1, 8));
    let len = fs::metadata(&path).unwrap().len();
    assert_eq!(first.commit.end, len);
    assert_eq!(first.chunks.len(), 1);
    assert_eq!(first.commit.index, Some(first.chunks[0].place));

    append(&mut writer, 2);
    assert_eq!(reader.summary(), first);
    assert!(reader.reload().unwrap());
    let second = reader.summary();
    assert_eq!((second.slot, second.commit.generation), (1, 2));
    assert_eq!(second.slots[0].commit, Some(first.commit));
    assert_eq!(second.slots[1].commit, Some(second.commit));
    assert_eq!(second.slots.map(|slot| slot.place), [512, 1024]);
    let chunks: Vec<_> = second.chunks.iter().map(|c| (c.first, c.objects)).collect();
    assert_eq!(chunks, [(8, 2), (0, 8)]);
    assert_eq!(second.commit.schemas, first.commit.schemas);

    // The newest commit is incomplete, as after a crash, so the one before it counts.
    drop(writer);
    let mut bytes = fs::read(&path).unwrap();
    bytes[1030] ^= 1;
    let reader = FileReader::from_bytes(bytes, ReadOptions::default()).unwrap();
    let torn = reader.summary();
    assert_eq!((torn.slot, torn.commit), (0, first.commit));
    assert_eq!(
        (torn.slots[1].commit, torn.slots[1].is_blank),
        (None, false)
    );

    let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
    writer.commit().unwrap();
    let empty = FileReader::open(&path).unwrap().summary();
    assert_eq!((empty.commit.index, empty.commit.schemas), (None, None));
    assert!(empty.chunks.is_empty());
}
