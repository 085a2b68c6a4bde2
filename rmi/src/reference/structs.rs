//! Structs with references in them.

use jstream::{Restore, Transportable};

use super::Unfit;

/// A struct `T` with references to remote objects in it, as an argument or the result of a remote method.
///
/// It is nothing but `T`, by a name that tells `#[remote]` to pass its references; `T` derives `Referring`. What else it
/// has is copied, and arrives as values that own their parts: so it may be kept, as references are.
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
/// let own = Server::default();
/// let ear = Arc::new(Ear::default());
/// let export = own.export::<dyn Listener>(ear.clone());
/// let room = Client::connect(serving.address())?.lookup::<dyn Room>("room")?;
/// room.join(Guest { name: "Ada".to_owned(), listener: export.remote() }).wait()?;
/// assert_eq!(*ear.0.lock().unwrap(), "hello, Ada");
/// # Ok(())
/// # }
/// ```
pub type Referring<T> = T;

/// The form of what stands for a struct in a message.
pub type Form<'b, W> = <W as Transportable>::InPlace<'b>;

/// A field that has no references.
///
/// # Errors
///
/// Why it can't be made of what came.
pub fn owned<T: Restore + 'static>(form: &T::InPlace<'_>) -> Result<T, Unfit> {
    jstream::restore::<T>(form).map_err(|why| Unfit(why.to_string()))
}
