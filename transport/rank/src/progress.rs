//! Progress of posted collective operations. The thread that has posted them executes their steps
//! whenever it waits for anything.
//!
//! An operation borrows memory and calls functions of its thread, so no other thread may execute
//! it. Each thread has a list of the operations that it has posted, which [`advance_all`] goes
//! through. So a thread that blocks in any call does not delay the operations of other ranks.
//!
//! Decision 090 has the reasons.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::rc::Rc;
use std::task::Waker;
use std::thread;

use jstream_sync::panics::forget_panic;

use super::error::Error;

/// A posted collective operation.
pub(super) trait PostedOperation {
    /// Executes the steps that can be executed without blocking. A panic of a function of the user
    /// is kept as the outcome.
    fn advance(&self);

    /// Returns the number of rounds that have begun, or `None` if the operation has ended.
    fn round(&self) -> Option<usize>;

    /// Blocks until the operation has ended. Gives it up if a round takes longer than the timeout
    /// of collective operations.
    fn wait(&self);

    /// Makes the operation fail at this rank: the messages that it has not sent are replaced by
    /// ones that say so.
    fn fail(&self, error: Error);

    /// Returns true if the operation has ended, and not by a panic that nobody has got.
    fn is_over(&self) -> bool;

    /// Takes the outcome, if the operation has ended: the result, or the panic.
    fn take(&self) -> Option<thread::Result<Result<(), Error>>>;

    /// Wakes `task` when a message of the round ends. Returns false if one has ended already.
    fn register_task(&self, task: &Waker) -> bool;
}

/// An operation in the list of a thread.
struct ListedOperation {
    /// Address of the scope in which the operation was posted.
    scope: *const (),
    operation: Rc<dyn PostedOperation>,
}

/// The operations that a thread has posted.
///
/// INVARIANT: an operation is in the list until it has ended, because other ranks write to its
/// memory until then. So the list has no destructor: a thread that calls `process::exit` within a
/// scope leaks its operations instead of freeing them, and does not wait for other ranks. A scope
/// that ends removes its operations, so nothing leaks otherwise.
struct PostedList {
    entries: ManuallyDrop<RefCell<Vec<ListedOperation>>>,
    /// True while [`advance_all`] goes through the list. Functions of the user that are called by a
    /// step may wait for something themselves.
    is_advancing: Cell<bool>,
}

thread_local! {
    static POSTED: PostedList = const {
        PostedList {
            entries: ManuallyDrop::new(RefCell::new(Vec::new())),
            is_advancing: Cell::new(false),
        }
    };
}

/// Guard that marks the list as being gone through.
struct Advancing<'l>(&'l Cell<bool>);

impl Drop for Advancing<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

impl PostedList {
    fn get(&self, index: usize) -> Option<Rc<dyn PostedOperation>> {
        let entries = self.entries.borrow();
        Some(entries.get(index)?.operation.clone())
    }

    fn first_of(&self, scope: *const ()) -> Option<Rc<dyn PostedOperation>> {
        let entries = self.entries.borrow();
        let first = entries.iter().find(|entry| entry.scope == scope)?;
        Some(first.operation.clone())
    }

    /// Returns the operations of a scope.
    fn all_of(&self, scope: *const ()) -> Vec<Rc<dyn PostedOperation>> {
        let entries = self.entries.borrow();
        let of_scope = entries.iter().filter(|entry| entry.scope == scope);
        of_scope.map(|entry| entry.operation.clone()).collect()
    }

    /// Removes operations that have ended. They are dropped after the list was released.
    fn remove_if(&self, is_meant: impl Fn(&Rc<dyn PostedOperation>) -> bool) {
        let mut entries = self.entries.borrow_mut();
        if !entries.iter().any(|entry| is_meant(&entry.operation)) {
            return;
        }
        let all = mem::take(&mut *entries).into_iter();
        // Taken out of the borrow before they are dropped, because that runs code of the program.
        let (removed, kept): (Vec<_>, Vec<_>) = all.partition(|entry| is_meant(&entry.operation));
        if !kept.is_empty() {
            // The list has no destructor that would free the memory of an empty vector.
            *entries = kept;
        }
        drop(entries);
        drop(removed);
    }

    /// Removes the operations that have ended, unless the list is being gone through.
    fn remove_ended(&self) {
        if !self.is_advancing.get() {
            self.remove_if(|operation| operation.is_over());
        }
    }

    fn advance_all(&self) {
        // A step may call a function that waits and so arrives here again. The outer call continues
        // with the list.
        if self.entries.borrow().is_empty() || self.is_advancing.replace(true) {
            return;
        }
        let advancing = Advancing(&self.is_advancing);
        // A step may post further operations, at the end of the list.
        let mut index = 0usize;
        while let Some(operation) = self.get(index) {
            operation.advance();
            index = index.saturating_add(1);
        }
        drop(advancing);
    }

    fn add(&self, scope: *const (), operation: Rc<dyn PostedOperation>) {
        self.remove_ended();
        let mut entries = self.entries.borrow_mut();
        entries.push(ListedOperation { scope, operation });
    }
}

/// Executes the steps of all operations that this thread has posted, as far as possible without
/// blocking.
#[inline]
pub(super) fn advance_all() {
    POSTED.with(PostedList::advance_all);
}

/// Returns true if this thread has posted operations, which it has to advance while it waits.
#[inline]
pub(super) fn has_posted() -> bool {
    POSTED.with(|posted| !posted.entries.borrow().is_empty())
}

/// Adds an operation to the list of this thread.
///
/// # Safety
///
/// The caller must call [`finish`] for the scope in this thread before the lifetime `'scope` ends.
pub(super) unsafe fn add<'scope>(scope: *const (), operation: Rc<dyn PostedOperation + 'scope>) {
    // SAFETY: the types differ in a lifetime only. The list hands out clones to functions of this
    // module only, which drop them before they return. `finish` removes the entry, and the caller
    // promises to call it before the lifetime ends. If the thread ends before that, the list leaks
    // the entry.
    let operation = unsafe {
        mem::transmute::<Rc<dyn PostedOperation + 'scope>, Rc<dyn PostedOperation + 'static>>(
            operation,
        )
    };
    POSTED.with(|posted| posted.add(scope, operation));
}

/// Removes the operations of this thread that have ended. Not called by a thread that waits, which
/// may be executing a step of one.
pub(super) fn remove_ended() {
    POSTED.with(PostedList::remove_ended);
}

/// Ends all operations of a scope, and removes them from the list of this thread. Returns the first
/// panic that nobody has got.
///
/// If `panics`, the scope ends by a panic, and the operations fail.
pub(super) fn finish(scope: *const (), panics: bool) -> Option<Box<dyn Any + Send>> {
    POSTED.with(|posted| {
        if panics {
            // No operation may advance before all of them have failed.
            for operation in posted.all_of(scope) {
                operation.fail(Error::Cancelled);
            }
        }
        let mut panic = None;
        while let Some(operation) = posted.first_of(scope) {
            operation.wait();
            if let Some(Err(payload)) = operation.take() {
                match panic {
                    None => panic = Some(payload),
                    Some(_) => forget_panic(payload),
                }
            }
            posted.remove_if(|other| Rc::ptr_eq(other, &operation));
        }
        panic
    })
}
