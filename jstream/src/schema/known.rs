//! Schemas known to a process: those of its own types, and those that readers learned from peers.
//!
//! Decision 054 has the reasons.

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::Schema;
use super::codec::{SchemaError, checksum};
use super::describe::Describe;
use super::link::TypeIndex;
use super::record::SnapshotError;
use super::show::Difference;
use crate::model::{InPlace, Transportable};

/// A structure in its canonical encoding.
type Structure = Arc<[u8]>;

/// Maximum number of the program's own structures that are kept. Only programs that generate types
/// without bound exceed it. Mismatches with the types beyond it are reported in less detail.
const OWN: usize = 1 << 14;

/// Structures of the program's own types that were written, read or requested, ordered by
/// descriptor.
static KNOWN: Mutex<Vec<(u64, Structure)>> = Mutex::new(Vec::new());

/// Returns the index of a descriptor. The error is the index at which it would be inserted.
fn find(descriptor: u64, known: &[(u64, Structure)]) -> Result<usize, usize> {
    known.binary_search_by_key(&descriptor, |(of, _)| *of)
}

fn known(descriptor: u64) -> Option<Structure> {
    let known = jstream_sync::lock(&KNOWN);
    let (_, structure) = known.get(find(descriptor, &known).ok()?)?;
    Some(structure.clone())
}

/// Returns the structure of a type of the program.
#[cfg(feature = "testing")]
pub(crate) fn of_descriptor(descriptor: u64) -> Option<(Schema, TypeIndex)> {
    known(descriptor).map(|structure| decoded(&structure))
}

fn remember(descriptor: u64, structure: Vec<u8>) {
    let mut known = jstream_sync::lock(&KNOWN);
    if known.len() < OWN {
        if let Err(place) = find(descriptor, &known) {
            known.insert(place, (descriptor, structure.into()));
        }
    }
}

/// Cache of descriptors by type.
#[derive(Debug, Default)]
pub(crate) struct Descriptors {
    /// The last type and its descriptor: most readers and writers use the same type repeatedly.
    last: Option<(TypeId, u64)>,
    known: FxHashMap<TypeId, u64>,
}

impl Descriptors {
    pub(crate) fn descriptor<F: InPlace>(&mut self) -> u64 {
        match self.last_if::<F>() {
            Some(descriptor) => descriptor,
            None => self.look_up(typeid::of::<F>(), F::describe),
        }
    }

    /// Returns the descriptor of a form if it is the last one that was requested. Does not panic.
    #[inline(always)]
    pub(crate) fn last_if<F: InPlace>(&self) -> Option<u64> {
        let key = typeid::of::<F>();
        match self.last {
            Some((last, descriptor)) if last == key => Some(descriptor),
            _ => None,
        }
    }

    fn look_up(&mut self, key: TypeId, describe: Describe) -> u64 {
        let descriptor = *self.known.entry(key).or_insert_with(|| {
            let structure = structure_of(describe);
            let descriptor = checksum(&structure);
            remember(descriptor, structure);
            descriptor
        });
        self.last = Some((key, descriptor));
        descriptor
    }
}

/// Returns the 64-bit hash of a type's structure: see [`schema`](crate::schema).
#[must_use]
pub fn descriptor<T: Transportable + 'static>() -> u64 {
    Descriptors::default().descriptor::<T::InPlace<'static>>()
}

fn structure_of(describe: Describe) -> Vec<u8> {
    let (schema, root) = Schema::described(describe);
    schema.to_bytes(root)
}

/// Returns the snapshot of a structure with the obligations of both snapshots of it. Returns the
/// first one if it is of another structure that has the same descriptor.
fn unite_obligations(known: &[u8], new: &[u8]) -> Result<Vec<u8>, SchemaError> {
    let (mut united, root) = Schema::from_snapshot(known)?;
    let (other, _) = Schema::from_snapshot(new)?;
    if united != other {
        return Ok(known.to_vec());
    }
    // Snapshots of equal structures number the types equally.
    for (index, rules) in other.rules {
        let both = match united.rules(index) {
            Some(known) => known.clone().with_obligations_of(rules),
            None => rules,
        };
        united.set_rules(index, both);
    }
    united.to_snapshot(root).map_err(unusable)
}

/// Converts an error of a snapshot that has no defaults.
fn unusable(error: SnapshotError) -> SchemaError {
    match error {
        SnapshotError::TooLong { len, limit } => SchemaError::TooLong { len, limit },
        _ => SchemaError::Malformed {
            details: "rules that do not fit their types",
            at: 0,
        },
    }
}

/// Schemas that a reader learned from peers, each with the fields that must be understood.
#[derive(Debug, Default)]
pub(crate) struct Learnt {
    known: HashMap<u64, LearntSchema>,
    bytes: usize,
    /// Number of uses of schemas.
    uses: u64,
}

#[derive(Debug)]
struct LearntSchema {
    snapshot: Structure,
    /// The number of the last use.
    last_use: u64,
}

impl Learnt {
    /// Maximum number of schemas, and maximum total size in bytes. They limit the memory that a
    /// peer can claim by sending schemas.
    pub(crate) const SCHEMAS: usize = 256;
    pub(crate) const BYTES: usize = 4 << 20;

    /// Stores a schema unless it is known, and returns its descriptor. If there is no room,
    /// forgets those that were not used for longest, and passes their descriptors to `forget`.
    pub(crate) fn learn(
        &mut self,
        schema: &Schema,
        root: TypeIndex,
        forget: &mut dyn FnMut(u64),
    ) -> Result<u64, SchemaError> {
        let (snapshot, descriptor) = schema.to_obligations(root).map_err(unusable)?;
        let snapshot = match self.known.get(&descriptor) {
            Some(known) if *known.snapshot == *snapshot => {
                self.use_schema(descriptor);
                return Ok(descriptor);
            }
            Some(known) => {
                // The rules of both apply, so that nobody can revoke an obligation.
                let united = unite_obligations(&known.snapshot, &snapshot)?;
                if *known.snapshot == *united {
                    self.use_schema(descriptor);
                    return Ok(descriptor);
                }
                self.remove(descriptor);
                forget(descriptor);
                united
            }
            None => snapshot,
        };
        while self.known.len() >= Self::SCHEMAS
            || self.bytes.saturating_add(snapshot.len()) > Self::BYTES
        {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.last_use);
            let Some(oldest) = oldest.map(|(descriptor, _)| *descriptor) else {
                break;
            };
            self.remove(oldest);
            forget(oldest);
        }
        self.bytes = self.bytes.saturating_add(snapshot.len());
        let known = LearntSchema {
            snapshot: snapshot.into(),
            last_use: self.next_use(),
        };
        self.known.insert(descriptor, known);
        Ok(descriptor)
    }

    /// Forgets a schema.
    pub(crate) fn remove(&mut self, descriptor: u64) {
        if let Some(removed) = self.known.remove(&descriptor) {
            self.bytes = self.bytes.saturating_sub(removed.snapshot.len());
        }
    }

    fn next_use(&mut self) -> u64 {
        self.uses = self.uses.saturating_add(1);
        self.uses
    }

    /// Marks a schema as used.
    pub(crate) fn use_schema(&mut self, descriptor: u64) {
        let last_use = self.next_use();
        if let Some(known) = self.known.get_mut(&descriptor) {
            known.last_use = last_use;
        }
    }

    /// Returns true if a schema was learnt.
    pub(crate) fn has(&self, descriptor: u64) -> bool {
        self.known.contains_key(&descriptor)
    }

    /// Returns a learnt schema and its root.
    #[cfg(feature = "evolve")]
    pub(crate) fn schema(&self, descriptor: u64) -> Option<(Schema, TypeIndex)> {
        let known = self.known.get(&descriptor)?;
        Schema::from_snapshot(&known.snapshot).ok()
    }

    /// Returns true if no schema was learnt.
    #[cfg(feature = "evolve")]
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Returns all learnt schemas and their roots.
    #[cfg(feature = "evolve")]
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (Schema, TypeIndex)> {
        let known = self.known.values();
        known.filter_map(|known| Schema::from_snapshot(&known.snapshot).ok())
    }

    /// Returns the schema of a type of the program.
    #[cfg(feature = "evolve")]
    pub(crate) fn own(descriptor: u64) -> Option<(Schema, TypeIndex)> {
        known(descriptor).as_ref().map(decoded)
    }

    /// Returns the mismatch between the structure that was expected, which `describe` describes,
    /// and that with the descriptor `found`, or `None` if the latter is not known.
    pub(crate) fn mismatch(
        &self,
        describe: Describe,
        expected: u64,
        found: u64,
    ) -> Option<Box<Mismatch>> {
        let embedded = self.known.get(&found).and_then(|entry| {
            let (schema, root) = Schema::from_snapshot(&entry.snapshot).ok()?;
            Some(schema.to_bytes(root).into())
        });
        let found = embedded.or_else(|| known(found))?;
        let expected = known(expected).unwrap_or_else(|| structure_of(describe).into());
        Some(Box::new(Mismatch { expected, found }))
    }
}

/// Two structures that differ: the reader's ("expected") and the message's ("found").
///
/// Decoding and comparing happen only on request.
#[derive(Clone, PartialEq, Eq)]
pub struct Mismatch {
    expected: Structure,
    found: Structure,
}

impl Mismatch {
    /// Returns the structure that the reader expects, and its root.
    #[must_use]
    pub fn expected(&self) -> (Schema, TypeIndex) {
        decoded(&self.expected)
    }

    /// Returns the structure of the message, and its root.
    #[must_use]
    pub fn found(&self) -> (Schema, TypeIndex) {
        decoded(&self.found)
    }

    /// Returns the first difference between the two structures.
    #[must_use]
    pub fn difference(&self) -> Option<Difference> {
        let ((here, root), (there, their_root)) = (self.expected(), self.found());
        here.difference(root, &there, their_root)
    }
}

/// Decodes a structure that `Schema::to_bytes` encoded.
fn decoded(structure: &Structure) -> (Schema, TypeIndex) {
    let decoded = Schema::decode(structure);
    debug_assert!(decoded.is_ok(), "{decoded:?}");
    decoded.unwrap_or((Schema::default(), TypeIndex(0)))
}

/// Formats the first difference; the alternate form (`{:#}`) appends both structures.
impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.difference() {
            Some(difference) => difference.fmt(f)?,
            None => f.write_str("no difference")?,
        }
        if f.alternate() {
            let ((here, _), (there, _)) = (self.expected(), self.found());
            write!(f, "\n\nhere:\n\n{here}\n\nthere:\n\n{there}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mismatch").field(&self.difference()).finish()
    }
}
