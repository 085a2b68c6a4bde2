//! Layer 9: servers, which export objects, accept connections and end them.
//!
//! Imports the layers before it, up to `client`: a server claims objects of third parties as a
//! client.

mod handle;
mod load;
mod local;
mod mirror;
mod names;
mod options;
mod places;
mod serving;
mod shutdown;
mod weak;
mod workers;

pub use self::handle::Server;
pub use self::local::{Local, LocalServer};
pub use self::options::ServerOptions;
pub use self::serving::Serving;
pub use self::shutdown::Ended;
pub use self::weak::WeakServer;
pub use self::workers::Workers;
