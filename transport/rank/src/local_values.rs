//! The values of one rank, by their variables.
//!
//! Decision 106 has the reasons.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::thread;

use jstream_sync::panics::forget_panic;

/// An append-only list of values. A value stays where it is until the list is dropped.
///
/// The list has one entry for each variable that the rank has used. These are `static`s of the
/// program, so they are few, and the first ones are found first.
#[derive(Default)]
pub(super) struct LocalValues {
    first: OnceLock<Box<LocalEntry>>,
}

struct LocalEntry {
    /// The address of the variable.
    variable: usize,
    /// A `OnceLock` of the type of the variable.
    value: Box<dyn Any + Send + Sync>,
    next: OnceLock<Box<Self>>,
}

impl LocalValues {
    /// Returns the cell of a variable, which is empty if this is the first use of the variable.
    pub(super) fn cell<T: Send + Sync + 'static>(&self, variable: usize) -> &OnceLock<T> {
        let mut place = &self.first;
        loop {
            // No code of the program runs here, so a thread that waits for another does so briefly.
            let entry = place.get_or_init(|| {
                Box::new(LocalEntry {
                    variable,
                    value: Box::new(OnceLock::<T>::new()),
                    next: OnceLock::new(),
                })
            });
            // Another thread may have appended the entry of another variable. Constants of
            // different types may share an address.
            match entry.value.downcast_ref() {
                Some(cell) if entry.variable == variable => return cell,
                _ => place = &entry.next,
            }
        }
    }
}

impl Drop for LocalValues {
    /// Drops all values, also if the destructor of one panics. The first panic continues then.
    fn drop(&mut self) {
        let mut first = None;
        let mut next = self.first.take();
        while let Some(mut entry) = next {
            next = entry.next.take();
            match (catch_unwind(AssertUnwindSafe(|| drop(entry))), &first) {
                (Ok(()), _) => {}
                (Err(panic), None) if !thread::panicking() => first = Some(panic),
                (Err(panic), _) => forget_panic(panic),
            }
        }
        if let Some(panic) = first {
            resume_unwind(panic);
        }
    }
}
