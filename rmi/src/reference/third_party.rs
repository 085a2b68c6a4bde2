//! Objects of third parties: an object of one connection that is passed on over another one.
//!
//! The sender creates a key and offers the object to its owner under this key, over its own
//! connection to the owner. The receiver of the key [claims](crate::session::Claim) the object from
//! the owner, which keeps it until then. So the sender does not wait for the receiver, and a key is
//! valid for one claim. The receiver does not send the key: it and the owner prove to each other
//! that they know it.

use std::io::IoSlice;
use std::sync::Arc;

use crate::frame::ReferenceMessage;
use crate::reference::handed::Handed;
use crate::session::{Connection, Import, Key, passed_address};

/// Offers an object to its owner under a new key, which `to` is going to claim.
pub(super) fn offer(import: &Arc<Import>, to: &Connection) -> Result<Handed, &'static str> {
    let owner = import.connection();
    // A peer that has connected here may be behind a firewall. Its address here is that of a
    // socket, and not of a listener.
    let Some(reach) = &owner.references().reach else {
        return Err("the owner has connected to this program and has no address for others");
    };
    let address = passed_address(reach, to).ok_or(
        "the address of the owner leads to it on this host only, and the receiver is on another one",
    )?;
    // A key for each passing, because a claim uses it up.
    let key = Key::new().ok_or("the system provides no random numbers")?;
    let number = import.number().to_le_bytes();
    let segments = [IoSlice::new(&key.to_bytes()), IoSlice::new(&number)].map(|part| part.to_vec());
    let [key_bytes, number] = &segments;
    // Sent before the message with the key, so that the claim of a quick receiver seldom comes
    // first.
    let told = owner.send_reference_waiting(
        ReferenceMessage::Offer,
        &[IoSlice::new(key_bytes), IoSlice::new(number)],
    );
    if told.is_err() {
        return Err("the offer could not be sent to the owner");
    }
    Ok(Handed::Elsewhere {
        key: key.words(),
        address: address.to_string(),
    })
}
