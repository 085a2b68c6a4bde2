//! Calls that run: the futures of async methods, in slots that are used again.

use std::any::Any;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use super::{Failed, Incoming};
use crate::connection::lock;
use crate::interface::Skeleton;

/// How many slots an object keeps for its next calls.
const SPARE: usize = 64;

/// An object whatever its type and interface.
pub(crate) trait Callee: Send + Sync {
    /// Calls a method: what returns when it is done is done, and anything else has not begun.
    fn begin(self: Arc<Self>, method: usize, call: Incoming) -> Result<Option<Running>, Failed>;

    /// Where its futures stand.
    fn slots(&self) -> &(dyn Any + Send + Sync);
}

/// A call whose method waits, or has not begun.
pub(crate) struct Running {
    /// Not polled after it was ready.
    future: Pin<Box<dyn Run>>,
    object: Arc<dyn Callee>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.future.as_mut().poll(context)
    }

    /// Ends the method where it waits, and keeps its slot.
    pub(super) fn end(mut self) {
        self.future.as_mut().clear();
        self.future.recycle(self.object.slots());
    }
}

/// A slot with a future, or without.
trait Run: Send {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Failed>>;

    fn clear(self: Pin<&mut Self>);

    fn recycle(self: Pin<Box<Self>>, slots: &(dyn Any + Send + Sync));
}

impl<F> Run for Option<F>
where
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.as_pin_mut()
            .map_or(Poll::Pending, |future| future.poll(context))
    }

    fn clear(mut self: Pin<&mut Self>) {
        self.set(None);
    }

    fn recycle(self: Pin<Box<Self>>, slots: &(dyn Any + Send + Sync)) {
        if let Some(slots) = slots.downcast_ref::<Slots<F>>() {
            let mut spare = lock(&slots.spare);
            if spare.len() < SPARE {
                spare.push(self);
            }
        }
    }
}

/// The slots of one object that hold no future.
struct Slots<F> {
    spare: Mutex<Vec<Pin<Box<Option<F>>>>>,
}

/// An object with the functions of its skeleton, and the futures that these make.
struct Typed<H, C, R, F> {
    holder: H,
    call: C,
    run: R,
    slots: Slots<F>,
}

/// The object that `T`'s skeleton for `O` calls.
pub(crate) fn callee<T, O>(holder: T::Holder) -> Arc<dyn Callee>
where
    T: Skeleton<O> + ?Sized + 'static,
    O: ?Sized + 'static,
{
    typed(holder, T::call, T::run)
}

/// Gives the futures' type, which has no name, a parameter to be known by.
fn typed<H, C, R, F>(holder: H, call: C, run: R) -> Arc<dyn Callee>
where
    H: Clone + Send + Sync + 'static,
    C: Fn(&H, usize, Incoming) -> Result<Option<Incoming>, Failed> + Send + Sync + 'static,
    R: Fn(H, usize, Incoming) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    Arc::new(Typed {
        holder,
        call,
        run,
        slots: Slots {
            spare: Mutex::default(),
        },
    })
}

impl<H, C, R, F> Callee for Typed<H, C, R, F>
where
    H: Clone + Send + Sync + 'static,
    C: Fn(&H, usize, Incoming) -> Result<Option<Incoming>, Failed> + Send + Sync + 'static,
    R: Fn(H, usize, Incoming) -> F + Send + Sync + 'static,
    F: Future<Output = Result<(), Failed>> + Send + 'static,
{
    fn begin(self: Arc<Self>, method: usize, call: Incoming) -> Result<Option<Running>, Failed> {
        let Some(call) = (self.call)(&self.holder, method, call)? else {
            return Ok(None);
        };
        let future = (self.run)(self.holder.clone(), method, call);
        let spare = lock(&self.slots.spare).pop();
        let mut slot = spare.unwrap_or_else(|| Box::pin(None));
        slot.set(Some(future));
        Ok(Some(Running {
            future: slot,
            object: self,
        }))
    }

    fn slots(&self) -> &(dyn Any + Send + Sync) {
        &self.slots
    }
}
