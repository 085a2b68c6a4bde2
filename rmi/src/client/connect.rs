//! Connections of clients to servers, to their lanes, and to the owners of objects.

use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use jstream_active::{Handlers, ThreadPool, WeakPeer};
use jstream_base::Address;

use crate::call::{Claimed, Found, MOST_WAITING, RegistryStub, handlers};
use crate::client::options::ClientOptions;
use crate::frame::{REGISTRY, Window};
use crate::interface::Interface;
use crate::reference::{Stub, own};
use crate::session::{
    Claim, ClaimRole, Connection, Import, Key, Lane, TOO_MANY, Terms, claim_nonce,
    max_result_streams, received_address,
};
use crate::support::{ConnectError, lock};

/// Number of claims, because the offer may still be in flight. `PAUSE` is the first pause between
/// them; it doubles each time.
const TIMES: u32 = 9;

const PAUSE: Duration = Duration::from_millis(1);

/// Timeout of a claim.
const CLAIM: Duration = Duration::from_secs(10);

/// Connections over which objects were claimed.
static OWNERS: Owners = Owners::new();

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
    let parsed = received_address(parsed, from)
        .ok_or_else(|| format!("the owner is at {address}, which leads to another host there"))?;
    // The side that has named the owner shares its secret with it.
    #[cfg_attr(not(feature = "tls"), allow(unused_mut, reason = "changed with TLS"))]
    let mut options = ClientOptions {
        secret: from.session().terms.secret.clone(),
        ..ClientOptions::default()
    };
    #[cfg(feature = "tls")]
    {
        options.transport.tls.clone_from(&from.session().terms.tls);
    }
    // A certificate that is trusted by one connection need not be by another, so connections over
    // TLS are not shared.
    let owner = match parsed {
        Address::Tls { .. } => connect(&parsed, &options),
        _ => OWNERS.connect(&parsed, &options),
    };
    let owner = owner.map_err(|error| unreached(error.to_string()))?;
    // The method that has got the reference waits for this, so the owner must not hold it up for a
    // minute.
    let registry = own(&owner, REGISTRY).within(CLAIM);
    let registry = RegistryStub::new(registry);
    let key = Key::of_words(key);
    // The pauses add up to half a second, as the protocol says.
    for time in 0..TIMES {
        let offer = registry.offer(key.offer_id()).outcome();
        let offer = offer.map_err(|error| unreached(error.to_string()))?;
        let Some(theirs) = *offer.get() else {
            // The offer may arrive after the claim.
            thread::sleep(PAUSE.saturating_mul(1 << time));
            continue;
        };
        // A new nonce for each attempt, so that the proof of the owner is one for this claim.
        let ours = claim_nonce().ok_or("the system provides no random numbers")?;
        let proof = key.proof(ClaimRole::Claimant, ours, theirs);
        let claimed = registry
            .claim(key.offer_id(), ours, proof, interface.id())
            .outcome();
        let claimed = claimed.map_err(|error| unreached(error.to_string()))?;
        let Claimed { proof, found } = *claimed.get();
        match found {
            // The offer was claimed by another program between the two calls. Waiting does not
            // bring it back.
            Found::Unknown => break,
            // Any program can listen at an address. Only the owner knows the key, so its object is
            // used only with this proof.
            _ if !key.is_proof(proof, ClaimRole::Owner, theirs, ours) => {
                return Err(format!("the server at {address} is not the owner"));
            }
            Found::Object { number } => {
                let references = owner.references();
                // The owner does not state its lease in a claim. The own one is used, which is
                // renewed at half of its time.
                let entered = references.enter(&owner, number, Some(references.lease()));
                return entered.ok_or_else(|| TOO_MANY.to_owned());
            }
            Found::Other(_) => {
                return Err("the object of the third party has another interface".to_owned());
            }
        }
    }
    Err("the owner has no such offer: it has expired or was claimed".to_owned())
}

/// Open connections by address. They are searched one by one, which takes less time than to
/// connect.
#[derive(Default)]
pub(crate) struct Owners(Mutex<Vec<(String, WeakPeer)>>);

impl Owners {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Returns the connection to an address, and connects if there is none.
    pub(crate) fn connect(
        &self,
        address: &Address,
        options: &ClientOptions,
    ) -> Result<Connection, ConnectError> {
        let name = address.to_string();
        // The lock is not held while a connection is made, which may take as long as the handshake
        // timeout.
        let known = {
            let known = lock(&self.0);
            let of_name = known.iter().find(|(of, _)| *of == name);
            of_name.and_then(|(_, peer)| peer.upgrade())
        };
        if let Some(peer) = known.filter(|peer| !peer.has_ended()) {
            return Ok(Connection::from_peer(peer));
        }
        let connection = connect(address, options)?;
        let mut known = lock(&self.0);
        known.retain(|(of, peer)| *of != name && peer.upgrade().is_some());
        known.push((name, connection.peer().downgrade()));
        Ok(connection)
    }
}

/// Returns the handlers of all clients of this process.
fn of_clients() -> &'static Handlers {
    // The handlers have a pool of threads, which all clients of the process share.
    static HANDLERS: OnceLock<Handlers> = OnceLock::new();
    HANDLERS.get_or_init(|| handlers(Arc::new(ThreadPool::new(MOST_WAITING))))
}

/// Connects to a server.
pub(crate) fn connect(
    address: &Address,
    options: &ClientOptions,
) -> Result<Connection, ConnectError> {
    let terms = Terms {
        limits: options.limits,
        time: options.call_timeout,
        max_waiting: options.max_waiting,
        max_waiting_in_all: usize::MAX,
        max_backlog: options.max_backlog,
        window: Window::new(options.stream_items, options.stream_bytes),
        max_streams: options.max_streams,
        max_result_streams: max_result_streams(&options.messages),
        lease: options.lease,
        max_references: options.max_references,
        third_parties: options.third_parties.then_some(claim as Claim),
        clock: options.clock.clone(),
        admission: None,
        interceptors: options.interceptors.clone(),
        secret: options.secret.clone(),
        #[cfg(feature = "tls")]
        tls: options.transport.tls.clone(),
        capture: options.capture.as_ref().map(|to| to.connection(true)),
    };
    let route = (address, &options.transport, &options.messages);
    Connection::connect(route, terms, of_clients(), |lane, main| {
        connect_lane(lane, main, of_clients())
    })
}

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
    // The key is asked for over the first connection, which only its client can do. So no other
    // client can join.
    let key = (*registry(main).lane().outcome().ok()?.get())?;
    let opened = main.connect_lane(lane, handlers)?;
    // A lane is an improvement and no necessity. Without it, large calls go on over the first
    // connection.
    let joined = registry(&opened).join(key).outcome().ok()?;
    joined.get().then_some(opened)
}
