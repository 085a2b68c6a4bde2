//! Registry of the channels that are open in this process, by name and type.
//!
//! Decision 032 has the reasons.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

static NAMES: Mutex<BTreeMap<String, NameEntry>> = Mutex::new(BTreeMap::new());

struct NameEntry {
    number: u64,
    side: Weak<dyn Any + Send + Sync>,
}

/// Guard of an entry, which it removes when it is dropped.
pub(crate) struct Announced {
    name: String,
    number: u64,
}

/// Registers a side that is about to listen under a name. If the name is in use, the registry does
/// not change.
pub(crate) fn announce<C: Send + Sync + 'static>(name: &str, side: &Arc<C>) -> Announced {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let side: Weak<C> = Arc::downgrade(side);
    let mut names = names();
    let is_taken = names
        .get(name)
        .is_some_and(|entry| entry.side.strong_count() > 0);
    if !is_taken {
        names.insert(name.to_owned(), NameEntry { number, side });
    }
    Announced {
        name: name.to_owned(),
        number,
    }
}

/// Returns the side that listens under a name, if it is of this type.
pub(crate) fn find<C: Send + Sync + 'static>(name: &str) -> Option<Arc<C>> {
    let side = names().get(name)?.side.upgrade()?;
    // An entry of another type is dropped without the lock, because it may be the last handle.
    side.downcast().ok()
}

impl Drop for Announced {
    fn drop(&mut self) {
        let mut names = names();
        if names
            .get(&self.name)
            .is_some_and(|entry| entry.number == self.number)
        {
            names.remove(&self.name);
        }
    }
}

/// Locks the map. Poisoning is ignored, because the map is consistent after every statement.
fn names() -> MutexGuard<'static, BTreeMap<String, NameEntry>> {
    jstream_sync::lock(&NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_belongs_to_its_first_side() {
        let (first, second) = (Arc::new(1u32), Arc::new(2u32));
        let announced = announce("names-first", &first);
        let other = announce("names-first", &second);
        assert_eq!(find::<u32>("names-first").as_deref(), Some(&1));
        assert!(find::<u64>("names-first").is_none());
        drop(other);
        assert!(find::<u32>("names-first").is_some());
        drop(first);
        assert!(find::<u32>("names-first").is_none());
        let renamed = announce("names-first", &second);
        drop(announced);
        assert_eq!(find::<u32>("names-first").as_deref(), Some(&2));
        drop(renamed);
        assert!(find::<u32>("names-first").is_none());
    }
}
