//! Calls of the methods of objects, and the slots of suspended methods.
//!
//! Decisions 008 and 075 have the reasons.

use std::any::Any;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use jstream_active::{Began, Tasks};

use crate::call::incoming::answer::ending;
use crate::call::incoming::panic_reason::{call_method, poll_method};
use crate::call::incoming::skeleton::Skeleton;
use crate::frame::{Code, Deadline};
use crate::interface::BoxFuture;
use crate::session::{
    Alarm, Callee, Context, Failed, Home, Incoming, Plain, Session, Waits, entered,
};

/// An object with the functions of its skeleton, and the slots for their futures.
struct Typed<H, C, R, F> {
    holder: H,
    call: C,
    run: R,
    tasks: Arc<Tasks<F>>,
}

/// Creates the callee for an object that `T`'s skeleton for `O` calls.
pub(crate) fn callee<T, O>(holder: T::Holder, home: &Home) -> Arc<dyn Callee>
where
    T: Skeleton<O> + ?Sized + 'static,
    O: ?Sized + 'static,
{
    let run = |holder, method, call, context| waiting(T::run(holder, method, call), context);
    typed(holder, T::call, run, home)
}

/// Binds the unnameable type of the futures to a type parameter.
fn typed<H, C, R, F>(holder: H, call: C, run: R, home: &Home) -> Arc<dyn Callee>
where
    H: Clone + Send + Sync + 'static,
    C: Fn(&H, usize, &mut Incoming) -> Result<bool, Failed> + Send + Sync + 'static,
    R: Fn(H, usize, Incoming, Context) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    Arc::new(Typed {
        holder,
        call,
        run,
        tasks: home.tasks(),
    })
}

impl<H, C, R, F> Typed<H, C, R, F>
where
    H: Clone,
    C: Fn(&H, usize, &mut Incoming) -> Result<bool, Failed>,
    R: Fn(H, usize, Incoming, Context) -> F,
    F: Future<Output = ()> + Send + 'static,
{
    /// Slow path: calls a method within another one, or with interceptors.
    fn call_inside(&self, method: usize, call: Incoming, deadline: Deadline) {
        let Some(mut context) = call.answer.context(deadline.moment()) else {
            return;
        };
        // The context comes back out of the thread before the method is run as a future, which then
        // enters it for each poll.
        let left = entered(&mut context, || self.left_of(method, call));
        if let Some(call) = left {
            self.wait(method, call, context);
        }
    }

    /// Calls a method. Returns the call if the method is async and must be run as a future.
    fn left_of(&self, method: usize, mut call: Incoming) -> Option<Incoming> {
        // A failed method has already informed the caller.
        let is_done = call_method(&mut call, |call| (self.call)(&self.holder, method, call));
        let is_done = is_done.unwrap_or(true);
        (!is_done).then_some(call)
    }

    /// Runs an async method.
    fn wait(&self, method: usize, call: Incoming, context: Context) {
        // The context of a call over a connection has a mark. Local calls do not get here.
        if let Some(mark) = context.call.clone() {
            let future = (self.run)(self.holder.clone(), method, call, context);
            if self.tasks.run(&mark, future) == Began::Moved {
                if let Some(session) = mark.attached::<Session>() {
                    session.load().count_moved();
                }
            }
        }
    }
}

impl<H, C, R, F> Callee for Typed<H, C, R, F>
where
    H: Clone + Send + Sync + 'static,
    C: Fn(&H, usize, &mut Incoming) -> Result<bool, Failed> + Send + Sync + 'static,
    R: Fn(H, usize, Incoming, Context) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    fn call(&self, method: usize, mut call: Incoming, deadline: Deadline) {
        // A method that is not nested in another one needs no context.
        let replier = call.answer.replier.as_ref();
        let replier = replier.filter(|_| call.answer.is_plain);
        let plain = replier.and_then(|replier| Plain::begin(replier, deadline));
        let Some(plain) = plain else {
            return self.call_inside(method, call, deadline);
        };
        let called = call_method(&mut call, |call| (self.call)(&self.holder, method, call));
        // A failed method has already informed the caller.
        if let Ok(false) = called {
            // The plain part of the method ends here. Its future enters a context of its own for
            // each poll.
            drop(plain);
            if let Some(context) = call.answer.context(deadline.moment()) {
                self.wait(method, call, context);
            }
        }
    }

    fn local(
        &self,
        method: usize,
        call: Incoming,
        mut context: Context,
    ) -> Option<BoxFuture<'static, ()>> {
        let call = entered(&mut context, || self.left_of(method, call))?;
        let holder = self.holder.clone();
        Some(Box::pin((self.run)(holder, method, call, context)))
    }

    fn holder(&self) -> &dyn Any {
        &self.holder
    }
}

/// Runs an async method in its context, until its deadline at most.
async fn waiting<F>(method: F, mut context: Context)
where
    F: Future<Output = Result<(), Failed>>,
{
    // An option, so that the future can be dropped at its deadline, inside of `ending` and its
    // context.
    let mut method = pin!(Some(method));
    let mut waits = None;
    let mut reminder = None;
    std::future::poll_fn(|task| {
        let stop_switch = context.watched.as_ref().and_then(|of| of.stop_switch());
        if stop_switch.is_some_and(|switch| switch.is_stopped(task.waker())) {
            // The layers around the call have ended.
            ending(Code::Overdue, || {
                entered(&mut context, || method.set(None));
            });
            return Poll::Ready(());
        }
        let polled = entered(&mut context, || match method.as_mut().as_pin_mut() {
            Some(method) => poll_method(|| method.poll(task)).map(drop),
            None => Poll::Ready(()),
        });
        if polled.is_ready() {
            return polled;
        }
        // Counted at the first suspension. A method that completes in its first poll occupies no
        // place of those that wait.
        if waits.is_none() {
            let session = context.call.as_ref().and_then(|call| call.attached());
            waits = session.map(Waits::new);
        }
        let Some(deadline) = context.deadline else {
            return Poll::Pending;
        };
        // Checked after the poll, so that a method which completes at the last moment has a result.
        if deadline <= context.clock().now() {
            ending(Code::Overdue, || {
                // Destructors of the method see the context of its call.
                entered(&mut context, || method.set(None));
            });
            return Poll::Ready(());
        }
        // If no alarm is available, only the caller enforces the deadline.
        reminder = reminder.take().or_else(|| Alarm::new(context.clock()).ok());
        if let Some(reminder) = &reminder {
            reminder.set(deadline, task.waker());
        }
        Poll::Pending
    })
    .await;
}
