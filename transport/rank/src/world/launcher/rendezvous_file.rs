//! A file through which the processes of a job on one host agree, if the launcher has no key-value
//! store. Only processes of the same user can read it.
//!
//! Decision 094 has the reasons.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::geteuid;

use jstream_device::deadline::Deadline;

/// Maximum length in bytes of the file.
const LONGEST: u64 = 64 << 10;

/// First and last pause between two looks for the file. The pause doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LAST_PAUSE: Duration = Duration::from_millis(20);

/// Number of attempts to create the file while other jobs remove the folder.
const ATTEMPTS: u32 = 100;

/// A file that rank 0 has written. Dropping this removes it, and the folder if it is empty then.
#[derive(Debug)]
pub(super) struct RendezvousFile {
    folder: PathBuf,
    path: PathBuf,
}

impl RendezvousFile {
    /// Writes the file of this name, so that others see either all of it or nothing.
    pub(super) fn publish(name: &str, text: &str) -> io::Result<Self> {
        Self::publish_in(&folder(), name, text)
    }

    fn publish_in(folder: &Path, name: &str, text: &str) -> io::Result<Self> {
        let mut attempts = 0u32;
        loop {
            create_private(folder)?;
            match write(folder, name, text) {
                // Another job has removed the empty folder meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound && attempts < ATTEMPTS => {
                    attempts = attempts.saturating_add(1);
                }
                Err(error) => return Err(error),
                Ok(path) => {
                    return Ok(Self {
                        folder: folder.to_owned(),
                        path,
                    });
                }
            }
        }
    }
}

impl Drop for RendezvousFile {
    fn drop(&mut self) {
        // Neither is an error for the job: a launcher may have cleaned up, and other jobs may use
        // the folder.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Waits for the file of this name, and returns its text.
pub(super) fn obtain(name: &str, until: Deadline) -> io::Result<String> {
    obtain_in(&folder(), name, until)
}

fn obtain_in(folder: &Path, name: &str, until: Deadline) -> io::Result<String> {
    let mut pause = FIRST_PAUSE;
    loop {
        match read(folder, name) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            read => return read,
        }
        if until.has_passed() {
            let text = format!(
                "rank 0 did not write {} in time",
                folder.join(name).display()
            );
            return Err(io::Error::new(ErrorKind::TimedOut, text));
        }
        thread::sleep(until.left().map_or(pause, |left| left.min(pause)));
        pause = pause.saturating_mul(2).min(LAST_PAUSE);
    }
}

/// Returns the folder of this user for such files.
fn folder() -> PathBuf {
    let user = geteuid().as_raw();
    std::env::temp_dir().join(format!("jstream-{user}"))
}

/// Creates the folder, or checks that only this user can use it.
fn create_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match check_folder(folder) {
            // Another job has removed it. The caller tries again.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            checked => checked,
        },
        created => created,
    }
}

fn check_folder(folder: &Path) -> io::Result<()> {
    // The name is predictable, so another user may have made the folder, or a link in its place.
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "{} is not a folder that only this user can access; remove it",
            folder.display()
        )));
    }
    Ok(())
}

fn write(folder: &Path, name: &str, text: &str) -> io::Result<PathBuf> {
    let path = folder.join(name);
    // Written under another name and then renamed, so that a reader never finds a part.
    let begun = folder.join(format!("{name}.{}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&begun)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| fs::rename(&begun, &path));
    match written {
        Ok(()) => Ok(path),
        Err(error) => {
            let _ = fs::remove_file(&begun);
            Err(error)
        }
    }
}

fn read(folder: &Path, name: &str) -> io::Result<String> {
    check_folder(folder)?;
    let file = File::open(folder.join(name))?;
    // The open file is checked, not its name, which may have been replaced meanwhile.
    let found = file.metadata()?;
    if !found.is_file() || found.uid() != geteuid().as_raw() || found.mode() & 0o077 != 0 {
        return Err(io::Error::other(format!(
            "{} is not a file that only this user can access",
            folder.join(name).display()
        )));
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// A folder for one test, which does not exist yet.
    fn fresh(name: &str) -> PathBuf {
        let process = std::process::id();
        std::env::temp_dir().join(format!("jstream-test-{process}-{name}"))
    }

    #[test]
    fn files_are_private_and_removed() {
        let folder = fresh("private");
        let file = RendezvousFile::publish_in(&folder, "job", "text").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("job"))), (0o700, 0o600));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let found = obtain_in(&folder, "job", Deadline::after(Duration::ZERO));
        assert_eq!(found.unwrap(), "text");
        drop(file);
        assert!(!folder.exists());
    }

    #[test]
    fn waiting_ends_with_the_file_or_in_time() {
        let folder = fresh("timed_out");
        let timed_out = obtain_in(&folder, "job", Deadline::after(Duration::from_millis(5)));
        assert_eq!(timed_out.unwrap_err().kind(), ErrorKind::TimedOut);
        let file = thread::scope(|scope| {
            let waiting = scope.spawn(|| obtain_in(&folder, "job", Deadline::NEVER));
            let file = RendezvousFile::publish_in(&folder, "job", "text").unwrap();
            assert_eq!(waiting.join().unwrap().unwrap(), "text");
            file
        });
        drop(file);
    }

    #[test]
    fn files_that_others_can_write_are_not_read() {
        let folder = fresh("open");
        let file = RendezvousFile::publish_in(&folder, "job", "text").unwrap();
        let now = Deadline::after(Duration::ZERO);
        fs::set_permissions(&file.path, fs::Permissions::from_mode(0o604)).unwrap();
        let error = obtain_in(&folder, "job", now).unwrap_err().to_string();
        assert!(error.contains("not a file that only this user"), "{error}");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o711)).unwrap();
        let error = obtain_in(&folder, "job", now).unwrap_err().to_string();
        assert!(
            error.contains("not a folder that only this user"),
            "{error}"
        );
        let refused = RendezvousFile::publish_in(&folder, "other", "text").unwrap_err();
        assert!(refused.to_string().contains("not a folder"), "{refused}");
    }

    #[test]
    fn jobs_that_end_do_not_disturb_others() {
        let folder = fresh("many");
        thread::scope(|scope| {
            for job in 0..4 {
                let folder = &folder;
                scope.spawn(move || {
                    for _ in 0..50 {
                        let name = format!("job-{job}");
                        let file = RendezvousFile::publish_in(folder, &name, "text").unwrap();
                        let found = obtain_in(folder, &name, Deadline::after(Duration::ZERO));
                        assert_eq!(found.unwrap(), "text");
                        drop(file);
                    }
                });
            }
        });
        assert!(!folder.exists());
    }
}
