//! Replacement of an existing file by a new one: links, permissions, pipes and concurrent writers.
#![cfg(unix)]

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::thread;

use jstream::file::{FileError, FileReader, FileWriter, WriteOptions};
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

/// Writes a new file with one number.
fn written(path: &Path, number: u32) -> Result<FileWriter, FileError> {
    let mut writer = FileWriter::create_with(path, &quick())?;
    writer.push(&number)?;
    writer.commit()?;
    Ok(writer)
}

#[track_caller]
fn assert_number(path: &Path, number: u32) {
    let mut reader = FileReader::open(path).unwrap();
    assert_eq!(*reader.read::<u32>(0).unwrap().get(), number);
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_was_private_stays_private() {
    let (_folder, path) = place();
    drop(written(&path, 1).unwrap());
    for before in [0o600, 0o640, 0o444] {
        fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
        drop(written(&path, before).unwrap());
        assert_eq!(mode(&path), before);
        assert_number(&path, before);
        // The temporary file has no wider permissions either.
        let writer = FileWriter::create(&path).unwrap();
        let names = fs::read_dir(path.parent().unwrap()).unwrap();
        let modes = names.map(|name| mode(&name.unwrap().path()));
        let others = modes.collect::<Vec<_>>();
        assert_eq!(others.len(), 2);
        assert!(
            others.iter().all(|other| other & !before == 0),
            "{others:?}"
        );
        drop(writer);
    }
}

#[test]
fn a_link_goes_on_leading_to_its_file() {
    let (folder, path) = place();
    let other = tempdir().unwrap();
    let led_to = other.path().join("b.jst");
    drop(written(&led_to, 1).unwrap());
    symlink(&led_to, &path).unwrap();
    drop(written(&path, 2).unwrap());
    assert!(path.symlink_metadata().unwrap().is_symlink());
    assert_number(&led_to, 2);
    // A dangling link is replaced.
    let nowhere = folder.path().join("nowhere");
    symlink(other.path().join("nothing"), &nowhere).unwrap();
    drop(written(&nowhere, 3).unwrap());
    assert_number(&nowhere, 3);
    assert!(nowhere.symlink_metadata().unwrap().is_file());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn what_is_no_file_is_not_replaced() {
    let (folder, path) = place();
    let made = rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU);
    made.unwrap();
    let error = written(&path, 1).unwrap_err();
    assert!(matches!(error, FileError::Irregular { .. }), "{error}");
    assert!(path.metadata().unwrap().file_type().is_fifo());
    let error = written(folder.path(), 1).unwrap_err();
    assert!(matches!(error, FileError::Irregular { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// If several writers give their new files the same name at the same time, one succeeds. The others
/// get an error instead of continuing with a file that has no name.
#[test]
fn one_writer_at_a_time_has_the_name() {
    let (_folder, path) = place();
    for round in 0..500 {
        if round % 2 == 0 {
            let _ = fs::remove_file(&path);
        }
        let together = Barrier::new(3);
        let writers = thread::scope(|scope| {
            let threads = (0..3).map(|number| {
                let (path, together) = (&path, &together);
                scope.spawn(move || {
                    let mut writer = FileWriter::create_with(path, &quick()).unwrap();
                    writer.push(&number).unwrap();
                    together.wait();
                    let result = writer.commit();
                    (number, writer, result)
                })
            });
            let threads = threads.collect::<Vec<_>>();
            let ends = threads.into_iter().map(|thread| thread.join().unwrap());
            ends.collect::<Vec<_>>()
        });
        let mut holders = Vec::new();
        for (number, _, result) in &writers {
            match result {
                Ok(()) => holders.push(*number),
                Err(FileError::Locked { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
        let &[holder] = holders.as_slice() else {
            panic!("round {round}: {holders:?} committed");
        };
        assert_number(&path, holder);
    }
}

/// If replacing is disabled, a writer never overwrites a file that another writer has created.
#[test]
fn a_file_need_not_be_replaced() {
    let (folder, path) = place();
    let mut options = quick();
    options.replace = false;
    let refused = |error: FileError| {
        let FileError::System { source, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(source.kind(), ErrorKind::AlreadyExists);
    };
    let mut first = FileWriter::create_with(&path, &options).unwrap();
    let mut second = FileWriter::create_with(&path, &options).unwrap();
    first.push(&1u32).unwrap();
    second.push(&2u32).unwrap();
    first.commit().unwrap();
    assert!(matches!(second.commit(), Err(FileError::Locked { .. })));
    drop(first);
    refused(second.commit().unwrap_err());
    refused(FileWriter::create_with(&path, &options).unwrap_err());
    drop(second);
    assert_number(&path, 1);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn an_open_file_is_one_to_read_and_to_write() {
    let (_folder, path) = place();
    let refused = |file: File| {
        let error = FileWriter::in_file(file, &quick()).unwrap_err();
        assert!(matches!(error, FileError::Mode { .. }), "{error}");
        error.to_string()
    };
    // With the append flag, all writes go to the end of the file, whatever their offset.
    let mut how = OpenOptions::new();
    let file = how.create(true).read(true).append(true).open(&path);
    assert!(refused(file.unwrap()).contains("opened in append mode"));
    refused(File::create(&path).unwrap());
    refused(File::open(&path).unwrap());

    let file = OpenOptions::new().read(true).write(true).open(&path);
    let mut writer = FileWriter::in_file(file.unwrap(), &quick()).unwrap();
    for number in 0u32..3 {
        writer.push(&number).unwrap();
        writer.commit().unwrap();
    }
    assert_number(&path, 0);
}

/// A relative path is resolved when the writer is created. (No other test in this program has a
/// path that depends on the current directory.)
#[test]
fn a_program_may_go_elsewhere() {
    let (folder, path) = place();
    let elsewhere = tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    let mut writer = FileWriter::create_with("a.jst", &quick()).unwrap();
    writer.push(&7u32).unwrap();
    std::env::set_current_dir(elsewhere.path()).unwrap();
    writer.commit().unwrap();
    assert_number(&path, 7);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    std::env::set_current_dir("/").unwrap();
}
