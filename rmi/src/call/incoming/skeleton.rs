//! The trait of generated code that calls the methods of an object.
//!
//! Decision 008 has the reasons.

use crate::reference::Remotable;
use crate::session::{Failed, Incoming};

/// Dispatch of calls to an object of type `O`, which may be a trait object. Implemented by
/// [`#[remote]`](crate::remote).
///
/// The implementation is specific to the object's type. Therefore, the future of an async method is
/// embedded in that of the call, without a box.
#[diagnostic::on_unimplemented(
    message = "`{O}` can't be served as `{Self}`",
    note = "put `#[remote]` on the trait and name it as `dyn Trait`; the object must implement the \
            trait and be `Send`, `Sync` and `'static`"
)]
pub trait Skeleton<O: ?Sized + 'static>: Remotable {
    /// The handle by which a server keeps the object.
    #[doc(hidden)]
    type Holder: Clone + Send + Sync + 'static;

    /// Calls a synchronous method. If the method is not synchronous, does nothing and returns
    /// false.
    ///
    /// # Errors
    ///
    /// The reason why the call or its reply failed.
    #[doc(hidden)]
    fn call(object: &Self::Holder, method: usize, call: &mut Incoming) -> Result<bool, Failed>;

    /// Calls a method that is not synchronous.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    #[doc(hidden)]
    fn run(
        object: Self::Holder,
        method: usize,
        call: Incoming,
    ) -> impl Future<Output = Result<(), Failed>> + Send + 'static;
}
