//! Structs and enums with references in them.
//!
//! Decision 077 has the reasons.

use jstream::{Restore, Transportable};

use crate::reference::handed::Unfit;

/// A struct or enum `T` with references to remote objects, as an argument or the result of a remote
/// method.
///
/// This is an alias of `T`, which tells `#[remote]` to pass the references in it; `T` derives
/// `Referring`. The other fields are copied and arrive as owned values, so the value can be kept.
/// The number of levels of nesting is that of the types: a type that contains itself is not
/// supported.
///
/// ```
/// use jstream_rmi::{Client, Referring, Remote, Server, remote};
/// use std::sync::{Arc, Mutex};
///
/// #[remote]
/// trait Listener {
///     fn heard(&self, what: &str);
/// }
///
/// #[derive(Referring)]
/// struct Guest {
///     name: String,
///     listener: Remote<dyn Listener>,
/// }
///
/// #[remote]
/// trait Room {
///     fn join(&self, who: Referring<Guest>);
/// }
///
/// #[derive(Default)]
/// struct Plain(Mutex<Vec<Guest>>);
///
/// impl Room for Plain {
///     fn join(&self, who: Guest) {
///         who.listener.heard(&format!("hello, {}", who.name)).wait().ok();
///         self.0.lock().unwrap().push(who);
///     }
/// }
///
/// #[derive(Default)]
/// struct Ear(Mutex<String>);
///
/// impl Listener for Ear {
///     fn heard(&self, what: &str) {
///         self.0.lock().unwrap().push_str(what);
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::default();
/// server.bind::<dyn Room>("room", Arc::new(Plain::default()))?;
/// let serving = server.listen(&"inproc://doc-referring".parse()?)?;
///
/// let client = Client::connect(serving.address()).wait()?;
/// let room = client.lookup::<dyn Room>("room").wait()?;
/// let ear = Arc::new(Ear::default());
/// let export = client.export::<dyn Listener>(ear.clone());
/// room.join(Guest { name: "Ada".to_owned(), listener: export.remote() }).wait()?;
/// assert_eq!(*ear.0.lock().unwrap(), "hello, Ada");
/// # Ok(())
/// # }
/// ```
pub type Referring<T> = T;

/// The in-place form of a wire form.
pub type Form<'b, W> = <W as Transportable>::InPlace<'b>;

/// Converts a field without references.
///
/// # Errors
///
/// The reason why the received data can't be converted.
pub fn owned<T: Restore + 'static>(form: &T::InPlace<'_>) -> Result<T, Unfit> {
    jstream::restore::<T>(form).map_err(|why| Unfit(why.to_string()))
}
