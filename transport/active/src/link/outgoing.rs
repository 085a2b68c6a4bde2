//! Messages on their way to the peer, and the credit for them.

use jstream::buffer::MessageBuffer;

use crate::frame::Credit;
use crate::ledger::Haste;
use jstream_base::Header;

/// A request on its way to the peer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) number: u32,
    /// Number of answers that had been recorded before the request.
    pub(crate) answers: u64,
}

/// A request that has credit and a number, and is to be sent.
pub(crate) struct BegunRequest {
    pub(crate) asked: Asked,
    pub(crate) header: Header,
    /// Credit that the request carries to the peer.
    pub(crate) credit: Credit,
    pub(crate) haste: Haste,
}

/// A message that waits for credit.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) handler: u16,
    pub(crate) word: u64,
    pub(crate) length: u64,
    /// True if the message is a request.
    pub(crate) asks: bool,
    /// Payload, which is sent in the entry's turn. If there is none, the owner of the entry sends.
    pub(crate) payload: Option<MessageBuffer>,
}

/// Credit for one message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    pub(crate) header: Header,
    pub(crate) length: u64,
    pub(crate) credit: Credit,
    pub(crate) haste: Haste,
    /// Number of the request; `None` for a one-way message.
    pub(crate) asked: Option<Asked>,
    /// True if the message is on its way.
    pub(super) is_sent: bool,
}

impl Grant {
    pub(super) fn number(&self) -> Option<u32> {
        self.asked.map(|asked| asked.number)
    }
}
