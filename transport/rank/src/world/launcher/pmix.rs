//! Client of PMIx, whose library is loaded when the launcher offers it.
//!
//! The functions and types are those of the PMIx standard, which versions 2 to 6 of the library
//! have in the same form. Only few of them are used, so they are declared here.
//!
//! Decision 094 has the reasons.

use jstream_base::events::emit;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::{ManuallyDrop, offset_of};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::mpsc;
use std::thread::Builder;
use tracing::Level;

use libloading::Library;

use super::job::PmixPlace;
use jstream_device::deadline::Deadline;

/// Name of the library.
const NAME: &str = "libpmix.so.2";

/// Folders of the library in the installation of a launcher.
const FOLDERS: [&str; 3] = ["lib", "lib64", "lib/openmpi"];

/// Maximum length in bytes of a value. Limits how much of the library's memory is read.
const LONGEST: usize = 64 << 10;

/// Bits of the mode of a file.
const WRITE_BY_OTHERS: u32 = 0o002;
const STICKY: u32 = 0o1000;

const SUCCESS: c_int = 0;
/// The scope of values that all processes can get.
const GLOBAL: u8 = 3;
/// The type of values that are text.
const STRING: u16 = 3;

/// `pmix_proc_t`.
#[repr(C)]
#[derive(Clone)]
struct Process {
    space: [c_char; 256],
    rank: u32,
}

/// `pmix_value_t`, whose union starts with the pointer to a text. The rest of the union is at most
/// 24 bytes in all versions, and there is room for more.
#[repr(C)]
struct Value {
    kind: u16,
    text: *mut c_char,
    rest: [u64; 15],
}

/// `pmix_key_t`.
type Key = [c_char; 512];

/// The text of a key, or of a name, followed by zeros.
fn padded<const N: usize>(text: &str) -> Option<[c_char; N]> {
    let mut padded = [0; N];
    // The last byte stays 0.
    let room = padded
        .get_mut(..N.saturating_sub(1))?
        .get_mut(..text.len())?;
    for (place, byte) in room.iter_mut().zip(text.bytes()) {
        if byte == 0 {
            return None;
        }
        *place = c_char::from_ne_bytes([byte]);
    }
    Some(padded)
}

type Init = unsafe extern "C" fn(*mut Process, *mut c_void, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Process, usize, *const c_void, usize) -> c_int;
type Get = unsafe extern "C" fn(
    *const Process,
    *const c_char,
    *const c_void,
    usize,
    *mut *mut Value,
) -> c_int;
type Finalize = unsafe extern "C" fn(*const c_void, usize) -> c_int;

/// The functions of the library. They are valid because the library is never unloaded.
struct Functions {
    init: Init,
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    finalize: Finalize,
}

/// Returns the path of a library without links, or the reason why every user of the host may
/// replace the library: it, or a folder above it, can be written to by all.
fn protected(path: &Path) -> Result<PathBuf, String> {
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    for part in path.ancestors() {
        let metadata = part.symlink_metadata().map_err(|error| error.to_string())?;
        let mode = metadata.permissions().mode();
        // In a folder with the sticky bit, only the owner replaces a file.
        let is_sticky = metadata.is_dir() && mode & STICKY != 0;
        if mode & WRITE_BY_OTHERS != 0 && !is_sticky {
            return Err(format!("every user may write to {}", part.display()));
        }
    }
    Ok(path)
}

/// A PMIx library that has been loaded.
pub(in crate::world) struct PmixLibrary(Functions);

impl PmixLibrary {
    /// Loads the library: that of the launcher's installation if it is known, otherwise that of
    /// the system.
    ///
    /// The environment names the installation (`PMIX_PREFIX`), as `LD_LIBRARY_PATH` names
    /// libraries: it is trusted. A library that every user of the host may replace is not loaded.
    pub(super) fn load(place: &PmixPlace) -> Result<Self, String> {
        let prefix = place.prefix.iter();
        let own = prefix.flat_map(|prefix| {
            let folders = FOLDERS.iter();
            folders.map(move |folder| PathBuf::from(prefix).join(folder).join(NAME))
        });
        let own = own.filter(|path| path.is_absolute() && path.exists());
        let mut reason = String::new();
        let own = own.filter_map(|path| match protected(&path) {
            Ok(path) => Some(path),
            Err(reason) => {
                emit(Level::WARN, move || {
                    tracing::warn!(path = %path.display(), reason, "the PMIx library is not loaded");
                });
                None
            }
        });
        for path in own.chain([PathBuf::from(NAME)]) {
            // SAFETY: The library belongs to the launcher that has started this process, or to the
            // system. No other user can replace the former: see `protected`. Its initialisers are
            // those of a C library, with no requirements.
            match unsafe { Library::new(&path) } {
                Ok(library) => return Self::from_library(library),
                Err(error) => reason = error.to_string(),
            }
        }
        Err(reason)
    }

    fn from_library(library: Library) -> Result<Self, String> {
        // The threads of the library may still run when it is no longer used, so it stays loaded.
        let library = ManuallyDrop::new(library);
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: The PMIx standard declares the function with this type, of which the
                // field that receives it is.
                let symbol = unsafe { library.get($name) };
                *symbol.map_err(|error| error.to_string())?
            }};
        }
        Ok(Self(Functions {
            init: function!(b"PMIx_Init\0"),
            put: function!(b"PMIx_Put\0"),
            commit: function!(b"PMIx_Commit\0"),
            fence: function!(b"PMIx_Fence\0"),
            get: function!(b"PMIx_Get\0"),
            finalize: function!(b"PMIx_Finalize\0"),
        }))
    }

    /// Stores a value at the server if `own` is given, waits until all processes of the job call
    /// this, and returns the value that rank 0 has stored.
    pub(super) fn exchange(
        self,
        key: &str,
        own: Option<String>,
        until: Deadline,
    ) -> Result<String, String> {
        // The functions have no time limit of their own. If the time is over, the thread that
        // called them stays behind.
        let (told, result) = mpsc::channel();
        let key = key.to_owned();
        let exchange = move || {
            // The receiver may have given up.
            let _ = told.send(self.0.exchange(&key, own));
        };
        let thread = Builder::new().name("jstream-pmix".to_owned());
        thread.spawn(exchange).map_err(|error| error.to_string())?;
        let waited = match until.left() {
            Some(left) => result.recv_timeout(left).ok(),
            None => result.recv().ok(),
        };
        waited.unwrap_or_else(|| Err("the PMIx server did not answer in time".to_owned()))
    }
}

impl Functions {
    fn exchange(&self, key: &str, own: Option<String>) -> Result<String, String> {
        let mut this = Process {
            space: [0; 256],
            rank: 0,
        };
        // SAFETY: The process is writable and has the layout of the standard. There are no infos,
        // so their pointer may be null.
        check("PMIx_Init", unsafe {
            (self.init)(&raw mut this, ptr::null_mut(), 0)
        })?;
        let value = self.exchange_of(&this, key, own);
        // SAFETY: There are no infos, so their pointer may be null. The library is initialised.
        let finished = check("PMIx_Finalize", unsafe { (self.finalize)(ptr::null(), 0) });
        finished.and(value)
    }

    fn exchange_of(
        &self,
        this: &Process,
        key: &str,
        own: Option<String>,
    ) -> Result<String, String> {
        let key: Key = padded(key).ok_or("the key is too long")?;
        if let Some(own) = own {
            let mut text = own.into_bytes();
            text.push(0);
            let mut value = Value {
                kind: STRING,
                text: text.as_mut_ptr().cast(),
                rest: [0; 15],
            };
            // SAFETY: The key is a text that ends in 0. The value has the layout of the standard,
            // and points to a text that ends in 0. The library copies both, and keeps no pointer.
            let put = unsafe { (self.put)(GLOBAL, key.as_ptr(), &raw mut value) };
            check("PMIx_Put", put)?;
            // SAFETY: The library is initialised.
            check("PMIx_Commit", unsafe { (self.commit)() })?;
        }
        // SAFETY: Null stands for all processes of the job, and there are no infos.
        let fence = unsafe { (self.fence)(ptr::null(), 0, ptr::null(), 0) };
        check("PMIx_Fence", fence)?;
        let first = Process {
            rank: 0,
            ..this.clone()
        };
        let mut value: *mut Value = ptr::null_mut();
        let to = &raw mut value;
        // SAFETY: The process and the key are as above. The place for the result is writable.
        let got = unsafe { (self.get)(&raw const first, key.as_ptr(), ptr::null(), 0, to) };
        check("PMIx_Get", got)?;
        text_of(value)
    }
}

/// Returns the text of a value that the library has returned. The value is not released: the
/// function for this is an inline function of C in older versions, and there is one value in the
/// life of a process.
fn text_of(value: *mut Value) -> Result<String, String> {
    if value.is_null() {
        return Err("PMIx_Get returned no value".to_owned());
    }
    // SAFETY: The library has returned a value, which begins with its type, and is aligned for its
    // pointers.
    let kind = unsafe { value.cast::<u16>().read() };
    if kind != STRING {
        return Err(format!(
            "PMIx_Get returned a value of type {kind}, not a text"
        ));
    }
    let place = value
        .wrapping_byte_add(offset_of!(Value, text))
        .cast::<*mut c_char>();
    // SAFETY: In a value that is a text, its pointer is at this place, which is aligned for it.
    let text = unsafe { place.read() };
    if text.is_null() {
        return Err("PMIx_Get returned a text that is null".to_owned());
    }
    // SAFETY: The text ends in 0, and nothing modifies or releases it.
    let text = unsafe { CStr::from_ptr(text) };
    if text.to_bytes().len() > LONGEST {
        return Err(format!("the value is longer than {LONGEST} bytes"));
    }
    let text = text.to_str().map_err(|_| "the value is no text".to_owned());
    text.map(str::to_owned)
}

fn check(function: &str, status: c_int) -> Result<(), String> {
    if status == SUCCESS {
        return Ok(());
    }
    Err(format!("{function} returned {status}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{align_of, size_of};

    #[test]
    fn types_have_the_layout_of_the_standard() {
        assert_eq!(
            (size_of::<Process>(), offset_of!(Process, rank)),
            (260, 256)
        );
        assert_eq!((align_of::<Value>(), offset_of!(Value, text)), (8, 8));
        assert!(size_of::<Value>() >= 32);
    }

    #[test]
    fn a_library_that_all_may_replace_is_refused() {
        use std::fs::{self, Permissions};
        let folder = std::env::temp_dir().join(format!("jstream-pmix-{}", std::process::id()));
        let inner = folder.join("lib");
        fs::create_dir_all(&inner).unwrap();
        let path = inner.join(NAME);
        fs::write(&path, "").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode));
        for (file, lib, above, is_protected) in [
            (0o644, 0o755, 0o755, true),
            (0o664, 0o775, 0o755, true),
            (0o646, 0o755, 0o755, false),
            (0o644, 0o757, 0o755, false),
            (0o644, 0o755, 0o757, false),
            (0o644, 0o1777, 0o755, true),
        ] {
            set(&path, file).unwrap();
            set(&inner, lib).unwrap();
            set(&folder, above).unwrap();
            assert_eq!(protected(&path).is_ok(), is_protected, "{file:o} {lib:o}");
        }
        assert!(protected(&inner.join("absent")).is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn texts_are_padded() {
        assert_eq!(
            padded::<4>("ab"),
            Some([b'a', b'b', 0, 0].map(|byte| c_char::from_ne_bytes([byte])))
        );
        assert_eq!(padded::<4>("abc").map(|text| text[3]), Some(0));
        assert_eq!(padded::<4>("abcd"), None);
        assert_eq!(padded::<4>("a\0"), None);
    }

    #[test]
    fn values_are_read_with_care() {
        assert!(text_of(ptr::null_mut()).unwrap_err().contains("no value"));
        let mut value = Value {
            kind: 4,
            text: ptr::null_mut(),
            rest: [0; 15],
        };
        assert!(text_of(&raw mut value).unwrap_err().contains("of type 4"));
        value.kind = STRING;
        assert!(text_of(&raw mut value).unwrap_err().contains("is null"));
        let mut text = *b"abc\0";
        value.text = text.as_mut_ptr().cast();
        assert_eq!(text_of(&raw mut value).as_deref(), Ok("abc"));
    }

    #[test]
    fn an_installation_without_the_library_falls_back_to_the_system() {
        let prefix = Some("/nowhere".to_owned());
        let found = PmixLibrary::load(&PmixPlace { prefix });
        let usual = PmixLibrary::load(&PmixPlace { prefix: None });
        assert_eq!(found.is_ok(), usual.is_ok());
    }
}
