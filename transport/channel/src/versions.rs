//! The versions of the type of a channel that its two sides have.
//!
//! Each side describes its type in the handshake, with the classes that its trait objects may have.
//! If the two differ, both sides decide by the same rules whether objects of the sender's version
//! can be converted to the receiver's, and the receiver converts them. So no object is sent that
//! nobody could read, and nobody ever asks for a schema.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use jstream::schema::{Schema, TypeIndex};
use jstream::{Reader, Transportable};

use jstream_endpoint::Endpoint;
use jstream_endpoint::shared::Shared;

/// Maximum length of the description of a type in the handshake, in bytes. Classes that do not fit
/// are left out, so their objects are not converted; a type that does not fit is compared by its
/// descriptor alone. Bounds the work and the memory that an untrusted peer causes.
pub(super) const MAX_DESCRIPTION: usize = 256 << 10;

/// Maximum number of other versions from which a side receives objects at the same time.
const MAX_VERSIONS: usize = 32;

/// Maximum length of the name of a type, in characters.
const MAX_NAME: usize = 80;

/// Maximum length of a reason that names parts of the peer's type, in characters.
const MAX_REASON: usize = 400;

/// The type of one side, as it describes it to the other.
pub(super) struct TypeDescription {
    pub(super) descriptor: u64,
    /// The snapshots of the type and of the classes of its trait objects, each after its length in
    /// 4 bytes. Empty if the type does not fit.
    pub(super) snapshots: Vec<u8>,
}

/// The reason why no objects can be exchanged with a side of another version.
#[derive(Debug)]
pub(super) struct Differs {
    /// The name of the peer's type.
    pub(super) theirs: String,
    pub(super) difference: String,
}

impl TypeDescription {
    pub(super) fn of<T: Transportable + 'static>() -> Self {
        let (schema, root) = Schema::of::<T>();
        let mut snapshots = Vec::new();
        // A default that can't be written is an error of the conversion that needs it. Without the
        // rules, equal types are still compared.
        let described = Schema::snapshots::<T>().unwrap_or_else(|_| vec![schema.to_bytes(root)]);
        for (place, snapshot) in described.iter().enumerate() {
            let room = MAX_DESCRIPTION.saturating_sub(snapshots.len());
            let len = u32::try_from(snapshot.len()).unwrap_or(u32::MAX);
            if room >= snapshot.len().saturating_add(size_of_val(&len)) {
                snapshots.extend_from_slice(&len.to_le_bytes());
                snapshots.extend_from_slice(snapshot);
            } else if place == 0 {
                break;
            }
        }
        Self {
            descriptor: schema.descriptor(root),
            snapshots,
        }
    }

    /// Returns the snapshots. What follows an incomplete one is left out.
    fn snapshots(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = &*self.snapshots;
        std::iter::from_fn(move || {
            let (len, behind) = rest.split_first_chunk()?;
            let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
            let (snapshot, behind) = behind.split_at_checked(len)?;
            rest = behind;
            Some(snapshot)
        })
    }

    /// Returns the schema of the type with its rules, if it was described and has the descriptor.
    fn schema(&self) -> Option<(Schema, TypeIndex)> {
        let (schema, root) = Schema::from_snapshot(self.snapshots().next()?).ok()?;
        (schema.descriptor(root) == self.descriptor).then_some((schema, root))
    }

    fn is_same(&self, other: &Self) -> bool {
        self.descriptor == other.descriptor && self.snapshots == other.snapshots
    }

    /// Returns the name of the type, shortened and without control characters, because a peer may
    /// send any name.
    pub(super) fn name(&self) -> String {
        match self.schema() {
            Some((schema, root)) => {
                let name = schema.get(root).map_or("?", |root| &*root.name);
                shortened(name, MAX_NAME)
            }
            None => "a type that it did not describe".to_owned(),
        }
    }

    /// Checks that the objects of this type can be sent to a receiver of another.
    pub(super) fn assert_sends_to(&self, receiver: &Self) -> Result<(), Differs> {
        if self.descriptor == receiver.descriptor {
            return Ok(());
        }
        let refused = |difference| Differs {
            theirs: receiver.name(),
            difference,
        };
        let (Some(ours), Some(theirs)) = (self.schema(), receiver.schema()) else {
            return Err(refused("unknown".to_owned()));
        };
        assert_converted(&ours, &theirs).map_err(refused)
    }

    /// Returns what a receiver of this type needs to read the objects of a sender, or `None` if
    /// they are of this version.
    pub(super) fn version_of(&self, sender: &Self) -> Result<Option<Version>, Differs> {
        if self.descriptor == sender.descriptor && sender.snapshots.is_empty() {
            // The type is too large to be described.
            return Ok(None);
        }
        if self.is_same(sender) {
            return Ok(None);
        }
        if self.descriptor != sender.descriptor {
            let refused = |difference| Differs {
                theirs: sender.name(),
                difference,
            };
            let (Some(theirs), Some(ours)) = (sender.schema(), self.schema()) else {
                return Err(refused("unknown".to_owned()));
            };
            assert_converted(&theirs, &ours).map_err(refused)?;
        }
        Ok(Some(Version {
            description: Self {
                descriptor: sender.descriptor,
                snapshots: sender.snapshots.clone(),
            },
            readers: Mutex::new(Vec::new()),
        }))
    }
}

/// Returns the text without control characters and with at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let shown = text.chars().map(|character| match character {
        control if control.is_control() => char::REPLACEMENT_CHARACTER,
        other => other,
    });
    let mut shortened: String = shown.clone().take(most).collect();
    if shown.count() > most {
        shortened.push_str("..");
    }
    shortened
}

/// Checks that messages of the type `old` can be converted to messages of the type `new`. The error
/// is a sentence with the differences.
#[cfg(feature = "evolve")]
fn assert_converted(
    (old, old_root): &(Schema, TypeIndex),
    (new, new_root): &(Schema, TypeIndex),
) -> Result<(), String> {
    use jstream::evolve::{Effect, compatibility};

    let compared = compatibility((old, *old_root), (new, *new_root));
    let compared = compared.map_err(|error| shortened(&error.to_string(), MAX_REASON))?;
    match compared.effect() {
        Effect::Refused => {
            let findings = compared.findings().iter();
            let refused = findings.filter(|finding| finding.effect == Effect::Refused);
            let refused: Vec<String> = refused.map(ToString::to_string).collect();
            Err(shortened(&refused.join("; "), MAX_REASON))
        }
        _ => Ok(()),
    }
}

#[cfg(not(feature = "evolve"))]
fn assert_converted(
    (old, old_root): &(Schema, TypeIndex),
    (new, new_root): &(Schema, TypeIndex),
) -> Result<(), String> {
    let difference = new.difference(*new_root, old, *old_root);
    let difference = difference.map_or_else(|| "layouts differ".to_owned(), |d| d.to_string());
    Err(shortened(&difference, MAX_REASON))
}

/// Maximum number of unused readers that are kept for a version.
const KEPT_READERS: usize = 8;

/// Another version of the type of a channel, with readers that convert its objects.
pub(super) struct Version {
    description: TypeDescription,
    /// The readers that are not in use. Not locked while an object is read, because code of the
    /// program that runs then may receive from the same channel.
    readers: Mutex<Vec<Reader>>,
}

impl Version {
    /// Calls `work` with a reader that has learnt the version.
    pub(super) fn with_reader<R>(&self, work: impl FnOnce(&mut Reader) -> R) -> R {
        let unused = jstream_sync::lock(&self.readers).pop();
        let mut reader = unused.unwrap_or_else(|| self.make_reader());
        let result = work(&mut reader);
        let mut readers = jstream_sync::lock(&self.readers);
        if readers.len() < KEPT_READERS {
            readers.push(reader);
        }
        result
    }

    fn make_reader(&self) -> Reader {
        let mut reader = Reader::default();
        for snapshot in self.description.snapshots() {
            // A class that can't be learnt is one whose objects are not converted.
            let _ = reader.learn_bytes(snapshot);
        }
        reader
    }

    fn is_same(&self, other: &Self) -> bool {
        self.description.is_same(&other.description)
    }
}

/// The versions of the senders of a receiver. Senders of one version share its readers.
///
/// An entry belongs to a connection, and is removed after all handles of the connection are gone:
/// while one thread learns that the connection has ended, another may hold its last object.
#[derive(Default)]
pub(super) struct SenderVersions {
    /// False as long as all senders have the receiver's version.
    has_others: AtomicBool,
    /// The versions by the address of their connection, which no other connection has as long as
    /// the weak handle is there.
    by_connection: Mutex<HashMap<usize, SenderVersion>>,
}

struct SenderVersion {
    connection: Weak<Shared>,
    version: Arc<Version>,
}

impl SenderVersions {
    /// Returns true if there is room for another version, or if one of the senders has it.
    pub(super) fn has_room_for(&self, version: &Version) -> bool {
        let by_connection = self.lock();
        let mut known: Vec<&Version> = Vec::new();
        for sender in by_connection.values() {
            let is_open = sender.connection.strong_count() > 0;
            if is_open && !known.iter().any(|known| known.is_same(&sender.version)) {
                known.push(&sender.version);
            }
        }
        known.len() < MAX_VERSIONS || known.iter().any(|known| known.is_same(version))
    }

    /// Records the version of a sender, before its first object is received.
    pub(super) fn insert(&self, endpoint: &Endpoint, version: Version) {
        let connection = Arc::downgrade(endpoint.shared());
        let key = Arc::as_ptr(endpoint.shared()).addr();
        let mut by_connection = self.lock();
        by_connection.retain(|_, sender| sender.connection.strong_count() > 0);
        let mut senders = by_connection.values();
        let same = senders.find(|sender| sender.version.is_same(&version));
        let version = same.map_or_else(|| Arc::new(version), |same| same.version.clone());
        let sender = SenderVersion {
            connection,
            version,
        };
        by_connection.insert(key, sender);
        self.has_others.store(true, Ordering::Release);
    }

    /// Returns the version of a sender, or `None` if it is the receiver's.
    #[inline]
    pub(super) fn of(&self, connection: &Arc<Shared>) -> Option<Arc<Version>> {
        if !self.has_others.load(Ordering::Acquire) {
            return None;
        }
        let by_connection = self.lock();
        let sender = by_connection.get(&Arc::as_ptr(connection).addr())?;
        Some(sender.version.clone())
    }

    /// Locks the map. Poisoning is ignored, because the map is consistent after every statement.
    fn lock(&self) -> MutexGuard<'_, HashMap<usize, SenderVersion>> {
        jstream_sync::lock(&self.by_connection)
    }
}
