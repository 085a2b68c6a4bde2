//! Limits of a capture.

/// Size limits of a capture.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CaptureOptions {
    /// Maximum size of one file in bytes (default 256 MiB). Later messages of its connection are
    /// counted, but not written.
    pub max_file: u64,
    /// Maximum size of all files together in bytes (default 1 GiB), over the lifetime of the
    /// capture.
    pub max_in_all: u64,
    /// Maximum number of bytes that wait to be written (default 16 MiB). Messages beyond this are
    /// counted, but not written. Protects against a disk that is slower than the connections.
    pub max_buffer: u64,
}

impl Default for CaptureOptions {
    fn default() -> Self {
        Self {
            max_file: 256 << 20,
            max_in_all: 1 << 30,
            max_buffer: 16 << 20,
        }
    }
}
