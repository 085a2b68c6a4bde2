use super::*;

#[test]
fn contains_knows_its_edges() {
    let region = Region::anonymous(4096).unwrap();
    assert_eq!(region.base().addr().get() % 4096, 0);
    let outside = 7u64;
    assert!(!region.contains(&outside));
    // SAFETY: the mapping is 4,096 zeroed bytes that nothing else refers to.
    let all = unsafe { std::slice::from_raw_parts(region.base().as_ptr(), region.len()) };
    assert!(region.contains(all));
    assert!(region.contains(&all[4095]));
    assert!(!region.is_empty());
}

#[test]
fn an_empty_region_is_refused() {
    let error = Region::anonymous(0).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
}

#[test]
fn what_was_got_is_said() {
    let options = RegionOptions {
        huge_pages: true,
        locked: true,
        ..RegionOptions::default()
    };
    let region = options.map(1).unwrap();
    assert_eq!(region.len(), HUGE_PAGE);
    assert_eq!(
        region.pages() == Pages::Huge,
        region.huge_refused().is_none()
    );
    assert_eq!(region.is_locked(), region.lock_refused().is_none());
    let plain = Region::anonymous(1).unwrap();
    assert_eq!(plain.pages(), Pages::Normal);
    assert!(!plain.is_locked() && plain.huge_refused().is_none());
}

#[test]
fn the_last_registration_unpins() {
    let region = Arc::new(Region::anonymous(4096).unwrap());
    let first = region.register();
    let pinned = first.refused().is_none();
    let second = region.register();
    assert_eq!(region.registered(), 2);
    assert_eq!(region.is_locked(), pinned);
    drop(first);
    assert_eq!(region.is_locked(), pinned);
    assert!(second.region().contains(&second.region().map) == region.contains(&region.map));
    drop(second);
    assert!(!region.is_locked());
    assert_eq!(region.registered(), 0);
    assert_eq!(region.register().refused().is_none(), pinned);
}

#[test]
fn a_region_locked_from_its_beginning_stays_so() {
    let options = RegionOptions {
        locked: true,
        ..RegionOptions::default()
    };
    let region = Arc::new(options.map(4096).unwrap());
    let locked = region.is_locked();
    drop(region.register());
    assert_eq!(region.is_locked(), locked);
}

#[cfg(target_os = "linux")]
#[test]
fn a_shared_memory_file_is_written_through_its_region_alone() {
    use std::io::{Read, Seek, Write};

    let options = RegionOptions {
        backing: Backing::Memfd,
        ..RegionOptions::default()
    };
    let region = options.map(4096).unwrap();
    let mut file = File::from(region.share().unwrap().try_clone_to_owned().unwrap());
    assert!(file.write_all(b"x").is_err());
    assert!(file.set_len(0).is_err());
    // SAFETY: the region has 4,096 bytes, to which there are no references.
    unsafe { region.base().as_ptr().write(7) };
    let mut first = [0];
    file.rewind().unwrap();
    file.read_exact(&mut first).unwrap();
    assert_eq!(first, [7]);
    // SAFETY: only the region above writes to the file, and it does not do so any more.
    assert!(unsafe { Region::file(&file) }.is_err(), "writing is sealed");
    assert!(region.share().is_ok());
    assert!(Region::anonymous(1).unwrap().share().is_err());
}

/// The file is found by its inode among the descriptors of the process, as any process of the same
/// user can find it.
#[cfg(target_os = "linux")]
#[test]
fn a_memory_file_is_sealed_before_its_region_is_used() {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    for huge_pages in [false, true] {
        let options = RegionOptions {
            backing: Backing::Memfd,
            huge_pages,
            ..RegionOptions::default()
        };
        let region = options.map(4096).unwrap();
        let number = region.memfd.as_ref().unwrap().as_raw_fd();
        let path = format!("/proc/self/fd/{number}");
        let opened = File::options().read(true).write(true).open(path).unwrap();
        assert!(opened.write_all_at(&[0xff], 0).is_err());
        assert!(opened.set_len(0).is_err());
        assert!(opened.set_len(8 << 20).is_err());
        let mapped = MmapOptions::new().len(4096).map_raw(&opened);
        assert_eq!(
            mapped.err().map(|error| error.kind()),
            Some(io::ErrorKind::PermissionDenied)
        );
        // SAFETY: the byte is the first of the region, which is zeroed.
        assert_eq!(unsafe { region.base().as_ptr().read() }, 0);
        // SAFETY: the range lies in the region, and nothing relies on its bytes.
        assert!(!unsafe { region.forget(0, region.len()) });
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_memory_file_that_another_process_shortened_is_refused() {
    use rustix::fs::{MemfdFlags, SealFlags};

    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = File::from(rustix::fs::memfd_create("test", flags).unwrap());
    file.set_len(4096).unwrap();
    let error = seal_length(&file, 8192).unwrap_err().to_string();
    assert!(error.contains("to 4096 bytes"), "{error}");
    seal_length(&file, 4096).unwrap();
    // Another process has sealed the file in its way.
    rustix::fs::fcntl_add_seals(&file, SealFlags::SEAL).unwrap();
    assert!(seal_writes(&file, 4096).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn only_whole_pages_go_back() {
    fn forget(region: &Region, offset: usize, len: usize) -> bool {
        // SAFETY: the range lies in the region, and nothing relies on its bytes.
        unsafe { region.forget(offset, len) }
    }
    let page = rustix::param::page_size();
    let mut region = Region::anonymous(2 * page).unwrap();
    // SAFETY: the byte lies in the region.
    let last = unsafe { region.base().add(page - 1) };
    // SAFETY: there are no references to the byte.
    unsafe { last.write(7) };
    for (offset, len) in [(0, page - 1), (page / 2, page / 2), (page / 2, page)] {
        assert!(!forget(&region, offset, len));
        // SAFETY: as above.
        assert_eq!(unsafe { last.read() }, 7, "of a part of a page nothing");
    }
    region.pages = Pages::Huge;
    assert!(!forget(&region, 0, page), "a part of a huge page");
    // SAFETY: as above.
    assert_eq!(unsafe { last.read() }, 7);
    region.pages = Pages::Normal;
    assert!(forget(&region, 0, page));
    // SAFETY: as above.
    assert_eq!(unsafe { last.read() }, 0);
}
