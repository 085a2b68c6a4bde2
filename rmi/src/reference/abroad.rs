//! Objects of third parties: an object of one connection that is passed on over another one.
//!
//! The sender creates a key and offers the object to its owner under this key, over its own
//! connection to the owner. The receiver of the key claims the object from the owner, which keeps
//! it until then. So the sender does not wait for the receiver, and a key is valid for one claim.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_transport::Address;

use super::connection::OFFER;
use super::import::{Import, TOO_MANY};
use super::offers::Key;
use super::owners::Owners;
use super::passing::Handed;
use crate::client::ClientOptions;
use crate::interface::{Interface, Stub};
use crate::object::own;
use crate::registry::{Found, REGISTRY, RegistryStub};
use crate::session::Connection;

/// Number of claims, because the offer may still be in flight. `PAUSE` is the first pause between
/// them; it doubles each time.
const TIMES: u32 = 9;
const PAUSE: Duration = Duration::from_millis(1);

/// Timeout of a claim.
const CLAIM: Duration = Duration::from_secs(10);

/// Connections over which objects were claimed.
static OWNERS: Owners = Owners::new();

/// Offers an object to its owner under a new key.
pub(super) fn offer(import: &Arc<Import>, _: &'static Interface) -> Result<Handed, &'static str> {
    let owner = import.connection();
    let Some(address) = &owner.references().reach else {
        return Err("the owner has connected to this program and has no address for others");
    };
    let key = Key::new().ok_or("the system provides no random numbers")?;
    let number = import.number().to_le_bytes();
    let segments = [IoSlice::new(&key.to_bytes()), IoSlice::new(&number)].map(|part| part.to_vec());
    let [key_bytes, number] = &segments;
    let told = owner.tell_waiting(OFFER, &[IoSlice::new(key_bytes), IoSlice::new(number)]);
    if told.is_err() {
        return Err("the offer could not be sent to the owner");
    }
    Ok(Handed::Elsewhere {
        key: key.words(),
        address: address.to_string(),
    })
}

/// Claims an object from its owner.
pub(crate) fn claim(
    from: &Connection,
    key: [u64; 2],
    address: &str,
    interface: &'static Interface,
) -> Result<Arc<Import>, String> {
    let unreached = |why: String| format!("the owner at {address} can't be reached: {why}");
    let parsed: Address = address
        .parse()
        .map_err(|_| "the address of the owner is invalid".to_owned())?;
    // The side that has named the owner shares its secret with it.
    let options = ClientOptions {
        secret: from.session().terms.secret.clone(),
        ..ClientOptions::default()
    };
    let owner = OWNERS.connect(&parsed, &options);
    let owner = owner.map_err(|error| unreached(error.to_string()))?;
    let registry = own(&owner, REGISTRY).within(CLAIM);
    let registry = RegistryStub::new(registry);
    for time in 0..TIMES {
        let found = registry
            .claim(Key::of_words(key).words(), interface.id())
            .wait();
        let found = found.map_err(|error| unreached(error.to_string()))?;
        match *found.get() {
            Found::Object { number } => {
                let references = owner.references();
                let entered = references.enter(&owner, number, Some(references.lease()));
                return entered.ok_or_else(|| TOO_MANY.to_owned());
            }
            Found::Other(_) => {
                return Err("the object of the third party has another interface".to_owned());
            }
            // The offer may arrive after the claim.
            Found::Unknown => thread::sleep(PAUSE.saturating_mul(1 << time)),
        }
    }
    Err("the owner has no such offer: it has expired or was claimed".to_owned())
}
