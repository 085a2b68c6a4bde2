//! Lists of schemas that objects of other versions bring along, and the readers that learn them.
//! The layers above say where such a list is.
//!
//! Decision 130 has the reasons.

use std::collections::{HashMap, VecDeque};

use jstream::schema::{Schema, SnapshotError};
use jstream::{Reader, Transportable, WriteError, Writer};

/// Maximum number of snapshots that an object brings along, and that a reader keeps beside those of
/// the description of the type.
pub const MAX_BROUGHT: usize = 64;

/// Maximum number of bytes of these snapshots. Each snapshot fits.
pub const MAX_BROUGHT_BYTES: usize = Schema::MAX_BYTES;

/// Appends a snapshot to a list: its length in 4 bytes, and its bytes.
pub fn append_snapshot(snapshot: &[u8], list: &mut Vec<u8>) {
    let len = u32::try_from(snapshot.len()).unwrap_or(u32::MAX);
    list.extend_from_slice(&len.to_le_bytes());
    list.extend_from_slice(snapshot);
}

/// Returns the snapshots of a list. What follows an incomplete one is left out.
pub fn snapshots(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let (len, behind) = rest.split_first_chunk()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        let (snapshot, behind) = behind.split_at_checked(len)?;
        rest = behind;
        Some(snapshot)
    })
}

/// Snapshots of classes, by their descriptors.
#[derive(Debug, Default)]
pub struct ClassSnapshots {
    snapshots: HashMap<u64, Vec<u8>>,
}

impl ClassSnapshots {
    /// Adds a class with this snapshot.
    pub fn insert(&mut self, snapshot: Vec<u8>) {
        if let Ok((schema, root)) = Schema::from_snapshot(&snapshot) {
            self.snapshots.insert(schema.descriptor(root), snapshot);
        }
    }

    /// Returns true if there is no class.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.snapshots.is_empty()
    }

    /// Returns the list of `first` and of the snapshots of those classes that an object has. Those
    /// that do not fit are left out: a receiver that needs them refuses the object.
    ///
    /// # Errors
    ///
    /// [`WriteError`], if the object can't be written.
    pub fn describe<T: Transportable>(
        &self,
        first: Option<&[u8]>,
        object: &T,
        writer: &mut Writer,
    ) -> Result<Vec<u8>, WriteError> {
        let classes = match self.is_empty() {
            true => Vec::new(),
            false => writer.classes_of(object)?,
        };
        let classes = classes.iter().filter_map(|class| self.snapshots.get(class));
        let all = first.into_iter().chain(classes.map(Vec::as_slice));
        let (mut list, mut bytes) = (Vec::new(), 0_usize);
        for snapshot in all.take(MAX_BROUGHT) {
            if bytes.saturating_add(snapshot.len()) <= MAX_BROUGHT_BYTES {
                bytes = bytes.saturating_add(snapshot.len());
                append_snapshot(snapshot, &mut list);
            }
        }
        Ok(list)
    }
}

/// The snapshots of a type and of the classes that its trait objects may have, for objects that
/// bring along all that a receiver needs.
#[derive(Debug)]
pub struct TypeSnapshots {
    root: Vec<u8>,
    classes: ClassSnapshots,
}

impl TypeSnapshots {
    /// Returns the snapshots of a type.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] if one of them is too long, so that no receiver can learn it.
    pub fn for_type<T: Transportable + 'static>() -> Result<Self, SnapshotError> {
        let mut all = jstream::schema::snapshots::<T>()?.into_iter();
        let root = all.next().unwrap_or_default();
        let mut classes = ClassSnapshots::default();
        all.for_each(|class| classes.insert(class));
        Ok(Self { root, classes })
    }

    /// Returns the list of the snapshot of the type and of those of the classes of an object.
    ///
    /// # Errors
    ///
    /// [`WriteError`], if the object can't be written.
    pub fn describe<T: Transportable>(
        &self,
        object: &T,
        writer: &mut Writer,
    ) -> Result<Vec<u8>, WriteError> {
        self.classes.describe(Some(&self.root), object, writer)
    }
}

/// Returns as much of a list as fits behind an object of `object_bytes`: all of it, or the first
/// snapshot, which is that of the type, also if it does not fit.
#[must_use]
pub fn fitting_list(list: &[u8], object_bytes: u64, max_bytes: u64) -> &[u8] {
    if object_bytes.saturating_add(list.len() as u64) <= max_bytes {
        return list;
    }
    let root = snapshots(list).next().map_or(0, <[u8]>::len);
    list.get(..root.saturating_add(size_of::<u32>()))
        .unwrap_or(list)
}

/// A reader of the objects of one version of senders, with the schemas that it keeps.
///
/// Invariant: the schemas of the description and at most [`MAX_BROUGHT`] others, of at most
/// [`MAX_BROUGHT_BYTES`], are known to the reader, which has room for all of them. So it never
/// forgets one by itself.
#[derive(Debug)]
pub struct DescribedReader {
    reader: Reader,
    /// The schemas that objects brought along, the one that was not brought for longest in front.
    brought: VecDeque<BroughtSchema>,
    brought_bytes: usize,
}

#[derive(Debug)]
struct BroughtSchema {
    descriptor: u64,
    snapshot: Vec<u8>,
}

impl DescribedReader {
    /// Creates a reader that knows the schemas of a description.
    pub fn new<'s>(description: impl Iterator<Item = &'s [u8]>) -> Self {
        let mut reader = Reader::default();
        for snapshot in description {
            // A class that can't be learnt is one whose objects are not converted.
            let _ = reader.learn_bytes(snapshot);
        }
        Self {
            reader,
            brought: VecDeque::new(),
            brought_bytes: 0,
        }
    }

    /// Returns the reader.
    pub fn reader(&mut self) -> &mut Reader {
        &mut self.reader
    }

    /// Returns the number of bytes of the schemas that objects brought along: those of the
    /// snapshots, and as much for what was decoded from them.
    #[must_use]
    pub fn kept_bytes(&self) -> u64 {
        (self.brought_bytes as u64).saturating_mul(2)
    }

    /// Learns the schemas of a list that an object brings along.
    pub fn learn(&mut self, list: &[u8]) {
        for snapshot in snapshots(list).take(MAX_BROUGHT) {
            self.learn_snapshot(snapshot);
        }
    }

    /// Learns a schema, which replaces an earlier one with the same descriptor: senders of one
    /// version share the reader, and none of them decides which fields the objects of others
    /// must be understood with. Schemas of the description stay.
    fn learn_snapshot(&mut self, snapshot: &[u8]) {
        let mut known = self.brought.iter();
        if let Some(place) = known.position(|known| known.snapshot == snapshot) {
            // An object needs all that it brings, so the others of this object must not replace it.
            if let Some(known) = self.brought.remove(place) {
                self.brought.push_back(known);
            }
            return;
        }
        let Ok((schema, root)) = Schema::from_snapshot(snapshot) else {
            return;
        };
        let descriptor = schema.descriptor(root);
        let mut known = self.brought.iter();
        match known.position(|known| known.descriptor == descriptor) {
            Some(place) => self.forget(place),
            None if self.reader.has_learnt(descriptor) => return,
            None => {}
        }
        while self.brought.len() >= MAX_BROUGHT
            || self.brought_bytes.saturating_add(snapshot.len()) > MAX_BROUGHT_BYTES
        {
            if self.brought.is_empty() {
                return;
            }
            self.forget(0);
        }
        if self.reader.learn(&schema, root).is_ok() {
            self.brought_bytes = self.brought_bytes.saturating_add(snapshot.len());
            self.brought.push_back(BroughtSchema {
                descriptor,
                snapshot: snapshot.to_vec(),
            });
        }
    }

    fn forget(&mut self, place: usize) {
        if let Some(forgotten) = self.brought.remove(place) {
            let bytes = forgotten.snapshot.len();
            self.brought_bytes = self.brought_bytes.saturating_sub(bytes);
            self.reader.forget(forgotten.descriptor);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the snapshots of types that differ in their lengths.
    macro_rules! arrays {
        ($($len:literal)*) => { vec![$( snapshot::<[u16; $len]>() ),*] };
    }

    fn snapshot<T: Transportable + 'static>() -> Vec<u8> {
        let (schema, root) = Schema::of::<T>();
        schema.to_bytes(root)
    }

    fn reader() -> DescribedReader {
        let description = snapshot::<String>();
        DescribedReader::new(std::iter::once(&*description))
    }

    fn learn(reader: &mut DescribedReader, brought: &[&Vec<u8>]) {
        let mut list = Vec::new();
        for snapshot in brought {
            append_snapshot(snapshot, &mut list);
        }
        reader.learn(&list);
        let bytes = reader.brought.iter().map(|known| known.snapshot.len());
        assert_eq!(reader.brought_bytes, bytes.sum::<usize>());
        assert!(reader.brought.len() <= MAX_BROUGHT);
        assert!(reader.brought_bytes <= MAX_BROUGHT_BYTES);
    }

    #[test]
    fn a_reader_knows_all_that_an_object_brings_however_many_came_before() {
        let first = arrays!(
            1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
            33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90
        );
        let root = jstream::descriptor::<String>();
        let mut reader = reader();
        for _ in 0..3 {
            for start in 0..first.len() {
                let brought = first.iter().cycle().skip(start).step_by(7).take(3);
                let brought: Vec<_> = brought.collect();
                learn(&mut reader, &brought);
                for snapshot in brought {
                    let (schema, root) = Schema::from_snapshot(snapshot).unwrap();
                    assert!(reader.reader.has_learnt(schema.descriptor(root)));
                }
                assert!(reader.reader.has_learnt(root));
            }
        }
        // More than one object may bring.
        learn(&mut reader, &first.iter().collect::<Vec<_>>());
        assert_eq!(reader.brought.len(), MAX_BROUGHT);
        assert!(reader.reader.has_learnt(root));
        // What was forgotten is forgotten by the reader, too.
        let known = first.iter().filter(|snapshot| {
            let (schema, root) = Schema::from_snapshot(snapshot).unwrap();
            reader.reader.has_learnt(schema.descriptor(root))
        });
        assert_eq!(known.count(), MAX_BROUGHT);
    }

    #[test]
    fn a_repeated_schema_is_learnt_a_single_time() {
        let mut reader = reader();
        let (one, other) = (snapshot::<[u8; 3]>(), snapshot::<[u8; 4]>());
        learn(&mut reader, &[&one, &other]);
        let kept = reader.brought.front().unwrap().snapshot.as_ptr();
        for _ in 0..1000 {
            learn(&mut reader, &[&one, &one, &one]);
            assert_eq!(reader.brought.len(), 2);
        }
        assert_eq!(reader.brought.back().unwrap().snapshot.as_ptr(), kept);
        // Schemas of the description take no place.
        learn(&mut reader, &[&snapshot::<String>()]);
        assert_eq!(reader.brought.len(), 2);
    }

    #[test]
    fn rules_that_one_sender_adds_do_not_stay() {
        #[derive(Transportable)]
        struct Plain {
            #[transportable(must_understand)]
            price: u32,
        }
        let (mut schema, root) = Schema::of::<Plain>();
        let strict = schema.to_snapshot(root).unwrap();
        schema = Schema::from_snapshot(&schema.to_bytes(root)).unwrap().0;
        let plain = schema.to_bytes(root);
        assert_ne!(strict, plain);
        let mut reader = reader();
        for brought in [&strict, &plain, &strict] {
            learn(&mut reader, &[brought]);
            assert_eq!(reader.brought.len(), 1);
            assert_eq!(&reader.brought.front().unwrap().snapshot, brought);
        }
    }

    #[test]
    fn lists_that_do_not_fit_have_the_schema_of_the_type() {
        let mut list = Vec::new();
        append_snapshot(&snapshot::<String>(), &mut list);
        let root = list.clone();
        append_snapshot(&snapshot::<[u8; 3]>(), &mut list);
        let len = list.len() as u64;
        assert_eq!(fitting_list(&list, 10, len + 10), list);
        for max in [len + 9, 10, 0] {
            assert_eq!(fitting_list(&list, 10, max), root);
        }
        assert!(fitting_list(&[], 10, 0).is_empty());
    }

    #[test]
    fn lists_that_lie_are_harmless() {
        let mut reader = reader();
        let mut whole = Vec::new();
        append_snapshot(&snapshot::<[u8; 5]>(), &mut whole);
        for len in 0..whole.len() {
            reader.learn(whole.get(..len).unwrap());
            assert!(reader.brought.is_empty(), "{len}");
        }
        let mut noise = Vec::new();
        append_snapshot(&[0xff; 300], &mut noise);
        append_snapshot(&vec![0; Schema::MAX_BYTES + 1], &mut noise);
        reader.learn(&noise);
        assert!(reader.brought.is_empty());
    }
}
