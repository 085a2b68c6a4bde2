//! Outcomes of sends.

use jstream_base::SendError;
use jstream_device::connection::Body;

/// Outcome of a send, with the message body if it was not consumed.
pub struct SendOutcome {
    /// The result for the caller.
    pub result: Result<(), SendError>,
    /// The rest of the payload.
    pub body: Body<'static>,
}

/// Kind of posted messages that were not sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Leftover {
    Nothing,
    /// Messages that wait for credit, and so for messages of the peer.
    Waiting,
    /// Messages that wait for the device.
    InLine,
}
