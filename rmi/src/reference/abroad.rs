//! Objects of third parties: an object of one connection that is passed on by another one.
//!
//! Who passes it on makes a key, and offers the object by it to the owner, over the connection that it has with that.
//! Who gets the key claims the object from the owner, who has kept it meanwhile. So nobody has to wait for the receiver,
//! and a key is good for one claim.

use std::io::IoSlice;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use jstream_transport::Address;

use super::Unfit;
use super::connection::OFFER;
use super::import::Import;
use super::offers::Key;
use super::owners::Owners;
use super::passing::Handed;
use crate::client::ClientOptions;
use crate::interface::{Interface, Stub};
use crate::object::Object;
use crate::registry::Found;
use crate::session::Connection;

/// How often an offer is asked for that may be on its way still, and how long between.
const TIMES: u32 = 9;
const PAUSE: Duration = Duration::from_millis(1);

/// How long an owner may take to answer a claim.
const CLAIM: Duration = Duration::from_secs(10);

/// The connections by which objects were claimed.
static OWNERS: Owners = Owners::new();

/// Offers an object to its owner.
pub(super) fn offer(import: &Arc<Import>, _: &'static Interface) -> Result<Handed, &'static str> {
    let owner = import.connection();
    let Some(address) = &owner.references().reach else {
        return Err("its owner has connected to this program, and can't be reached by others");
    };
    let key = Key::new().ok_or("the system gives no random numbers")?;
    let number = import.number().to_le_bytes();
    let segments = [IoSlice::new(&key.to_bytes()), IoSlice::new(&number)].map(|part| part.to_vec());
    let [key_bytes, number] = &segments;
    let told = owner.tell_waiting(OFFER, &[IoSlice::new(key_bytes), IoSlice::new(number)]);
    if told.is_err() {
        return Err("its owner can't be told");
    }
    Ok(Handed::Elsewhere {
        key: key.words(),
        address: address.to_string(),
    })
}

/// Claims an object from its owner.
pub(super) fn claim(
    from: &Connection,
    key: [u64; 2],
    address: &str,
    interface: &'static Interface,
) -> Result<Object, Unfit> {
    if !from.session().terms.third_parties {
        return Err(Unfit(
            "objects of third parties are not taken here: see `third_parties`".to_owned(),
        ));
    }
    let unreached = |why: String| Unfit(format!("the owner at {address} can't be reached: {why}"));
    let parsed: Address = address
        .parse()
        .map_err(|_| Unfit("the address of an owner is none".to_owned()))?;
    // Who has named the owner knows the same secret.
    let options = ClientOptions {
        secret: from.session().terms.secret.clone(),
        ..ClientOptions::default()
    };
    let owner = OWNERS.connect(&parsed, &options);
    let owner = owner.map_err(|error| unreached(error.to_string()))?;
    let registry = owner.registry().within(CLAIM);
    for time in 0..TIMES {
        let found = registry
            .claim(Key::of_words(key).words(), interface.id())
            .wait();
        let found = found.map_err(|error| unreached(error.to_string()))?;
        match *found.get() {
            Found::Object { number } => {
                let lease = Some(owner.connection().references().lease());
                let entered =
                    owner
                        .connection()
                        .references()
                        .enter(owner.connection(), number, lease);
                return entered.map(Object::imported).ok_or_else(Unfit::many);
            }
            Found::Other(_) => {
                return Err(Unfit(
                    "an object of a third party has another interface".to_owned(),
                ));
            }
            // The word of who offers it may come later than this.
            Found::Unknown => thread::sleep(PAUSE.saturating_mul(1 << time)),
        }
    }
    Err(Unfit("its owner knows of no such offer".to_owned()))
}
