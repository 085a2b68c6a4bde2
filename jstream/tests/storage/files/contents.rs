//! Contents of files: written objects are read back, appended and looked up by number; refused
//! objects give the right errors.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions};
use std::io::{Seek, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::PathBuf;

use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};
use jstream::{EmptyBuffer, Pool, ReadError, Transportable, Writer};
use tempfile::{TempDir, tempdir};

#[derive(Transportable, Debug, PartialEq, Clone)]
#[transportable(derive(Debug, PartialEq))]
struct Line {
    at: u64,
    text: String,
    tags: Vec<String>,
}

fn line(at: u64) -> Line {
    Line {
        at,
        text: format!("line {at}"),
        tags: (0..at % 4).map(|tag| format!("tag {tag}")).collect(),
    }
}

/// Options without sync, because the tests examine only the content of the file.
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

/// Writes a file of lines with these numbers.
fn written(path: &PathBuf, numbers: std::ops::Range<u64>) {
    let mut writer = FileWriter::create_with(path, &quick()).unwrap();
    for number in numbers {
        writer.push(&line(number)).unwrap();
    }
    writer.commit().unwrap();
}

fn assert_lines(path: &PathBuf, count: u64) {
    let mut reader = FileReader::open(path).unwrap();
    assert_eq!(reader.len(), count);
    reader.verify().unwrap();
    let mut number = 0;
    for received in reader.iter::<Line>() {
        let received = received.unwrap();
        assert_eq!(received.get().at, number);
        assert_eq!(received.get().text, format!("line {number}"));
        number += 1;
    }
    assert_eq!(number, count);
    let map = FileMap::copied(path, ReadOptions::default()).unwrap();
    for number in (0..count).rev() {
        assert_eq!(map.get::<Line>(number).unwrap().at, number);
    }
}

#[test]
fn objects_of_any_types_come_back() {
    let (_folder, path) = place();
    let large: Vec<f64> = (0..100_000).map(f64::from).collect();
    let mut writer = FileWriter::create(&path).unwrap();
    assert!(writer.is_empty());
    assert_eq!(writer.push(&line(3)).unwrap(), 0);
    assert_eq!(writer.push(&7u32).unwrap(), 1);
    assert_eq!(writer.push(&large).unwrap(), 2);
    assert_eq!(writer.push(&"text".to_owned()).unwrap(), 3);
    assert_eq!(writer.push(&()).unwrap(), 4);
    assert_eq!(writer.push(&line(4)).unwrap(), 5);
    assert!(!path.exists(), "the file has no name before it is complete");
    writer.commit().unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);

    let pool = Pool::default();
    let mut options = ReadOptions::default();
    options.pool = Some(pool.clone());
    let mut reader = FileReader::open_with(&path, options).unwrap();
    assert_eq!(reader.len(), 6);
    assert_eq!(reader.next::<Line>().unwrap().unwrap().get().tags.len(), 3);
    assert_eq!(*reader.next::<u32>().unwrap().unwrap().get(), 7);
    let numbers = reader.next::<Vec<f64>>().unwrap().unwrap();
    assert_eq!(*numbers.get(), large.as_slice());
    assert!(pool.contains(*numbers.get()));
    assert_eq!(*reader.next::<String>().unwrap().unwrap().get(), "text");
    reader.next::<()>().unwrap().unwrap();
    assert_eq!(reader.position(), 5);
    assert_eq!(reader.next::<Line>().unwrap().unwrap().get().at, 4);
    assert!(reader.next::<Line>().unwrap().is_none());
    reader.seek(1);
    assert_eq!(*reader.next::<u32>().unwrap().unwrap().get(), 7);
    let into = reader
        .read_into::<Line>(0, EmptyBuffer::heap(4096))
        .unwrap();
    assert_eq!(into.capacity(), 4096);

    // The index describes an object without reading it.
    let entry = reader.entry(2).unwrap();
    assert_eq!(entry.descriptor, jstream::descriptor::<Vec<f64>>());
    assert_eq!(entry.place % 128, 0);
    assert!(entry.len > 800_000);
    let (schema, root) = reader.schema(entry.descriptor).unwrap().unwrap();
    assert_eq!(schema.descriptor(root), entry.descriptor);
    assert_eq!(reader.schema(1).unwrap(), None);
    assert_eq!(reader.descriptors().unwrap().len(), 5);
    reader.verify().unwrap();
}

#[test]
fn objects_are_read_in_place_through_a_map() {
    let (_folder, path) = place();
    written(&path, 0..300);
    let before = fs::read(&path).unwrap();
    // SAFETY: no other thread or process accesses the file.
    let map = unsafe { FileMap::open(&path, ReadOptions::default()) }.unwrap();
    let line = map.get::<Line>(200).unwrap();
    assert_eq!(line.text, "line 200");
    assert!(map.contains(line) && map.contains(line.text));
    let again = map.get::<Line>(200).unwrap();
    assert!(std::ptr::eq(line, again), "the object is read once");
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for (number, line) in map.iter::<Line>().enumerate() {
                    assert_eq!(line.unwrap().at, number as u64);
                }
            });
        }
    });
    assert_eq!(map.len(), 300);
    assert!(matches!(
        map.get::<Line>(300),
        Err(FileError::NoObject {
            number: 300,
            count: 300
        })
    ));
    assert!(format!("{map:?}").contains("300"));
    assert_eq!(fs::read(&path).unwrap(), before, "the map is private");
}

#[test]
#[cfg(target_os = "linux")]
fn sealed_memory_is_read_in_place() {
    let mut writer = FileWriter::in_memory().unwrap();
    for number in 0..10 {
        writer.push(&line(number)).unwrap();
    }
    let file = writer.seal().unwrap();
    file.write_all_at(b"x", 0).unwrap_err();
    let map = FileMap::sealed(file.try_clone().unwrap(), ReadOptions::default()).unwrap();
    assert!(map.contains(map.get::<Line>(9).unwrap().text));
    let mut reader = FileReader::from_file(file, ReadOptions::default()).unwrap();
    assert_eq!(reader.iter::<Line>().count(), 10);

    // The file is not sealed, so other programs could change it during a read.
    let mut writer = FileWriter::in_file(tempfile::tempfile().unwrap(), &quick()).unwrap();
    writer.commit().unwrap();
    let (_folder, path) = place();
    written(&path, 0..1);
    let error = FileMap::sealed(File::open(&path).unwrap(), ReadOptions::default()).unwrap_err();
    assert!(matches!(error, FileError::NotSealed { .. }));
    assert!(error.to_string().contains("seal WRITE"));
}

#[test]
fn hundreds_of_appends_keep_the_index_short() {
    let (_folder, path) = place();
    written(&path, 0..1);
    let mut count = 1;
    for round in 0..300u64 {
        let mut writer = FileWriter::append_with(&path, &quick()).unwrap();
        assert_eq!(writer.len(), count);
        for _ in 0..(round * 7 % 5) {
            assert_eq!(writer.push(&line(count)).unwrap(), count);
            count += 1;
            // Several commits by one writer must behave like commits by several writers.
            if count % 3 == 0 {
                writer.commit().unwrap();
            }
        }
        writer.commit().unwrap();
    }
    assert_lines(&path, count);
    // Each index chunk has at least twice as many objects as the next one, which bounds their
    // number.
    let bytes = fs::read(&path).unwrap();
    let chunks = bytes
        .chunks(128)
        .filter(|block| block.starts_with(b"jsx\x01"))
        .count();
    assert!(
        chunks > 100,
        "one for each commit, most of which were merged"
    );
    assert!(chunk_count(&bytes) <= 10);
}

/// Returns the number of index chunks that the newest commit leads to.
fn chunk_count(bytes: &[u8]) -> usize {
    let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    let newest = if word(1024) > word(512) { 1024 } else { 512 };
    let mut at = word(newest + 16) as usize;
    let mut chunks = 0;
    while at != 0 {
        chunks += 1;
        at = word(at + 8) as usize;
    }
    chunks
}

#[test]
fn one_schema_is_stored_for_each_type() {
    let (_folder, path) = place();
    written(&path, 0..2);
    let first = FileReader::open(&path).unwrap().descriptors().unwrap();
    for _ in 0..3 {
        let mut writer = FileWriter::append_with(&path, &quick()).unwrap();
        writer.push(&line(2)).unwrap();
        writer.push(&1u8).unwrap();
        writer.commit().unwrap();
    }
    let mut reader = FileReader::open(&path).unwrap();
    let descriptors = reader.descriptors().unwrap();
    assert_eq!(descriptors.len(), 2);
    assert!(descriptors.contains(&first[0]));
    let bytes = fs::read(&path).unwrap();
    let directories = bytes
        .chunks(128)
        .filter(|block| block.starts_with(b"jss\x01"))
        .count();
    assert_eq!(directories, 2);
    reader.verify().unwrap();
}

#[allow(
    unreachable_pub,
    reason = "the fields of the generated form are as public"
)]
mod theirs {
    #[derive(jstream::Transportable)]
    pub struct Line {
        pub at: i32,
        pub text: String,
        pub tags: Vec<String>,
    }
}

#[test]
fn another_type_is_refused_in_the_words_of_the_files_schema() {
    let (_folder, path) = place();
    let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
    let tags = vec!["t".to_owned()];
    writer
        .push(&theirs::Line {
            at: 1,
            text: "x".to_owned(),
            tags,
        })
        .unwrap();
    writer.commit().unwrap();
    let mut reader = FileReader::open(&path).unwrap();
    let error = reader.read::<Line>(0).unwrap_err();
    assert!(matches!(
        error,
        FileError::Object {
            number: 0,
            error: ReadError::Incompatible { .. },
            ..
        }
    ));
    assert!(
        error
            .to_string()
            .contains("Line.at: `i32` can't become `u64`"),
        "{error}"
    );
    let map = FileMap::copied(&path, ReadOptions::default()).unwrap();
    let error = map.get::<Line>(0).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("Line.at: `i32` can't become `u64`"),
        "{error}"
    );
    assert_eq!(
        map.get::<theirs::Line>(0).unwrap().at,
        1,
        "the file is unchanged"
    );
}

#[test]
fn a_reader_and_a_map_see_what_was_there_when_they_were_opened() {
    let (_folder, path) = place();
    written(&path, 0..5);
    let mut reader = FileReader::open(&path).unwrap();
    // SAFETY: the file is only appended to or replaced by another file; its bytes are never
    // changed.
    let map = unsafe { FileMap::open(&path, ReadOptions::default()) }.unwrap();
    for round in 0..20 {
        let mut writer = FileWriter::append_with(&path, &quick()).unwrap();
        writer.push(&line(5 + round)).unwrap();
        writer.commit().unwrap();
        // Uncommitted objects leave no trace.
        writer.push(&vec![0u8; 100_000]).unwrap();
    }
    assert_lines(&path, 25);
    assert_eq!(map.get::<Line>(4).unwrap().at, 4);
    written(&path, 0..1);
    assert_lines(&path, 1);
    assert_eq!(
        reader
            .iter::<Line>()
            .map(|line| line.unwrap().get().at)
            .sum::<u64>(),
        10
    );
    assert_eq!(
        map.iter::<Line>().map(|line| line.unwrap().at).sum::<u64>(),
        10
    );
    assert!(reader.read::<Line>(5).is_err());
}

/// A child process that is being started has a copy of each open file until it executes its
/// program.
#[test]
fn a_copy_of_the_open_file_does_not_keep_the_lock() {
    let (_folder, path) = place();
    written(&path, 0..1);
    let file = fs::File::options().read(true).write(true).open(&path);
    let file = file.unwrap();
    let _copy = file.try_clone().unwrap();
    let mut writer = FileWriter::in_file(file, &quick()).unwrap();
    writer.push(&line(0)).unwrap();
    writer.commit().unwrap();
    assert!(matches!(
        FileWriter::append(&path),
        Err(FileError::Locked { .. })
    ));
    drop(writer);
    let mut writer = FileWriter::append(&path).unwrap();
    writer.push(&line(1)).unwrap();
    writer.commit().unwrap();
    assert_lines(&path, 2);
}

#[test]
fn two_writers_exclude_one_another() {
    let (_folder, path) = place();
    let mut first = FileWriter::create_with(&path, &quick()).unwrap();
    let mut second = FileWriter::create_with(&path, &quick()).unwrap();
    first.push(&line(0)).unwrap();
    first.commit().unwrap();
    let error = FileWriter::append(&path).unwrap_err();
    assert!(matches!(&error, FileError::Locked { path: locked } if *locked == path));
    assert!(error.to_string().contains("a.jst"));
    // A new file does not replace a file that another writer is appending to.
    second.push(&1u8).unwrap();
    assert!(matches!(second.commit(), Err(FileError::Locked { .. })));
    // The writer that created the file continues as an appender.
    first.push(&line(1)).unwrap();
    first.commit().unwrap();
    drop(first);
    assert_lines(&path, 2);
    second.commit().unwrap();
    drop(second);
    assert_eq!(
        *FileReader::open(&path)
            .unwrap()
            .read::<u8>(0)
            .unwrap()
            .get(),
        1
    );
    FileWriter::append(&path).unwrap();
}

#[test]
fn a_file_that_was_not_committed_leaves_nothing() {
    let (folder, path) = place();
    let mut writer = FileWriter::create(&path).unwrap();
    writer.push(&vec![1u8; 1 << 20]).unwrap();
    drop(writer);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // The previous file stays as it was.
    written(&path, 0..3);
    let before = fs::read(&path).unwrap();
    let mut writer = FileWriter::append(&path).unwrap();
    writer.push(&vec![1u8; 1 << 20]).unwrap();
    drop(writer);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn an_empty_file_is_one() {
    let (_folder, path) = place();
    let mut writer = FileWriter::create(&path).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_lines(&path, 0);
    let mut writer = FileWriter::append(&path).unwrap();
    writer.commit().unwrap();
    writer.push(&line(0)).unwrap();
    writer.commit().unwrap();
    assert_lines(&path, 1);
}

#[test]
fn a_file_has_the_mode_of_any_other() {
    let (folder, path) = place();
    written(&path, 0..1);
    let other = folder.path().join("other");
    File::create(&other).unwrap();
    let mode = |path: &PathBuf| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&other));
}

#[test]
fn an_unread_message_is_stored_as_it_is() {
    let (_folder, path) = place();
    let message = Writer::new()
        .write(&line(0), EmptyBuffer::heap(4096))
        .unwrap();
    let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
    writer.push_message(&message).unwrap();
    let none = EmptyBuffer::heap(64)
        .copy_from(&message.as_bytes()[..63])
        .unwrap();
    assert!(matches!(
        writer.push_message(&none),
        Err(FileError::NoMessage { len: 63 })
    ));
    let none = EmptyBuffer::heap(64).copy_from(b"no message").unwrap();
    assert!(matches!(
        writer.push_message(&none),
        Err(FileError::NoMessage { len: 10 })
    ));
    writer.push(&line(1)).unwrap();
    writer.commit().unwrap();
    drop(writer);
    assert_lines(&path, 2);
}

#[test]
fn an_object_that_is_too_large_is_refused_by_both_sides() {
    let (_folder, path) = place();
    let mut options = quick();
    options.limits.bytes = 1000;
    let mut writer = FileWriter::create_with(&path, &options).unwrap();
    assert!(matches!(
        writer.push(&vec![0u8; 1001]),
        Err(FileError::Write(_))
    ));
    assert_eq!(
        writer.push(&vec![0u8; 900]).unwrap(),
        0,
        "the writer stays usable"
    );
    writer.commit().unwrap();
    let mut options = ReadOptions::default();
    options.limits.bytes = 800;
    let mut reader = FileReader::open_with(&path, options.clone()).unwrap();
    assert!(matches!(
        reader.read::<Vec<u8>>(0),
        Err(FileError::TooLong {
            number: 0,
            limit: 800,
            ..
        })
    ));
    assert!(matches!(
        FileMap::copied(&path, options),
        Err(FileError::TooLong { .. })
    ));
}

#[test]
fn what_is_no_file_of_objects_says_so() {
    let (folder, path) = place();
    let refused = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        let error = FileReader::open(&path).unwrap_err();
        assert!(FileWriter::append(&path).is_err());
        // SAFETY: no other thread or process accesses the file.
        let mapped = unsafe { FileMap::open(&path, ReadOptions::default()) }.unwrap_err();
        assert_eq!(error.to_string(), mapped.to_string());
        error
    };
    assert!(matches!(refused(b""), FileError::Foreign { .. }));
    assert!(matches!(
        refused(b"\x7fELF and so on, for a while"),
        FileError::Foreign { .. }
    ));
    assert!(matches!(
        refused(b"jstfile\x02"),
        FileError::Version { found: 2 }
    ));
    assert!(matches!(
        refused(b"jstfile\x01"),
        FileError::Truncated { len: 8, end: 1536 }
    ));
    let mut front = vec![0; 1536];
    front[..8].copy_from_slice(b"jstfile\x01");
    assert!(matches!(refused(&front), FileError::NoCommit));
    let error = FileReader::open(folder.path()).unwrap_err();
    assert!(matches!(error, FileError::Irregular { .. }), "{error}");
    let error = FileReader::open(folder.path().join("none")).unwrap_err();
    assert!(matches!(error, FileError::System { .. }));
    assert!(error.to_string().contains("none"));
    assert!(matches!(
        FileReader::open("/dev/null"),
        Err(FileError::Irregular { .. })
    ));
}

#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let (_folder, path) = place();
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    assert!(matches!(
        FileReader::open(&path),
        Err(FileError::Irregular { .. })
    ));
}

#[test]
fn a_checksum_can_be_left_out() {
    let (_folder, path) = place();
    let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
    writer.push(&vec![1u8; 100]).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut reader = FileReader::open(&path).unwrap();
    let entry = reader.entry(0).unwrap();
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[2], entry.place + entry.len - 1)
        .unwrap();
    let error = reader.read::<Vec<u8>>(0).unwrap_err();
    assert!(matches!(error, FileError::Checksum { number: 0, .. }));
    assert!(matches!(
        reader.verify(),
        Err(FileError::Checksum { number: 0, .. })
    ));
    let map = FileMap::copied(&path, ReadOptions::default()).unwrap();
    assert!(matches!(
        map.get::<Vec<u8>>(0),
        Err(FileError::Checksum { .. })
    ));
    let mut options = ReadOptions::default();
    options.checksums = false;
    let mut reader = FileReader::open_with(&path, options).unwrap();
    assert_eq!(reader.read::<Vec<u8>>(0).unwrap().get().last(), Some(&2));
}

#[test]
fn places_beyond_four_gigabytes_are_reached() {
    let (_folder, path) = place();
    let mut file = File::create_new(&path).unwrap();
    // A hole of ten gigabytes before the appended objects, which the end of the commit includes.
    let mut front = vec![0u8; 1536];
    front[..8].copy_from_slice(b"jstfile\x01");
    let commit = [1u64, 10 << 30, 0, 0, 0];
    let bytes: Vec<u8> = commit.iter().flat_map(|word| word.to_le_bytes()).collect();
    front[512..552].copy_from_slice(&bytes);
    front[552..560].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(&bytes).to_le_bytes());
    file.write_all(&front).unwrap();
    file.set_len(10 << 30).unwrap();
    file.rewind().unwrap();
    drop(file);
    let mut writer = FileWriter::append(&path).unwrap();
    writer.push(&line(0)).unwrap();
    writer.push(&vec![5u8; 1 << 20]).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let mut reader = FileReader::open(&path).unwrap();
    assert!(reader.entry(0).unwrap().place >= 10 << 30);
    reader.verify().unwrap();
    assert_eq!(reader.read::<Line>(0).unwrap().get().text, "line 0");
    // SAFETY: no other thread or process accesses the file.
    let map = unsafe { FileMap::open(&path, ReadOptions::default()) }.unwrap();
    assert_eq!(map.get::<Line>(0).unwrap().text, "line 0");
    assert_eq!(map.get::<Vec<u8>>(1).unwrap().len(), 1 << 20);
    let error = FileMap::copied(&path, ReadOptions::default()).unwrap_err();
    assert!(
        matches!(error, FileError::TooLong { .. }),
        "more than the limit"
    );
}
