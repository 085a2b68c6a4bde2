//! Hazards of file maps: verification functions that ask the map for another object, and memory
//! that may be unavailable.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::sync::OnceLock;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use jstream::Transportable;
use jstream::file::{FileError, FileMap, FileWriter, ReadOptions};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

static MAP: OnceLock<FileMap> = OnceLock::new();

/// A number one above the last object.
const MISSING: u64 = 3;

#[derive(Transportable, Debug)]
#[transportable(verify = leads_to_another)]
struct Link<'b> {
    name: &'b str,
    to: u64,
}

/// Asks the map for another object while it verifies this one. Returns "told" as an error if the
/// map refuses the request with [`FileError::Checking`], otherwise the unexpected result as an
/// error. Accepts the object if its `to` is `u64::MAX`.
fn leads_to_another(link: &Link<'_>) -> Result<(), String> {
    let map = MAP.get().ok_or("no map")?;
    // Requests that take no lock are allowed.
    if link.to == u64::MAX || map.len() != MISSING || format!("{map:?}").is_empty() {
        return Ok(());
    }
    match map.get::<Link<'static>>(link.to) {
        Err(FileError::Checking) => {}
        other => return Err(format!("{other:?}")),
    }
    let (entry, schema) = (map.entry(link.to), map.schema(0));
    assert!(matches!(entry, Err(FileError::Checking)));
    assert!(matches!(schema, Err(FileError::Checking)));
    Err("told".to_owned())
}

#[test]
fn they_are_told_rather_than_kept_waiting() {
    let mut writer = FileWriter::in_memory().unwrap();
    for (name, to) in [("itself", 0), ("the last", 2), ("nothing", u64::MAX)] {
        writer.push(&Link { name, to }).unwrap();
    }
    let map = FileMap::sealed(writer.seal().unwrap(), ReadOptions::default()).unwrap();
    MAP.set(map).unwrap();
    let (done, wait) = channel();
    thread::spawn(move || {
        let map = MAP.get().unwrap();
        for number in 0..2 {
            let error = map.get::<Link<'static>>(number).unwrap_err();
            assert!(error.to_string().contains("told"), "{error}");
        }
        // The map refuses only while it verifies an object.
        assert_eq!(map.get::<Link<'static>>(2).unwrap().name, "nothing");
        done.send(()).unwrap();
    });
    // A deadlock would end in this timeout.
    wait.recv_timeout(Duration::from_secs(60)).unwrap();
}

/// If no huge page is free when a page has to be copied, the kernel kills the program.
#[test]
fn sealed_memory_of_huge_pages_is_not_mapped() {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING | MemfdFlags::HUGETLB;
    let Ok(memory) = memfd_create("huge", flags) else {
        // The system has no huge pages.
        return;
    };
    let memory = File::from(memory);
    memory.set_len(1 << 30).unwrap();
    let seals = SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW;
    fcntl_add_seals(&memory, seals).unwrap();
    let error = FileMap::sealed(memory, ReadOptions::default()).unwrap_err();
    assert!(matches!(error, FileError::HugePages), "{error}");
}
