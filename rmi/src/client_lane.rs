//! Lanes of the connections of clients.

use jstream_transport::active::Handlers;

use crate::interface::Stub;
use crate::object::own;
use crate::registry::{REGISTRY, RegistryStub};
use crate::session::{Connection, Lane};

/// Opens the lane of a connection: asks the server for a key, connects, and names the key over the
/// new connection.
pub(crate) fn connect_lane(
    lane: &Lane,
    main: &Connection,
    handlers: &Handlers,
) -> Option<Connection> {
    let (_, _, settings) = lane.route();
    let time = settings.handshake_timeout;
    let registry = |of: &Connection| RegistryStub::new(own(of, REGISTRY).within(time));
    let key = (*registry(main).lane().wait().ok()?.get())?;
    let opened = main.connect_lane(lane, handlers)?;
    let joined = registry(&opened).join(key).wait().ok()?;
    joined.get().then_some(opened)
}
