//! Who has a channel open in this process, by name and type.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

static NAMES: Mutex<BTreeMap<String, Entry>> = Mutex::new(BTreeMap::new());

struct Entry {
    number: u64,
    who: Weak<dyn Any + Send + Sync>,
}

/// An entry, which is there as long as this is.
pub(crate) struct Announced {
    name: String,
    number: u64,
}

/// Enters who is going to listen under a name; nothing is entered where somebody does already.
pub(crate) fn announce<C: Send + Sync + 'static>(name: &str, who: &Arc<C>) -> Announced {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let who: Weak<C> = Arc::downgrade(who);
    let mut names = names();
    let is_taken = names
        .get(name)
        .is_some_and(|entry| entry.who.strong_count() > 0);
    if !is_taken {
        names.insert(name.to_owned(), Entry { number, who });
    }
    Announced {
        name: name.to_owned(),
        number,
    }
}

/// Who listens under a name, if it is of this type.
pub(crate) fn find<C: Send + Sync + 'static>(name: &str) -> Option<Arc<C>> {
    let who = names().get(name)?.who.upgrade()?;
    // Who is of another type goes without the lock, as this may be the last handle.
    who.downcast().ok()
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

/// A panic elsewhere can't leave the map half changed: it holds between statements.
fn names() -> MutexGuard<'static, BTreeMap<String, Entry>> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_one_has_the_name_as_long_as_it_is_there() {
        let (first, second) = (Arc::new(1u32), Arc::new(2u32));
        let announced = announce("names-first", &first);
        let other = announce("names-first", &second);
        assert_eq!(find::<u32>("names-first").as_deref(), Some(&1));
        assert!(find::<u64>("names-first").is_none());
        drop(other);
        assert!(find::<u32>("names-first").is_some());
        drop(first);
        assert!(find::<u32>("names-first").is_none());
        let again = announce("names-first", &second);
        drop(announced);
        assert_eq!(find::<u32>("names-first").as_deref(), Some(&2));
        drop(again);
        assert!(find::<u32>("names-first").is_none());
    }
}
