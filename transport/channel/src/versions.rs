//! The versions of the type of a channel that its two sides have.
//!
//! The sender describes its type in the handshake, with the classes that its trait objects may have
//! in its program. Objects of classes for which there is no room bring their schemas along. The
//! receiver decides, by its own rules, whether it can convert the objects, and does so. Nothing
//! that the receiver knows reaches the sender but this decision, and nobody ever asks for a schema
//! afterwards.
//!
//! Decision 119 has the reasons.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use jstream::Transportable;
use jstream::schema::{Schema, TypeIndex};

use jstream_endpoint::Endpoint;
use jstream_endpoint::described::{self, ClassSnapshots, DescribedReader, append_snapshot};
use jstream_endpoint::shared::Shared;

/// Maximum length of the description of a type in the handshake, in bytes: the longest snapshot of
/// a type, and the mark of a description that leaves classes out. Bounds the work and the memory
/// that an untrusted peer causes.
pub(super) const MAX_DESCRIPTION: usize = Schema::MAX_BYTES + 2 * size_of::<u32>();

/// Maximum length of a description with classes, in bytes. Objects of the classes that do not fit
/// bring their schemas along.
const MAX_WITH_CLASSES: usize = 256 << 10;

/// Maximum number of snapshots in a description. Together with those that objects bring along, a
/// reader has room for them.
const MAX_SNAPSHOTS: usize = 192;

/// Maximum number of other versions from which a side receives objects at the same time.
const MAX_VERSIONS: usize = 32;

/// Maximum number of unused readers that are kept for a version.
const KEPT_READERS: usize = 4;

/// Maximum length of the name of a type, in characters.
const MAX_NAME: usize = 80;

/// Maximum length of a reason that names parts of a type, in characters.
pub(super) const MAX_REASON: usize = 400;

/// The type of one side, as it describes it to the other.
#[derive(Default)]
pub(super) struct TypeDescription {
    pub(super) descriptor: u64,
    /// The snapshots of the type and of the classes of its trait objects, each after its length in
    /// 4 bytes. The last one is empty if classes are left out. There is none if the program has no
    /// snapshots, because one would be too long.
    pub(super) snapshots: Vec<u8>,
}

/// The reason why no objects can be received from a sender of another version.
#[derive(Debug)]
pub(super) struct Differs {
    /// The name of the sender's type.
    pub(super) theirs: String,
    pub(super) difference: String,
}

impl TypeDescription {
    /// Returns the description of a type, and the classes that it leaves out.
    pub(super) fn for_type<T: Transportable + 'static>() -> (Self, ClassSnapshots) {
        let described = jstream::schema::snapshots::<T>().unwrap_or_default();
        let (snapshots, undescribed) = list_snapshots(described);
        let description = Self {
            descriptor: jstream::descriptor::<T>(),
            snapshots,
        };
        (description, undescribed)
    }

    /// Returns the snapshots.
    fn snapshots(&self) -> impl Iterator<Item = &[u8]> {
        let all = described::snapshots(&self.snapshots).take(MAX_SNAPSHOTS);
        all.take_while(|snapshot| !snapshot.is_empty())
    }

    /// Returns true if the description leaves classes out, so that objects bring schemas along.
    fn leaves_out(&self) -> bool {
        let mut all = described::snapshots(&self.snapshots).take(MAX_SNAPSHOTS.saturating_add(1));
        all.any(<[u8]>::is_empty)
    }

    /// Returns the schema of the type, if it was described and has the descriptor.
    fn schema(&self) -> Option<(Schema, TypeIndex)> {
        let (schema, root) = Schema::from_snapshot(self.snapshots().next()?).ok()?;
        (schema.descriptor(root) == self.descriptor).then_some((schema, root))
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

    /// Returns what a receiver of this type, which is `T`, needs to read the objects of a sender,
    /// or `None` if they are of this version.
    pub(super) fn version_of<T: Transportable + 'static>(
        &self,
        sender: Self,
    ) -> Result<Option<Version>, Differs> {
        if self.descriptor != sender.descriptor {
            let refused = |difference| Differs {
                theirs: sender.name(),
                difference,
            };
            let theirs = sender
                .schema()
                .ok_or_else(|| refused("unknown".to_owned()))?;
            assert_converted(&theirs, &Schema::of::<T>()).map_err(refused)?;
        }
        let version = Version::new(sender);
        let own: HashSet<&[u8]> = self.snapshots().collect();
        let is_own = version
            .description
            .snapshots()
            .all(|theirs| own.contains(theirs));
        let is_same = self.descriptor == version.description.descriptor && is_own;
        let is_converted = cfg!(feature = "evolve") && !is_same;
        Ok((is_converted || version.description.leaves_out()).then_some(version))
    }
}

/// Returns the list of the first snapshot and of those of the classes behind it that fit, and the
/// classes that do not.
fn list_snapshots(snapshots: Vec<Vec<u8>>) -> (Vec<u8>, ClassSnapshots) {
    let (mut list, mut count) = (Vec::new(), 0_usize);
    let mut undescribed = ClassSnapshots::default();
    // The mark must fit, too.
    let room = MAX_WITH_CLASSES.saturating_sub(size_of::<u32>());
    for snapshot in snapshots {
        let len = snapshot.len().saturating_add(size_of::<u32>());
        let fits = count < MAX_SNAPSHOTS && list.len().saturating_add(len) <= room;
        if fits || count == 0 {
            append_snapshot(&snapshot, &mut list);
            count = count.saturating_add(1);
        } else {
            undescribed.insert(snapshot);
        }
    }
    if !undescribed.is_empty() {
        append_snapshot(&[], &mut list);
    }
    (list, undescribed)
}

/// Returns the text without control characters and with at most `most` characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
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

/// Checks that messages of the type `old` can be converted to messages of the type `new`, whose
/// rules apply. The error is a sentence with the differences.
#[cfg(feature = "evolve")]
fn assert_converted(
    (old, old_root): &(Schema, TypeIndex),
    (new, new_root): &(Schema, TypeIndex),
) -> Result<(), String> {
    use jstream::evolve::{Effect, compatibility};

    let compared = compatibility((old, *old_root), (new, *new_root));
    let compared = compared.map_err(|error| error.to_string())?;
    match compared.effect() {
        Effect::Refused => {
            let findings = compared.findings().iter();
            let refused = findings.filter(|finding| finding.effect == Effect::Refused);
            let refused: Vec<String> = refused.map(ToString::to_string).collect();
            Err(refused.join("; "))
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
    Err(difference.map_or_else(|| "layouts differ".to_owned(), |d| d.to_string()))
}

/// Another version of the type of a channel, with readers that convert its objects.
pub(super) struct Version {
    description: TypeDescription,
    /// The readers that are not in use. Not locked while an object is read, because code of the
    /// program that runs then may receive from the same channel.
    readers: Mutex<Vec<DescribedReader>>,
}

impl Version {
    fn new(description: TypeDescription) -> Self {
        Self {
            description,
            readers: Mutex::new(Vec::new()),
        }
    }

    /// Calls `work` with a reader that has learnt the version.
    pub(super) fn with_reader<R>(&self, work: impl FnOnce(&mut DescribedReader) -> R) -> R {
        let unused = jstream_sync::lock(&self.readers).pop();
        let new = || DescribedReader::new(self.description.snapshots());
        let mut reader = unused.unwrap_or_else(new);
        let result = work(&mut reader);
        let mut readers = jstream_sync::lock(&self.readers);
        if readers.len() < KEPT_READERS {
            readers.push(reader);
        }
        result
    }

    fn is_same(&self, other: &Self) -> bool {
        let (one, other) = (&self.description, &other.description);
        one.descriptor == other.descriptor && one.snapshots == other.snapshots
    }
}

/// The versions of the senders of a receiver. Senders of one version share its readers.
#[derive(Default)]
pub(super) struct SenderVersions {
    /// False while all connected senders have the receiver's version.
    has_others: AtomicBool,
    state: Mutex<VersionsState>,
}

#[derive(Default)]
struct VersionsState {
    /// The versions of connections and of reserved places.
    versions: Vec<Weak<Version>>,
    /// The versions by the address of their connection, which no other connection has as long as
    /// the weak handle is there. An entry is removed after all handles of the connection are gone:
    /// while one thread learns that the connection has ended, another may hold its last object.
    by_connection: HashMap<usize, SenderVersion>,
}

struct SenderVersion {
    connection: Weak<Shared>,
    version: Arc<Version>,
}

impl SenderVersions {
    /// Reserves a place for a version, for as long as its handle lives. Returns the handle of the
    /// same version if a sender has it, and `None` if there are too many others.
    pub(super) fn reserve(&self, version: Version) -> Option<Arc<Version>> {
        let mut state = self.lock();
        state.remove_ended();
        let mut known = state.versions.iter().filter_map(Weak::upgrade);
        if let Some(same) = known.find(|known| known.is_same(&version)) {
            return Some(same);
        }
        if state.versions.len() >= MAX_VERSIONS {
            return None;
        }
        let version = Arc::new(version);
        state.versions.push(Arc::downgrade(&version));
        Some(version)
    }

    /// Records the version of a sender, before its first object is received.
    pub(super) fn insert(&self, endpoint: &Endpoint, version: Arc<Version>) {
        let connection = Arc::downgrade(endpoint.shared());
        let key = Arc::as_ptr(endpoint.shared()).addr();
        let sender = SenderVersion {
            connection,
            version,
        };
        let mut state = self.lock();
        state.by_connection.insert(key, sender);
        self.has_others.store(true, Ordering::Release);
    }

    /// Releases the versions of connections that have ended.
    pub(super) fn remove_ended(&self) {
        if self.has_others.load(Ordering::Acquire) {
            let mut state = self.lock();
            state.remove_ended();
            self.has_others
                .store(!state.by_connection.is_empty(), Ordering::Release);
        }
    }

    /// Returns the version of a sender, or `None` if it is the receiver's.
    #[inline]
    pub(super) fn get(&self, connection: &Arc<Shared>) -> Option<Arc<Version>> {
        if !self.has_others.load(Ordering::Acquire) {
            return None;
        }
        let state = self.lock();
        let key = Arc::as_ptr(connection).addr();
        Some(state.by_connection.get(&key)?.version.clone())
    }

    /// Locks the state. Poisoning is ignored, because the state is consistent after every
    /// statement.
    fn lock(&self) -> MutexGuard<'_, VersionsState> {
        jstream_sync::lock(&self.state)
    }
}

impl VersionsState {
    fn remove_ended(&mut self) {
        let is_open = |sender: &SenderVersion| sender.connection.strong_count() > 0;
        self.by_connection.retain(|_, sender| is_open(sender));
        self.versions.retain(|version| version.strong_count() > 0);
    }
}
