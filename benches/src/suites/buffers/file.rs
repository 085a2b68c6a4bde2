//! Cost of writing and reading a file of objects, and of reading one object of a large file.

use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::hint::black_box;
use std::io::{Read, Write};
use std::mem;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use jstream::file::{FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};
use jstream::{Pool, Transportable, Writer};
use rkyv::util::AlignedVec;
use tempfile::TempDir;
use xxhash_rust::xxh3::xxh3_64;

use super::Subject;
use crate::Failure;
use crate::measure::since;
use crate::suites::Bench;
use crate::suites::serialization::cases::log::{self, ArchivedLogs, Logs};
use crate::suites::serialization::subjects::{Codec, Rkyv};

/// Number of log entries, the same as in the `serialization` suite.
const ENTRIES: usize = 10_000;

/// A peer that writes and reads a file with the log data set.
trait Peer {
    fn write(&mut self) -> Result<(), Failure>;
    fn read(&mut self) -> Result<(), Failure>;
}

struct Jstream<'a> {
    value: &'a Logs,
    path: &'a Path,
    how: WriteOptions,
    options: ReadOptions,
    /// Writer that is reused for all files, like the buffers of the other peer.
    writer: Writer,
}

impl<'a> Jstream<'a> {
    fn new(value: &'a Logs, path: &'a Path, sync: bool) -> Self {
        let mut how = WriteOptions::default();
        how.sync = sync;
        let mut options = ReadOptions::default();
        options.pool = Some(Pool::default());
        Self {
            value,
            path,
            how,
            options,
            writer: Writer::new(),
        }
    }
}

impl Peer for Jstream<'_> {
    fn write(&mut self) -> Result<(), Failure> {
        let file = FileWriter::create_with(self.path, &self.how)?;
        let mut file = file.with_writer(mem::take(&mut self.writer));
        file.push(black_box(self.value))?;
        file.commit()?;
        self.writer = file.into_writer();
        Ok(())
    }

    fn read(&mut self) -> Result<(), Failure> {
        let mut reader = FileReader::open_with(self.path, self.options.clone())?;
        black_box(reader.read::<Logs>(0)?);
        Ok(())
    }
}

/// Peer that makes the same system calls as jstream, for a file that contains only an rkyv archive,
/// optionally followed by a checksum.
struct Archive<'a> {
    value: &'a Logs,
    path: &'a Path,
    folder: &'a Path,
    sync: bool,
    checksum: bool,
    rkyv: Rkyv,
    into: AlignedVec,
}

impl<'a> Archive<'a> {
    fn new(value: &'a Logs, folder: &'a Path, path: &'a Path) -> Result<Self, Failure> {
        Ok(Self {
            value,
            path,
            folder,
            sync: false,
            checksum: false,
            rkyv: Rkyv::new(value)?,
            into: AlignedVec::new(),
        })
    }
}

impl Peer for Archive<'_> {
    fn write(&mut self) -> Result<(), Failure> {
        let mut file = tempfile::Builder::new().tempfile_in(self.folder)?;
        let archive = self.rkyv.write(black_box(self.value))?;
        file.write_all(archive)?;
        if self.checksum {
            file.write_all(&xxh3_64(archive).to_le_bytes())?;
        }
        if self.sync {
            file.as_file().sync_all()?;
        }
        file.persist(self.path)?;
        if self.sync {
            File::open(self.folder)?.sync_all()?;
        }
        Ok(())
    }

    fn read(&mut self) -> Result<(), Failure> {
        let mut file = File::open(self.path)?;
        let len = usize::try_from(file.metadata()?.len())?;
        self.into.resize(len, 0);
        file.read_exact(&mut self.into)?;
        let mut archive = self.into.as_slice();
        if self.checksum {
            let (before, sum) = archive.split_at(len - 8);
            if xxh3_64(before).to_le_bytes() != sum {
                return Err("the checksum differs".into());
            }
            archive = before;
        }
        black_box(rkyv::access::<ArchivedLogs, rkyv::rancor::Error>(archive)?);
        Ok(())
    }
}

/// Measures writing and reading a file with the log data set.
pub(super) fn log(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    let folder = TempDir::new()?;
    let value = log::value(ENTRIES);
    let paths = ["jstream", "rkyv", "sum"].map(|name| folder.path().join(name));
    let [ours, theirs, summed] = &paths;
    for (metric, sync) in [("", false), ("_synced", true)] {
        let jstream = RefCell::new(Jstream::new(&value, ours, sync));
        let rkyv = RefCell::new(Archive::new(&value, folder.path(), theirs)?);
        let sum = RefCell::new(Archive::new(&value, folder.path(), summed)?);
        rkyv.borrow_mut().sync = sync;
        sum.borrow_mut().sync = sync;
        sum.borrow_mut().checksum = true;
        let peers: [(&'static str, &RefCell<dyn Peer>); 3] = [
            ("jstream", &jstream),
            ("rkyv", &rkyv),
            ("rkyv with a checksum", &sum),
        ];
        type Do = fn(&mut dyn Peer) -> Result<(), Failure>;
        let all: [(&str, Do); 3] = [
            ("write", |peer| peer.write()),
            ("read", |peer| peer.read()),
            ("write_and_read", |peer| {
                peer.write()?;
                peer.read()
            }),
        ];
        // Reading does not depend on whether the file was synced.
        let chosen = if sync { &all[..1] } else { &all[..] };
        for (what, run) in chosen {
            let subjects = peers.iter().zip(&paths).map(|((name, peer), path)| {
                Subject::new(name, move || {
                    // The cost of replacing a file depends on the file system: ext4 then begins to
                    // write the new file to the device.
                    if *what != "read" {
                        let _ = fs::remove_file(path);
                    }
                    let start = Instant::now();
                    run(&mut *peer.borrow_mut())?;
                    Ok(since(start, 1))
                })
            });
            bench.compare(case, &format!("{what}{metric}"), subjects.collect())?;
        }
    }
    for (path, subject) in paths
        .iter()
        .zip(["jstream", "rkyv", "rkyv with a checksum"])
    {
        let bytes = fs::metadata(path)?.len();
        bench.row(case, subject, "bytes", bytes as f64, "bytes");
    }
    let text = "a temporary file, written, named, opened and read, in the system's folder for such \
                files; what is in it stays in the system's cache. jstream compares checksums";
    bench.note(case, text.to_owned());
    Ok(())
}

#[derive(Transportable)]
struct Point {
    x: f64,
    name: String,
}

/// Measures reading one object of a file whose objects are stored behind a hole of 10 GiB.
pub(super) fn sparse(bench: &mut Bench<'_>, case: &str) -> Result<(), Failure> {
    const LEN: u64 = 10 << 30;
    const OBJECTS: u64 = 1_000;
    let folder = TempDir::new()?;
    let path = folder.path().join("sparse");
    let mut options = WriteOptions::default();
    options.sync = false;
    let mut writer = FileWriter::create_with(&path, &options)?;
    writer.commit()?;
    drop(writer);
    let file = OpenOptions::new().read(true).write(true).open(&path)?;
    file.set_len(LEN)?;
    // Edit the commit record so that the hole belongs to the file.
    let mut commit = [0; 40];
    file.read_exact_at(&mut commit, 512)?;
    commit[8..16].copy_from_slice(&LEN.to_le_bytes());
    file.write_all_at(&commit, 512)?;
    file.write_all_at(&xxh3_64(&commit).to_le_bytes(), 552)?;
    drop(file);
    let mut writer = FileWriter::append_with(&path, &options)?;
    for number in 0..OBJECTS {
        writer.push(&Point {
            x: number as f64,
            name: format!("point {number}"),
        })?;
    }
    writer.commit()?;
    drop(writer);

    let open = || {
        // SAFETY: the file is in a new temporary folder, so nothing else accesses it.
        unsafe { FileMap::open(&path, ReadOptions::default()) }
    };
    let map = Subject::new("jstream, map", || {
        let start = Instant::now();
        let map = open()?;
        black_box(map.get::<Point>(black_box(700))?.x);
        let time = since(start, 1);
        drop(map);
        Ok(time)
    });
    let copy = Subject::new("jstream, jbuf", || {
        let start = Instant::now();
        let mut reader = FileReader::open(&path)?;
        black_box(reader.read::<Point>(black_box(700))?.get().x);
        Ok(since(start, 1))
    });
    bench.compare(case, "open_and_read_one", vec![map, copy])?;
    let before = resident()?;
    let map = open()?;
    let x = map.get::<Point>(700)?.x;
    let after = resident()?;
    if x != 700.0 {
        return Err("the wrong object was read".into());
    }
    let used = after.saturating_sub(before).max(1);
    bench.row(case, "jstream, map", "resident", used as f64, "KiB");
    let text = format!(
        "{OBJECTS} objects behind a hole of {} GiB, one of which is read",
        LEN >> 30
    );
    bench.note(case, text);
    Ok(())
}

/// Returns the resident memory of this process, in KiB.
fn resident() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let size = line.and_then(|line| line.split_whitespace().next());
    Ok(size
        .ok_or("the system does not report the memory in use")?
        .parse()?)
}
