//! The registry object of a server.

use std::hash::Hash;
use std::sync::{Arc, Weak};

use xxhash_rust::xxh3::Xxh3;

use crate::call::{
    CallerVersionRef, Claimed, DescribedTraitRef, Found, FoundVersion, RefusedMethod, Registry,
    paired,
};
use crate::frame::REFLECTION;
use crate::interface::{
    DescribedClasses, IncomingMethod, Interface, MAX_CLASSES, MAX_DESCRIPTION, VersionPairs,
};
use crate::session::{
    As, Connection, ConvertedObject, Exports, Key, Node, TOO_MANY, VersionPlace, context,
};

/// The registry object of one server.
pub(crate) struct Names {
    pub(crate) exports: Weak<Exports>,
}

impl Registry for Names {
    fn lookup(&self, name: &str, interface: u64) -> Found<'_> {
        let node = self.exports.upgrade().and_then(|all| all.named(name));
        // By the id, if the caller can't learn the version.
        let is_it = |found: &Interface| [found.version(), found.id()].contains(&interface);
        found(node, is_it, As::Name)
    }

    fn list(&self) -> Vec<String> {
        self.exports
            .upgrade()
            .map(|all| all.names())
            .unwrap_or_default()
    }

    fn claim(&self, id: [u64; 2], nonce: [u64; 4], proof: [u64; 4], interface: u64) -> Claimed<'_> {
        let claimed = self.exports.upgrade().and_then(|all| {
            let now = caller()?.references().now();
            all.offers.accept(id, nonce, proof, now)
        });
        let (node, proof) = claimed.unzip();
        Claimed {
            proof: proof.unwrap_or_default(),
            found: found(node, |found| found.id() == interface, As::Result),
        }
    }

    fn lane(&self) -> Option<[u64; 2]> {
        let key = self.exports.upgrade()?.lanes.key(&caller()?)?;
        Some(key.words())
    }

    fn join(&self, key: [u64; 2]) -> bool {
        let joined = || {
            let of = self.exports.upgrade()?.lanes.find(Key::of_words(key))?;
            // Fails if the connection has joined before: it then uses the table of another one
            // already.
            caller()?.session().join(of.clone())?;
            // Results are kept from now on, since the client can fetch them without delaying its
            // other calls.
            of.results.have_lane();
            Some(())
        };
        joined().is_some()
    }

    fn offer(&self, id: [u64; 2]) -> Option<[u64; 4]> {
        let now = caller()?.references().now();
        self.exports.upgrade()?.offers.nonce(id, now)
    }

    fn lookup_version(
        &self,
        name: &str,
        interface: u64,
        caller: &CallerVersionRef<'_>,
    ) -> FoundVersion {
        let exports = self.exports.upgrade();
        // The reasons name the types of the object, as the reflection does.
        if exports
            .as_ref()
            .is_some_and(|all| all.own(REFLECTION).is_none())
        {
            return not_given("the server does not allow reflection".to_owned());
        }
        let node = exports.and_then(|all| all.named(name));
        // The object may have been replaced since the caller read its description.
        let node = node.filter(|node| node.interface().version() == interface);
        let (Some(node), Some(connection)) = (node, self::caller()) else {
            return FoundVersion::default();
        };
        let len = match described_len(caller, node.interface()) {
            Ok(len) => len,
            Err(reason) => return not_given(reason),
        };
        let references = connection.references();
        let description = hash_of(caller);
        let object = match references.find_version(&node, description) {
            Some(known) => known,
            None => {
                // Reserved before the conversions are planned, which is the work that the limit
                // bounds.
                let Some(place) = references.reserve_version(len) else {
                    return not_given(
                        "the limit of objects in other versions is reached".to_owned(),
                    );
                };
                let object = match converted(node, caller, &connection, place) {
                    Ok(object) => object,
                    Err(reason) => return not_given(reason),
                };
                references.record_version(&object, description);
                object
            }
        };
        let refused = object.refused.iter().map(|(index, reason)| RefusedMethod {
            index: *index,
            reason: reason.clone(),
        });
        match references.give(&connection, &object.node, As::Name) {
            Some(number) => FoundVersion {
                number: Some(number),
                reason: String::new(),
                refused: refused.collect(),
            },
            None => not_given(TOO_MANY.to_owned()),
        }
    }
}

/// Returns the length in bytes of the description of a caller's version, or the limit that it
/// exceeds.
fn described_len(caller: &CallerVersionRef<'_>, interface: &Interface) -> Result<usize, String> {
    let (methods, limit) = (caller.methods.len(), interface.len());
    if methods > limit {
        return Err(format!(
            "the caller describes {methods} methods of an interface that has {limit}"
        ));
    }
    let methods = caller.methods.iter();
    let methods = methods.map(|method| {
        let names = method.argument_names.iter().map(|name| name.len());
        let frames = method.frames.iter().map(|frame| frame.len());
        let all = names.chain(frames);
        all.fold(method.arguments.len(), usize::saturating_add)
    });
    let lengths = methods.chain(caller.classes.iter().map(|class| class.len()));
    let lengths = lengths.chain(caller.reached.iter().map(DescribedTraitRef::len));
    let len = lengths.fold(0, usize::saturating_add);
    if len > MAX_DESCRIPTION {
        return Err(format!(
            "the description of the caller's types has {len} bytes, and the limit is {MAX_DESCRIPTION}"
        ));
    }
    let classes = caller.classes.len();
    match classes > MAX_CLASSES {
        true => Err(format!(
            "the caller describes {classes} classes, and the limit is {MAX_CLASSES}"
        )),
        false => Ok(len),
    }
}

/// Returns a hash by which a description is found again. A caller that finds two descriptions of
/// one hash gets refusals, because the conversion checks its messages.
fn hash_of(caller: &CallerVersionRef<'_>) -> u128 {
    let mut hasher = Xxh3::new();
    caller.hash(&mut hasher);
    hasher.digest128()
}

fn not_given(reason: String) -> FoundVersion {
    FoundVersion {
        reason,
        ..FoundVersion::default()
    }
}

/// Plans the conversions of a caller's arguments. Returns what the caller calls, and the methods
/// whose arguments can't be converted.
///
/// # Errors
///
/// The limit that the description exceeds.
fn converted(
    object: Arc<Node>,
    caller: &CallerVersionRef<'_>,
    connection: &Connection,
    place: VersionPlace,
) -> Result<ConvertedObject, String> {
    let limits = connection.session().terms.limits;
    let interface = object.interface();
    let classes = DescribedClasses::new(caller.classes, limits)?;
    let mut refused = Vec::new();
    let mut planned: Vec<Option<IncomingMethod>> = Vec::new();
    planned.resize_with(interface.len(), || None);
    for theirs in caller.methods {
        // A repeated one costs no second plan.
        let Some(planned @ None) = planned.get_mut(usize::from(theirs.index)) else {
            continue;
        };
        let described = (theirs.arguments, theirs.argument_names, theirs.frames);
        let incoming = interface.incoming_method(theirs.index, described, &classes);
        let incoming = incoming.unwrap_or_default();
        if let Some(Err(reason)) = &incoming.arguments {
            refused.push((theirs.index, reason.clone()));
        }
        *planned = Some(incoming);
    }
    let methods: Vec<_> = planned.into_iter().map(Option::unwrap_or_default).collect();
    let pairs = paired(interface, caller.reached, &classes)?;
    let pairs = Arc::new(VersionPairs::new(pairs));
    Ok(ConvertedObject {
        node: Node::for_version(object, methods.into(), pairs, Some(place)),
        refused: refused.into(),
    })
}

/// Returns the connection of the call that this thread is answering.
fn caller() -> Option<Connection> {
    Some(Connection::from_peer(context().call?.peer()))
}

/// Gives the caller a reference to an object, if the object has the requested interface.
fn found(
    node: Option<Arc<Node>>,
    has_interface: impl FnOnce(&Interface) -> bool,
    mode: As,
) -> Found<'static> {
    let (Some(node), Some(caller)) = (node, caller()) else {
        return Found::Unknown;
    };
    if !has_interface(node.interface()) {
        return Found::Other(node.interface().description());
    }
    match caller.references().give(&caller, &node, mode) {
        Some(number) => Found::Object { number },
        None => Found::Unknown,
    }
}
