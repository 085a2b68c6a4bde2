//! A per-thread cache of recently called objects, which avoids the lock of the table.
//!
//! The cache holds weak pointers, so it does not extend the life of an object. Whenever an object
//! can no longer be called, all entries become invalid.
//!
//! Decision 065 has the reasons.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use crate::interface::Interface;
use crate::session::objects::callee::Callee;

/// Number of cache entries per thread.
const KEPT: usize = 8;

/// Number of times that an object became uncallable.
static CHANGES: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static RECENT: RefCell<[Option<Recent>; KEPT]> = const { RefCell::new([const { None }; KEPT]) };
}

/// A callable object with its type erased.
pub(crate) type Callable = (&'static Interface, Arc<dyn Callee>);

struct Recent {
    of: (u64, u32),
    /// Value of [`CHANGES`] before the lookup.
    changes: u64,
    interface: &'static Interface,
    callee: Weak<dyn Callee>,
}

/// Invalidates all caches, after an object was removed from a table.
pub(crate) fn changed() {
    // Release, so that a thread which reads this number also sees that the object was removed. So
    // callers remove it first.
    CHANGES.fetch_add(1, Ordering::Release);
}

/// Returns the object with this number in this session, from the cache or else by `look_up`.
pub(crate) fn recent(
    session: u64,
    number: u32,
    look_up: impl FnOnce() -> Option<Callable>,
) -> Option<Callable> {
    // Read before the look-up. If an object is removed during the look-up, the entry has a number
    // that is too old, so it is invalid from the beginning.
    let changes = CHANGES.load(Ordering::Acquire);
    let of = (session, number);
    let known = RECENT.try_with(|all| {
        let all = all.borrow();
        let recent = all.get(index(of))?.as_ref()?;
        if recent.of != of || recent.changes != changes {
            // Another object is in this place, or any object was removed since. One counter for the
            // process is enough, because exports end rarely compared with calls.
            return None;
        }
        Some((recent.interface, recent.callee.upgrade()?))
    });
    match known {
        Ok(Some(callable)) => Some(callable),
        _ => remembered(of, changes, look_up()?),
    }
}

fn remembered(of: (u64, u32), changes: u64, callable: Callable) -> Option<Callable> {
    let (interface, callee) = &callable;
    let recent = Recent {
        of,
        changes,
        interface,
        callee: Arc::downgrade(callee),
    };
    // The cache may be gone already if the thread is ending.
    let _ = RECENT.try_with(|all| {
        if let Some(place) = all.borrow_mut().get_mut(index(of)) {
            *place = Some(recent);
        }
    });
    Some(callable)
}

fn index((session, number): (u64, u32)) -> usize {
    let place = session.wrapping_add(number.into()) & 0xff;
    // A collision costs a look-up with the lock, and nothing else. Objects of one connection have
    // consecutive numbers, so they do not collide while they are few.
    usize::try_from(place).map_or(0, |place| place % KEPT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::objects::callee::tests::{Nothing, nothing};

    fn looked_up() -> Option<Callable> {
        Some((nothing(), Arc::new(Nothing)))
    }

    #[test]
    fn a_change_invalidates_recent_objects() {
        // Other tests invalidate the cache, too, so some attempts may miss.
        let (_, callee) = recent(u64::MAX, 1, looked_up).unwrap();
        let found = (0..100).any(|_| {
            recent(u64::MAX, 1, || Some((looked_up()?.0, callee.clone()))).unwrap();
            recent(u64::MAX, 1, || None).is_some_and(|(_, again)| Arc::ptr_eq(&callee, &again))
        });
        assert!(found);
        assert_eq!(Arc::strong_count(&callee), 1);
        assert!(recent(u64::MAX, 2, || None).is_none());
        assert!(recent(u64::MAX - 1, 2, || None).is_none());
        changed();
        assert!(recent(u64::MAX, 1, || None).is_none());
        recent(u64::MAX, 1, || Some((looked_up()?.0, callee.clone()))).unwrap();
        drop(callee);
        assert!(recent(u64::MAX, 1, || None).is_none());
    }
}
