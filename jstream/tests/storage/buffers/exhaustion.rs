//! Exhausts every system resource that buffers need, each in its own process, and expects an error.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::sync::Arc;

use jstream::EmptyBuffer;
use jstream::buffer::{
    Backing, Pages, Pool, PoolError, PoolOptions, Region, RegionOptions, WhenLow,
};
use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};
use testing::process::alone_by;

/// Runs `test` in a process of its own, in a shell that sets `limits`, and without the capability
/// to lock more memory than allowed.
#[track_caller]
fn with_limits(limits: &str, test: impl FnOnce()) {
    let limited = |direct: Command| {
        let mut shell = Command::new("setpriv");
        let without = ["--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"];
        shell.args(without).arg("sh");
        let works = Command::new("setpriv")
            .args(without)
            .arg("true")
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success());
        if !works {
            // Without a working `setpriv`, the program must lack that capability already.
            shell = Command::new("sh");
        }
        shell.args(["-c", &format!("{limits} && exec \"$@\""), "sh"]);
        shell.arg(direct.get_program()).args(direct.get_args());
        shell.envs(
            direct
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        shell
    };
    alone_by(limited, test);
}

fn pool(change: impl FnOnce(&mut PoolOptions)) -> Pool {
    let mut options = PoolOptions::default();
    options.max_mapped = usize::MAX;
    change(&mut options);
    Pool::new(options)
}

/// Takes buffers until the pool fails, and returns the error.
fn take_all(pool: &Pool, capacity: usize) -> PoolError {
    let mut out = Vec::with_capacity(100_000);
    loop {
        match pool.take(capacity) {
            Ok(jbuf) => out.push(jbuf.zeroed(16).unwrap()),
            Err(error) => {
                assert!(!out.is_empty());
                assert_eq!(pool.stats().in_use, out.len());
                return error;
            }
        }
    }
}

#[test]
#[cfg_attr(address_sanitizer, ignore = "the sanitizer needs more address space")]
fn address_space() {
    with_limits("ulimit -v 300000", || {
        let pool = pool(|_| {});
        for capacity in [256 * 1024, 1 << 20, 64 << 20] {
            let error = take_all(&pool, capacity);
            assert!(matches!(error, PoolError::System { .. }), "{error}");
            // The pool unmaps the idle buffers of other sizes to make room.
            drop(pool.take(128 << 20).unwrap());
        }
        assert!(pool.trim() > 0);
        assert_eq!(pool.stats().mapped, 0);
        let error = Region::anonymous(1 << 30).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
        let heap = self::pool(|options| {
            options.when_low = WhenLow::Heap {
                max_bytes: usize::MAX,
            }
        });
        let error = heap.take(1 << 30).unwrap_err();
        assert!(matches!(error, PoolError::System { .. }), "{error}");
        assert_eq!(heap.stats().on_heap, 0);
    });
}

#[test]
fn locked_memory() {
    with_limits("ulimit -l 64", || {
        let mut options = RegionOptions::default();
        options.locked = true;
        let small = options.map(4096).unwrap();
        assert_eq!(small.is_locked(), small.lock_refused().is_none());
        let large = options.map(1 << 20).unwrap();
        assert_eq!(large.is_locked(), large.lock_refused().is_none());
        let region = Arc::new(Region::anonymous(1 << 20).unwrap());
        let registration = region.register();
        assert_eq!(region.is_locked(), registration.refused().is_none());
        let pool = pool(|pool| pool.region = options);
        drop(pool.take(1 << 20).unwrap().zeroed(1 << 20).unwrap());
        assert!(
            pool.regions()
                .iter()
                .all(|(_, region)| { region.is_locked() == region.lock_refused().is_none() })
        );
    });
}

#[test]
fn descriptors() {
    with_limits("ulimit -n 16", || {
        let mut options = RegionOptions::default();
        options.backing = Backing::Memfd;
        let pool = pool(|pool| pool.region = options.clone());
        let error = take_all(&pool, 256 * 1024);
        assert!(matches!(error, PoolError::System { .. }), "{error}");
        // Idle buffers need no new file descriptor.
        assert!(pool.take(1 << 20).is_ok());
        let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
        assert!(!files.is_empty());
        assert!(options.map(4096).is_err());
        assert!(Region::anonymous(4096).is_ok());
        assert!(Pool::default().take(1).is_ok());
    });
}

#[test]
fn length_of_files() {
    // The unit is 1024 or 512 bytes, depending on the shell.
    with_limits("ulimit -f 1000", || {
        let mut options = RegionOptions::default();
        options.backing = Backing::Memfd;
        let error = options.map(1 << 20).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::FileTooLarge, "{error}");
        let pool = pool(|pool| pool.region = options.clone());
        let error = pool.take(1 << 20).unwrap_err();
        assert!(matches!(error, PoolError::System { .. }), "{error}");
        assert!(pool.take(256 * 1024).is_ok());
    });
}

#[test]
fn huge_pages() {
    with_limits("true", || {
        let mut options = RegionOptions::default();
        options.huge_pages = true;
        // More huge pages than any machine has reserved.
        let pool = pool(|pool| pool.region = options.clone());
        let jbuf = pool.take(300).unwrap().zeroed(300).unwrap();
        let region = pool.region(jbuf.place().unwrap().region).unwrap();
        assert_eq!(region.len(), 2 << 20);
        assert_eq!(
            region.pages() == Pages::Huge,
            region.huge_refused().is_none()
        );
        let more: Vec<_> = (0..10_000).map(|_| pool.take(200).unwrap()).collect();
        assert_eq!(pool.regions().len(), 1 + more.len().div_ceil(8192));
        options.backing = Backing::Memfd;
        let region = options.map(1).unwrap();
        assert_eq!(
            region.pages() == Pages::Huge,
            region.huge_refused().is_none()
        );
        assert!(region.share().is_ok());
    });
}

/// The length of an object in a file never aborts the program: if memory runs out, the read fails.
#[test]
#[cfg_attr(address_sanitizer, ignore = "the sanitizer needs more address space")]
fn memory_for_objects_of_files() {
    with_limits("ulimit -v 400000", || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.jst");
        let mut options = WriteOptions::default();
        options.sync = false;
        let mut writer = FileWriter::create_with(&path, &options).unwrap();
        writer.push(&vec![7u8; 60 << 20]).unwrap();
        writer.commit().unwrap();
        drop(writer);

        let refused = |error: FileError| {
            let FileError::System { source, .. } = &error else {
                panic!("{error}")
            };
            assert_eq!(source.kind(), ErrorKind::OutOfMemory, "{error}");
        };
        let mut options = ReadOptions::default();
        options.checksums = false;
        let mut reader = FileReader::open_with(&path, options).unwrap();
        let mut all = Vec::new();
        loop {
            match reader.read::<Vec<u8>>(0) {
                Ok(received) => all.push(received),
                Err(error) => break refused(error),
            }
        }
        assert!(!all.is_empty());
        refused(FileMap::copied(&path, ReadOptions::default()).unwrap_err());
        refused(
            reader
                .read_into::<Vec<u8>>(0, EmptyBuffer::heap(1))
                .unwrap_err(),
        );
        drop(all);
        assert_eq!(reader.read::<Vec<u8>>(0).unwrap().get().len(), 60 << 20);
    });
}
