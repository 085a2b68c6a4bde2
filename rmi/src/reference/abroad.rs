//! Objects of third parties: an object of one connection that is passed on by another one.
//!
//! Who passes it on makes a key, and offers the object by it to the owner, over the connection that it has with that.
//! Who gets the key claims the object from the owner, who has kept it meanwhile. So nobody has to wait for the receiver,
//! and a key is good for one claim.

use std::collections::HashMap;
use std::io::IoSlice;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use jstream_transport::Address;
use jstream_transport::active::WeakPeer;

use super::Unfit;
use super::connection::OFFER;
use super::import::Import;
use super::offers::Key;
use super::passing::Handed;
use crate::client::{Client, ClientOptions};
use crate::interface::{Interface, Stub};
use crate::object::Object;
use crate::registry::Found;
use crate::session::Connection;
use crate::sync::lock;

/// How often an offer is asked for that may be on its way still, and how long between.
const TIMES: u32 = 9;
const PAUSE: Duration = Duration::from_millis(1);

/// How long an owner may take to answer a claim.
const CLAIM: Duration = Duration::from_secs(10);

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
    let owner = connection_to(&parsed).map_err(unreached)?;
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

/// A connection to an owner, one for all its objects.
fn connection_to(address: &Address) -> Result<Client, String> {
    static KNOWN: Mutex<Option<HashMap<String, WeakPeer>>> = Mutex::new(None);
    let name = address.to_string();
    let known = {
        let mut known = lock(&KNOWN);
        let known = known.get_or_insert_with(HashMap::new);
        known.get(&name).and_then(WeakPeer::upgrade)
    };
    if let Some(peer) = known.filter(|peer| !peer.has_ended()) {
        return Ok(Client::of(Connection::of(peer)));
    }
    let client = Client::connect_with(address, &ClientOptions::default());
    let client = client.map_err(|error| error.to_string())?;
    let mut known = lock(&KNOWN);
    let known = known.get_or_insert_with(HashMap::new);
    known.retain(|_, peer| peer.upgrade().is_some());
    known.insert(name, client.connection().peer().downgrade());
    Ok(client)
}
