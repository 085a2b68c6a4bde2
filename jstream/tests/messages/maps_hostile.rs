//! Forged and damaged maps, and keys with inconsistent traits: the worst result is a wrong answer.

use crate::common;

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::Bound;
use std::ptr;

use common::message;
use jstream::map::{HashedMap, IndexedMap, SortedMap};
use jstream::{EmptyBuffer, Reader, Received, Transportable, descriptor};
use proptest::collection::{btree_map, btree_set, hash_map, hash_set, vec};
use proptest::prelude::*;

/// The parts of a sorted map in their wire order. The types below have the parts of the other
/// kinds.
#[derive(Transportable, Debug)]
#[repr(C)]
struct Sorted<'b, K, V> {
    keys: &'b [K],
    values: &'b [V],
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct HashedElements<'b, K> {
    elements: &'b [K],
    starts: &'b [u32],
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Hashed<'b, K, V> {
    keys: &'b [K],
    starts: &'b [u32],
    values: &'b [V],
}

#[derive(Transportable, Debug)]
#[repr(C)]
struct Indexed<'b, K, V> {
    keys: &'b [K],
    table: &'b [u32],
    starts: &'b [u32],
    values: &'b [V],
}

/// Reads the parts as the map type `T`, by forging its descriptor.
fn forge<F: Transportable, T: Transportable + 'static>(parts: &F) -> Received<T> {
    let mut bytes = message(parts).as_bytes().to_vec();
    bytes[8..16].copy_from_slice(&descriptor::<T>().to_le_bytes());
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let read = Reader::default().read::<T>(filled);
    read.map_err(|failure| failure.error).unwrap()
}

/// Calls all methods of a map. Every entry found must be an entry of the map, even if its table is
/// wrong.
macro_rules! ask {
    ($map:expr, $probes:expr) => {{
        let map = $map;
        let entries: Vec<_> = map.iter().collect();
        assert_eq!(entries.len(), map.len());
        assert_eq!(map.keys().len(), map.len());
        assert_eq!(map.values().len(), map.len());
        assert!(!format!("{map:?}").is_empty());
        std::hint::black_box(map == map);
        for probe in $probes {
            if let Some(found) = map.get_key_value(&probe) {
                let mut same = entries.iter().filter(|entry| ptr::eq(entry.0, found.0));
                assert!(*found.0 == probe && same.any(|entry| ptr::eq(entry.1, found.1)));
                assert!(map.contains_key(&probe) && map.get(&probe).is_some());
            }
        }
    }};
}

fn ask_sorted<V: PartialEq + Debug>(map: &SortedMap<'_, u8, V>) {
    ask!(map, 0..=255);
    for (from, to) in [(3, 90), (90, 3), (0, 255), (7, 7)] {
        assert!(map.range(from..to).count() <= map.len());
        let excluded = (Bound::Excluded(from), Bound::Excluded(to));
        assert!(map.range(excluded).rev().count() <= map.len());
    }
    assert!(map.first_key_value().is_some() != map.is_empty());
    assert!(map.last_key_value().is_some() != map.is_empty());
}

fn columns() -> impl Strategy<Value = (Vec<u8>, Vec<u16>)> {
    (vec(any::<u8>(), 0..60), vec(any::<u16>(), 0..60))
}

fn numbers() -> impl Strategy<Value = Vec<u32>> {
    vec(prop_oneof![9 => 0..60u32, 1 => any::<u32>()], 0..70)
}

proptest! {
    #[test]
    fn forged_sorted((keys, values) in columns()) {
        let parts = Sorted { keys: &keys, values: &values };
        let map = forge::<_, BTreeMap<u8, u16>>(&parts);
        prop_assert_eq!(map.get().len(), keys.len().min(values.len()));
        ask_sorted(map.get());
    }

    #[test]
    fn forged_hashed((keys, values) in columns(), starts in numbers()) {
        let parts = Hashed { keys: &keys, starts: &starts, values: &values };
        let map = forge::<_, HashMap<u8, u16>>(&parts);
        prop_assert_eq!(map.get().len(), keys.len().min(values.len()));
        ask!(map.get(), 0..=255);
    }

    #[test]
    fn forged_indexed((keys, values) in columns(), table in numbers(), starts in numbers()) {
        let parts = Indexed { keys: &keys, table: &table, starts: &starts, values: &values };
        // `IndexedMap` is its own form and exists without the feature that sends it.
        let map = forge::<_, IndexedMap<'static, u8, u16>>(&parts);
        let map = map.get();
        ask!(map, 0..=255);
        for key in 0..=255 {
            if let Some(at) = map.get_index_of(&key) {
                prop_assert_eq!(map.get_index(at).map(|(key, _)| *key), Some(key));
            }
        }
    }
}

/// Maps of each kind.
#[derive(Transportable, Debug, Clone)]
#[transportable(derive(Debug))]
struct Maps {
    sorted: BTreeMap<u8, String>,
    hashed: HashMap<String, HashMap<u8, u16>>,
    set: HashSet<String>,
    sorted_set: BTreeSet<String>,
}

fn use_all(maps: &MapsRef<'_>) {
    ask_sorted(&maps.sorted);
    ask!(&maps.hashed, ["", "a", "b"]);
    for (name, map) in maps.hashed {
        std::hint::black_box(maps.hashed.get(name) == Some(map));
        ask!(map, 0..=255);
    }
    for element in maps.set {
        std::hint::black_box(maps.set.get(element));
    }
    for element in maps.sorted_set {
        std::hint::black_box(maps.sorted_set.get(element));
    }
    let (set, sorted_set) = (&maps.set, &maps.sorted_set);
    std::hint::black_box((set.eq(set), sorted_set.eq(sorted_set)));
    assert!(!format!("{maps:?}").is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn one_corrupted_byte(
        sorted in btree_map(any::<u8>(), ".{0,2}", 0..20),
        hashed in hash_map("[ab]{0,2}", hash_map(any::<u8>(), any::<u16>(), 0..20), 0..3),
        set in hash_set(".{0,2}", 0..20),
        sorted_set in btree_set(".{0,2}", 0..20),
        flip in 1..=255u8,
    ) {
        let maps = Maps { sorted, hashed, set, sorted_set };
        let whole = message(&maps).as_bytes().to_vec();
        let mut bytes = whole.clone();
        for at in 0..bytes.len() {
            bytes[at] ^= flip;
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            match Reader::default().read::<Maps>(filled) {
                Ok(received) => use_all(received.get()),
                Err(failure) => prop_assert!(!failure.to_string().is_empty()),
            }
            bytes[at] = whole[at];
        }
    }
}

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
}

fn call() -> u64 {
    CALLS.set(CALLS.get() + 1);
    CALLS.get()
}

/// A key that counts the calls of its traits.
#[derive(Transportable, Debug, Clone, Copy)]
struct Counted(u32);

impl Hash for Counted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        call();
        self.0.hash(state);
    }
}

impl PartialEq for Counted {
    fn eq(&self, other: &Self) -> bool {
        call();
        self.0 == other.0
    }
}

impl Eq for Counted {}

#[test]
fn a_forged_table_has_few_keys_compared() {
    let keys: Vec<Counted> = (0..100_000).map(Counted).collect();
    let places: Vec<u32> = (0..100_000).collect();
    let values = vec![(); 10_000];
    // All keys in one bucket, all keys in every bucket, and an empty table.
    let all = [0, 100_000].repeat(50_000);
    for starts in [&[0, 100_000][..], &all, &[]] {
        let parts = Hashed {
            keys: &keys,
            starts,
            values: &values,
        };
        let map = forge::<_, HashMap<Counted, ()>>(&parts);
        let map: &HashedMap<'_, Counted, ()> = map.get();
        let parts = Indexed {
            keys: &keys,
            table: &places,
            starts,
            values: &values,
        };
        let indexed = forge::<_, IndexedMap<'static, Counted, ()>>(&parts);
        CALLS.set(0);
        for key in (0..100_000).step_by(100) {
            std::hint::black_box(map.get(&Counted(key)));
            std::hint::black_box(indexed.get().get(&Counted(key)));
        }
        assert!(CALLS.get() < 2 * 1000 * 25, "{}", CALLS.get());
    }
}

/// A key whose hash is always the same and that counts comparisons.
#[derive(Transportable, Debug, Clone, Copy)]
struct Alike(u32);

impl Hash for Alike {
    fn hash<H: Hasher>(&self, state: &mut H) {
        0u32.hash(state);
    }
}

impl PartialEq for Alike {
    fn eq(&self, other: &Self) -> bool {
        call();
        self.0 == other.0
    }
}

impl Eq for Alike {}

/// Forges a hashed and an indexed map with the same keys.
fn forge_both(keys: &[Alike]) -> (Received<HashMap<Alike, ()>>, Received<IndexedAlike>) {
    let places: Vec<u32> = (0..).zip(keys).map(|(at, _)| at).collect();
    let all = [0, u32::try_from(keys.len()).unwrap()];
    let values = vec![(); keys.len()];
    let hashed = Hashed {
        keys,
        starts: &[],
        values: &values,
    };
    let indexed = Indexed {
        keys,
        table: &places,
        starts: &all,
        values: &values,
    };
    (forge(&hashed), forge(&indexed))
}

type IndexedAlike = IndexedMap<'static, Alike, ()>;

/// Comparing such maps needs few comparisons of keys and is symmetric.
#[test]
fn repeated_keys_that_hash_alike_have_few_compared() {
    const KEYS: usize = 10_000;
    let one = vec![Alike(1); KEYS];
    for at in [1000, 1023, 1024, KEYS - 1] {
        let mut other = vec![Alike(0); KEYS];
        other[at] = Alike(1);
        let (hashed, indexed) = forge_both(&one);
        let (other_hashed, other_indexed) = forge_both(&other);
        CALLS.set(0);
        assert!(hashed.get() != other_hashed.get());
        assert!(other_hashed.get() != hashed.get());
        assert!(indexed.get() != other_indexed.get());
        assert!(other_indexed.get() != indexed.get());
        assert!(hashed.get() == hashed.get() && indexed.get() == indexed.get());
        let most = (4 * (2 * 1024 + 1) + 2) * KEYS as u64;
        assert!(CALLS.get() <= most, "{} of {most}", CALLS.get());
        for key in 0..3 {
            CALLS.set(0);
            let is_found = key == 0 || key == 1 && at < 1024;
            assert_eq!(other_hashed.get().contains_key(&Alike(key)), is_found);
            assert_eq!(other_indexed.get().contains_key(&Alike(key)), is_found);
            assert!(CALLS.get() <= 2 * 1024, "{}", CALLS.get());
        }
    }
}

#[test]
fn equality_of_repeated_keys_is_symmetric() {
    let all: Vec<Vec<Alike>> = (0..27)
        .map(|n| [n % 3, n / 3 % 3, n / 9].map(Alike).to_vec())
        .collect();
    for (one, other) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
        let set = |keys: &[Alike]| keys.iter().map(|key| key.0).collect::<BTreeSet<_>>();
        let is_same = set(one) == set(other);
        let (hashed, indexed) = forge_both(one);
        let (other_hashed, other_indexed) = forge_both(other);
        assert_eq!(hashed.get() == other_hashed.get(), is_same);
        assert_eq!(indexed.get() == other_indexed.get(), is_same);
        let parts = Hashed {
            keys: one,
            starts: &[],
            values: &[1, 2, 3],
        };
        let other_parts = Hashed {
            keys: other,
            ..parts
        };
        let (map, other_map) = (
            forge::<_, HashMap<Alike, i32>>(&parts),
            forge::<_, HashMap<Alike, i32>>(&other_parts),
        );
        assert_eq!(map.get() == other_map.get(), other_map.get() == map.get());
        let sets = [one, other].map(|elements| {
            forge::<_, HashSet<Alike>>(&HashedElements {
                elements,
                starts: &[],
            })
        });
        assert_eq!(sets[0].get() == sets[1].get(), is_same);
    }
}

/// A key whose traits give another answer each time.
#[derive(Transportable, Debug, Clone, Copy)]
struct Liar(u32);

impl Hash for Liar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (call() % 7).hash(state);
    }
}

impl PartialEq for Liar {
    fn eq(&self, _: &Self) -> bool {
        call() % 11 == 0
    }
}

impl Eq for Liar {}

impl PartialOrd for Liar {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Liar {
    fn cmp(&self, _: &Self) -> Ordering {
        [Ordering::Less, Ordering::Equal, Ordering::Greater][(call() % 3) as usize]
    }
}

#[test]
fn keys_whose_traits_lie() {
    let hashed: HashMap<Liar, u32> = (0..3000).map(|n| (Liar(n), n)).collect();
    // `collect` would sort the keys and notice the inconsistent order.
    let mut sorted = BTreeMap::new();
    for n in 0..3000 {
        sorted.insert(Liar(n), n);
    }
    let hashed = Reader::default()
        .read::<HashMap<Liar, u32>>(message(&hashed))
        .unwrap();
    let sorted = Reader::default()
        .read::<BTreeMap<Liar, u32>>(message(&sorted))
        .unwrap();
    let (hashed, sorted) = (hashed.get(), sorted.get());
    for n in 0..3000 {
        std::hint::black_box((hashed.get(&Liar(n)), sorted.get(&Liar(n))));
        std::hint::black_box(sorted.range(Liar(n)..Liar(n + 1)).count());
    }
    std::hint::black_box((hashed == hashed, sorted == sorted, sorted.cmp(sorted)));
}

#[test]
fn keys_that_do_not_equal_themselves() {
    let keys = [f64::NAN, 1.0, f64::NAN, 0.0];
    let values = [1u8, 2, 3, 4];
    let parts = Sorted {
        keys: &keys,
        values: &values,
    };
    let map = forge::<_, SortedMap<'static, f64, u8>>(&parts);
    assert!(map.get() != map.get());
    assert_eq!(map.get().values().copied().sum::<u8>(), 10);
}
