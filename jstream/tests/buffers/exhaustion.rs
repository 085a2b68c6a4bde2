//! Exhausts every system resource that buffers need, each in its own process, and expects an error.
#![cfg(target_os = "linux")]

use std::env;
use std::fs::File;
use std::io::ErrorKind;
use std::process::{Command, Stdio};
use std::sync::Arc;

use jstream::Spent;
use jstream::buffer::{
    Backing, Pages, Pool, PoolError, PoolOptions, Region, RegionOptions, WhenLow,
};
use jstream::file::{FileError, FileMap, FileReader, FileWriter, ReadOptions, WriteOptions};

const CHILD: &str = "JSTREAM_EXHAUSTION_CHILD";

/// Runs `test` if this process is the child for it. Otherwise runs this program again, for this
/// test alone, in a shell that sets `limits`, and without the capability to lock more memory than
/// allowed.
fn with_limits(name: &str, limits: &str, test: impl FnOnce()) {
    if env::var_os(CHILD).is_some() {
        return test();
    }
    let program = env::current_exe().unwrap();
    let run =
        format!("{limits} && exec \"$0\" --exact exhaustion::{name} --nocapture --test-threads=1");
    let shell = ["sh", "-c", &run];
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock"]);
    let privileges = Command::new("setpriv")
        .args(["--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "true"])
        .stderr(Stdio::null())
        .status();
    if privileges.is_ok_and(|status| status.success()) {
        command.args(shell);
    } else {
        // Without a working `setpriv`, the program must lack that capability already.
        command = Command::new(shell[0]);
        command.args(&shell[1..]);
    }
    let output = command.arg(program).env(CHILD, "1").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}\n{text}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
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
fn address_space() {
    // A sanitizer needs more address space than the limit allows.
    if env::var_os("ASAN_OPTIONS").is_some() {
        return;
    }
    with_limits("address_space", "ulimit -v 300000", || {
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
    with_limits("locked_memory", "ulimit -l 64", || {
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
    with_limits("descriptors", "ulimit -n 16", || {
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
    with_limits("length_of_files", "ulimit -f 1000", || {
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
    with_limits("huge_pages", "true", || {
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
fn memory_for_objects_of_files() {
    if env::var_os("ASAN_OPTIONS").is_some() {
        return;
    }
    with_limits("memory_for_objects_of_files", "ulimit -v 400000", || {
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
        refused(reader.read_into::<Vec<u8>>(0, Spent::heap(1)).unwrap_err());
        drop(all);
        assert_eq!(reader.read::<Vec<u8>>(0).unwrap().get().len(), 60 << 20);
    });
}
