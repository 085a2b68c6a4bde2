//! Writers that are killed, and writers that run out of system resources.
//!
//! Tests that limit or kill a whole process start this program again as a child and tell it by an
//! environment variable what to do.
#![cfg(target_os = "linux")]

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};
use tempfile::tempdir;
use testing::process::{self, ROLE, role};
use xxhash_rust::xxh3::xxh3_64;

/// Returns the file to work on if this process is such a child.
fn told() -> Option<PathBuf> {
    role().map(PathBuf::from)
}

/// Returns a command that runs one test in a new process of this program, after the shell commands
/// `before`.
fn again(test: &str, path: &Path, before: &str) -> Command {
    let test = format!("files::crash::{test}");
    let direct = process::again(&test, path.to_str().unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{before} exec \"$@\""), "sh"])
        .arg(direct.get_program())
        .args(direct.get_args())
        .env(ROLE, path)
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

fn quick() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.sync = false;
    options
}

/// Starts the child, kills it `micros` microseconds after its first output, and returns the last
/// number that it printed.
fn killed(test: &str, path: &Path, micros: u64) -> u64 {
    let mut child = again(test, path, "").spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut numbers = lines.map_while(Result::ok).filter_map(|line| {
        let number = line.strip_prefix("done ")?;
        number.parse::<u64>().ok()
    });
    let first = numbers.next().expect("it says something before it ends");
    thread::sleep(Duration::from_micros(micros));
    child.kill().unwrap();
    child.wait().unwrap();
    numbers.last().unwrap_or(first)
}

#[test]
#[ignore = "run by another test"]
fn appends_without_end() {
    let Some(path) = told() else { return };
    let first = FileReader::open(&path).unwrap().len();
    for number in first.. {
        let mut writer = FileWriter::append_with(&path, &quick()).unwrap();
        writer
            .push(&(number, "x".repeat((number as usize * 997) % 70_000)))
            .unwrap();
        writer.commit().unwrap();
        println!("done {}", number + 1);
    }
}

#[test]
fn a_program_that_is_killed_while_it_appends_leaves_whole_objects() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    FileWriter::create(&path).unwrap().commit().unwrap();
    let mut before = 0;
    for round in 0..12 {
        let said = killed("appends_without_end", &path, 1_700 * round);
        let mut reader = FileReader::open(&path).unwrap();
        reader.verify().unwrap();
        let count = reader.len();
        assert!(count >= said.max(before), "{count} of {said} are there");
        for (number, object) in reader.iter::<(u64, String)>().enumerate() {
            assert_eq!(object.unwrap().get().0, number as u64);
        }
        before = count;
    }
    assert!(before >= 12, "each round adds something");
}

#[test]
#[ignore = "run by another test"]
fn creates_without_end() {
    let Some(path) = told() else { return };
    for generation in 0u64.. {
        let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
        for _ in 0..generation % 50 {
            writer.push(&vec![generation; 3000]).unwrap();
        }
        writer.commit().unwrap();
        println!("done {generation}");
    }
}

#[test]
fn a_program_that_is_killed_while_it_creates_leaves_the_old_file_or_the_new() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    FileWriter::create(&path).unwrap().commit().unwrap();
    for round in 0..12 {
        let said = killed("creates_without_end", &path, 1_700 * round);
        let mut reader = FileReader::open(&path).unwrap();
        reader.verify().unwrap();
        let objects: Vec<_> = reader.iter::<Vec<u64>>().map(Result::unwrap).collect();
        if let Some(first) = objects.first() {
            let generation = first.get()[0];
            assert_eq!(objects.len() as u64, generation % 50, "whole");
            assert!(
                objects
                    .iter()
                    .all(|one| one.get().iter().all(|word| *word == generation))
            );
            assert!(generation >= said);
        }
    }
}

#[test]
#[ignore = "run by another test"]
fn fills_its_allowance() {
    let Some(path) = told() else { return };
    let mut writer = FileWriter::append(&path).unwrap();
    let large = vec![7u8; 60_000];
    let mut count = 0;
    let error = loop {
        match writer.push(&large) {
            Ok(_) => count += 1,
            Err(error) => break error,
        }
    };
    assert!(count > 0);
    assert!(error.to_string().contains("a.jst"), "{error}");
    let FileError::System { source, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), ErrorKind::FileTooLarge);
    // The earlier objects are still pending. A small object may still fit; the commit then succeeds
    // as a whole or fails as a whole.
    let _ = writer.push(&1u8);
    let committed = writer.commit();
    drop(writer);
    let mut reader = FileReader::open(&path).unwrap();
    reader.verify().unwrap();
    if committed.is_ok() {
        assert!(reader.len() > count);
    } else {
        assert_eq!(reader.len(), 1);
    }
    assert_eq!(*reader.read::<u64>(0).unwrap().get(), 42);
    // A new file that exceeds the limit is not created.
    let other = path.with_file_name("other");
    let mut writer = FileWriter::create(&other).unwrap();
    while writer.push(&large).is_ok() {}
    let result = writer.commit();
    drop(writer);
    assert_eq!(result.is_ok(), other.exists());
    println!("done {count}");
}

#[test]
fn the_limit_of_a_files_size_is_an_error() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    let mut writer = FileWriter::create(&path).unwrap();
    writer.push(&42u64).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let output = again(
        "fills_its_allowance",
        &path,
        "trap '' XFSZ; ulimit -f 1000;",
    )
    .output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("done"));
    let left = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    assert!(
        left.into_iter()
            .all(|name| name == "a.jst" || name == "other")
    );
}

#[test]
#[ignore = "run by another test"]
fn opens_until_there_is_nothing_left() {
    let Some(path) = told() else { return };
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    let none_left = |error: FileError| match error {
        FileError::System { source, .. } => {
            assert!(source.to_string().contains("os error 24"), "{source}");
        }
        error => panic!("{error}"),
    };
    none_left(FileReader::open(&path).unwrap_err());
    none_left(FileWriter::append(&path).unwrap_err());
    none_left(FileWriter::create(path.with_file_name("other")).unwrap_err());
    none_left(FileWriter::in_memory().unwrap_err());
    none_left(FileMap::copied(&path, ReadOptions::default()).unwrap_err());
    files.pop();
    assert_eq!(
        *FileReader::open(&path)
            .unwrap()
            .read::<u64>(0)
            .unwrap()
            .get(),
        42
    );
    println!("done {}", files.len());
}

#[test]
fn no_descriptors_left_is_an_error() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    let mut writer = FileWriter::create(&path).unwrap();
    writer.push(&42u64).unwrap();
    writer.commit().unwrap();
    drop(writer);
    let output = again("opens_until_there_is_nothing_left", &path, "ulimit -n 64;").output();
    let output = output.unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("done"));
}

#[test]
#[ignore = "run by another test"]
fn maps_more_than_it_may() {
    let Some(path) = told() else { return };
    // SAFETY: no other thread or process accesses the file.
    let error = unsafe { FileMap::open(&path, ReadOptions::default()) }.unwrap_err();
    assert!(
        matches!(
            error,
            FileError::System {
                doing: "mapping",
                ..
            }
        ),
        "{error}"
    );
    assert_eq!(
        *FileReader::open(&path)
            .unwrap()
            .read::<u64>(0)
            .unwrap()
            .get(),
        42
    );
    println!("done 1");
}

#[test]
fn too_little_address_space_for_a_map_is_an_error() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.jst");
    let mut writer = FileWriter::create_with(&path, &quick()).unwrap();
    writer.push(&42u64).unwrap();
    writer.commit().unwrap();
    drop(writer);
    // The commit includes a hole of ten gigabytes.
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let mut commit = [0; 40];
    file.read_exact_at(&mut commit, 512).unwrap();
    commit[8..16].copy_from_slice(&(10u64 << 30).to_le_bytes());
    file.write_all_at(&commit, 512).unwrap();
    file.write_all_at(&xxh3_64(&commit).to_le_bytes(), 552)
        .unwrap();
    file.set_len(10 << 30).unwrap();
    if cfg!(address_sanitizer) {
        // A sanitizer needs more address space than the limit allows.
        return;
    }
    let output = again("maps_more_than_it_may", &path, "ulimit -v 4000000;")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(String::from_utf8_lossy(&output.stdout).contains("done"));
}

#[test]
fn a_full_device_is_an_error() {
    let full = || {
        OpenOptions::new()
            .read(true)
            .write(true)
            .open("/dev/full")
            .unwrap()
    };
    let mut writer = FileWriter::in_file(full(), &quick()).unwrap();
    let error = writer.push(&vec![1u8; 1 << 20]).unwrap_err();
    let FileError::System { source, .. } = error else {
        panic!("{error}")
    };
    assert_eq!(source.kind(), ErrorKind::StorageFull);
    writer.push(&1u8).unwrap();
    for _ in 0..2 {
        let error = writer.commit().unwrap_err();
        let FileError::System { source, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(
            source.kind(),
            ErrorKind::StorageFull,
            "the commit can be retried"
        );
    }
}

#[test]
fn a_folder_that_takes_no_files_is_an_error() {
    let error = FileWriter::create("/proc/a.jst").unwrap_err();
    assert!(matches!(error, FileError::System { .. }));
    assert!(error.to_string().contains("/proc"), "{error}");
    let folder = tempdir().unwrap();
    let error = FileWriter::create(folder.path().join("none/a.jst")).unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
    // A folder occupies the name of the file. The commit fails, and the writer keeps its objects.
    let taken = folder.path().join("taken");
    fs::create_dir_all(taken.join("inside")).unwrap();
    let mut writer = FileWriter::create_with(&taken, &quick()).unwrap();
    writer.push(&1u8).unwrap();
    assert!(matches!(writer.commit(), Err(FileError::Irregular { .. })));
    fs::remove_dir_all(&taken).unwrap();
    writer.commit().unwrap();
    assert_eq!(FileReader::open(&taken).unwrap().len(), 1);
}
