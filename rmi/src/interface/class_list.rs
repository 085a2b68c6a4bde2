//! The classes that one side describes to the other.

/// Maximum length in bytes of the types and classes that one side describes for one interface.
/// Bounds the memory and the work that they cause.
pub(crate) const MAX_DESCRIPTION: usize = 256 << 10;

/// Maximum number of classes that one side describes.
pub(crate) const MAX_CLASSES: usize = 256;

/// Maximum number of interfaces, reached by the references of one, that one side describes.
pub(crate) const MAX_REACHED: usize = 64;

/// Snapshots of the classes that trait objects in messages may have. Classes that exceed a limit
/// are left out, so messages with objects of these are refused.
#[derive(Default)]
pub(crate) struct ClassList {
    snapshots: Vec<Vec<u8>>,
    len: usize,
}

impl ClassList {
    /// Adds a class, unless it is there.
    pub(crate) fn add(&mut self, snapshot: Vec<u8>) {
        let len = self.len.saturating_add(snapshot.len());
        let has_room = len <= MAX_DESCRIPTION && self.snapshots.len() < MAX_CLASSES;
        if has_room && !self.snapshots.contains(&snapshot) {
            self.len = len;
            self.snapshots.push(snapshot);
        }
    }

    pub(crate) fn into_snapshots(self) -> Vec<Vec<u8>> {
        self.snapshots
    }
}
