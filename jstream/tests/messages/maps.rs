//! Maps and sets, compared with the `std` collections that were sent.

use crate::common;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::ops::Bound;

use common::message;
use jstream::map::{HashedMap, HashedSet, SortedMap, SortedSet};
use jstream::{Reader, Received, Transportable};
use proptest::collection::{btree_map, btree_set, hash_map, hash_set, vec};
use proptest::prelude::*;

fn read<T: Transportable + 'static>(value: &T) -> Received<T> {
    let read = Reader::default().read::<T>(message(value));
    read.map_err(|failure| failure.error).unwrap()
}

/// A key that owns its parts, so its form is another type.
#[derive(Transportable, Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[transportable(derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord))]
enum Key {
    Nothing,
    Name { name: String, of: Option<Box<str>> },
    Path(Vec<String>, Vec<u8>, [i16; 2], char),
    Boxed(Box<(u8, Key)>),
    Map(BTreeMap<String, u8>, BTreeSet<u16>),
}

impl Key {
    /// Calls `visit` with the received form of this key.
    fn with_form<R>(&self, visit: impl FnOnce(&KeyRef<'_>) -> R) -> R {
        visit(read(self).get())
    }
}

fn keys() -> impl Strategy<Value = Key> {
    let leaf = prop_oneof![
        Just(Key::Nothing),
        (".{0,20}", any::<Option<bool>>()).prop_map(|(name, of)| Key::Name {
            name,
            of: of.map(|of| of.to_string().into())
        }),
        (
            vec(".{0,3}", 0..3),
            any::<Vec<u8>>(),
            any::<[i16; 2]>(),
            any::<char>()
        )
            .prop_map(|(path, bytes, pair, letter)| Key::Path(path, bytes, pair, letter)),
        (
            btree_map(".{0,3}", any::<u8>(), 0..3),
            btree_set(any::<u16>(), 0..3)
        )
            .prop_map(|(map, set)| Key::Map(map, set)),
    ];
    leaf.prop_recursive(2, 3, 1, |inner| {
        (any::<u8>(), inner).prop_map(|(n, key)| Key::Boxed(Box::new((n, key))))
    })
}

/// A directory with maps and sets of each kind.
#[derive(Transportable, Debug, Clone, Default, PartialEq)]
#[transportable(derive(Debug, Clone, Copy, PartialEq))]
struct Dir {
    entries: BTreeMap<String, Dir>,
    sizes: Option<HashMap<String, Vec<u64>>>,
    tags: HashSet<Vec<u16>>,
    marks: std::collections::BTreeSet<char>,
    nested: HashMap<u32, BTreeMap<String, Option<Box<Dir>>>>,
}

fn dirs() -> impl Strategy<Value = Dir> {
    let leaf = (
        prop::option::of(hash_map(".{0,4}", any::<Vec<u64>>(), 0..20)),
        hash_set(vec(any::<u16>(), 0..3), 0..20),
        btree_set(any::<char>(), 0..20),
    )
        .prop_map(|(sizes, tags, marks)| Dir {
            sizes,
            tags,
            marks,
            ..Dir::default()
        });
    leaf.prop_recursive(4, 12, 3, |inner| {
        let nested = btree_map(
            ".{0,2}",
            prop::option::of(inner.clone().prop_map(Box::new)),
            0..3,
        );
        let nested = hash_map(any::<u32>(), nested, 0..3);
        (inner.clone(), btree_map(".{0,4}", inner, 0..4), nested).prop_map(
            |(mut dir, entries, nested)| {
                dir.entries = entries;
                dir.nested = nested;
                dir
            },
        )
    })
}

fn same(dir: &Dir, form: &DirRef<'_>) -> bool {
    let nested = |(key, map): (&u32, &BTreeMap<String, Option<Box<Dir>>>)| {
        form.nested.get(key).is_some_and(|form| {
            form.len() == map.len()
                && map.iter().all(
                    |(name, dir)| match (dir, form.get(name.as_str()).unwrap()) {
                        (Some(dir), Some(form)) => same(dir, form),
                        (dir, form) => dir.is_none() && form.is_none(),
                    },
                )
        })
    };
    let sizes = match (&dir.sizes, form.sizes) {
        (Some(sizes), Some(form)) => {
            sizes.len() == form.len()
                && sizes
                    .iter()
                    .all(|(name, size)| form.get(name.as_str()) == Some(&size.as_slice()))
        }
        (sizes, form) => sizes.is_none() && form.is_none(),
    };
    sizes
        && dir.entries.len() == form.entries.len()
        && dir
            .entries
            .iter()
            .zip(&form.entries)
            .all(|((name, dir), (n, form))| name == n && same(dir, form))
        && dir.tags.len() == form.tags.len()
        && dir
            .tags
            .iter()
            .all(|tag| form.tags.contains(tag.as_slice()))
        && dir.marks.iter().eq(form.marks)
        && dir.nested.len() == form.nested.len()
        && dir.nested.iter().all(nested)
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sorted_maps(
        map in btree_map(any::<u8>(), ".{0,3}", 0..80),
        bounds in any::<[(u8, u8); 2]>(),
    ) {
        let received = read(&map);
        let form: SortedMap<'_, u8, &str> = *received.get();
        prop_assert!(form.iter().map(|(k, v)| (*k, (*v).to_owned())).eq(map.clone()));
        prop_assert!(form.keys().eq(map.keys()) && form.values().eq(map.values()));
        prop_assert!(form.iter().rev().map(|(k, _)| k).eq(map.keys().rev()));
        prop_assert_eq!((form.len(), form.is_empty()), (map.len(), map.is_empty()));
        prop_assert_eq!(format!("{form:?}"), format!("{map:?}"));
        for key in 0..=255 {
            prop_assert_eq!(form.get(&key).copied(), map.get(&key).map(String::as_str));
            prop_assert_eq!(form.contains_key(&key), map.contains_key(&key));
            prop_assert_eq!(form.get_key_value(&key).map(|(k, _)| *k), map.get(&key).map(|_| key));
        }
        prop_assert_eq!(form.first_key_value().map(|(k, _)| k), map.keys().next());
        prop_assert_eq!(form.last_key_value().map(|(k, _)| k), map.keys().next_back());
        let bound = |(how, at): (u8, u8)| match how % 3 {
            0 => Bound::Included(at),
            1 => Bound::Excluded(at),
            _ => Bound::Unbounded,
        };
        let range = (bound(bounds[0]), bound(bounds[1]));
        let inside = map.keys().filter(|key| std::ops::RangeBounds::contains(&range, *key));
        prop_assert!(form.range(range).map(|(k, _)| k).eq(inside));
    }

    #[test]
    fn sorted_sets(set in btree_set(".{0,3}", 0..40), probe in ".{0,3}") {
        let received = read(&set);
        let form: &SortedSet<'_, &str> = received.get();
        prop_assert!(form.iter().eq(&set));
        prop_assert!(set.iter().all(|key| form.get(key.as_str()) == Some(&key.as_str())));
        prop_assert_eq!(form.contains(probe.as_str()), set.contains(&probe));
        prop_assert!(form.range(probe.as_str()..).eq(set.range(probe.clone()..)));
        prop_assert_eq!(form.first().copied(), set.first().map(String::as_str));
        prop_assert_eq!(form.last().copied(), set.last().map(String::as_str));
        prop_assert_eq!(hash_of(form), hash_of(&set));
    }

    #[test]
    fn hashed_maps(map in hash_map(any::<u8>(), ".{0,3}", 0..80)) {
        let received = read(&map);
        let form: HashedMap<'_, u8, &str> = *received.get();
        for key in 0..=255 {
            prop_assert_eq!(form.get(&key).copied(), map.get(&key).map(String::as_str));
            prop_assert_eq!(form.contains_key(&key), map.contains_key(&key));
            prop_assert_eq!(form.get_key_value(&key).map(|(k, _)| *k), map.get(&key).map(|_| key));
        }
        prop_assert_eq!((form.len(), form.is_empty()), (map.len(), map.is_empty()));
        let all: HashMap<u8, String> = form.iter().map(|(k, v)| (*k, (*v).to_owned())).collect();
        prop_assert_eq!(all, map);
        prop_assert!(form.keys().zip(form.values()).eq(form));
    }

    #[test]
    fn keys_that_own_their_parts(map in hash_map(keys(), any::<u32>(), 0..60), other in keys()) {
        let received = read(&map);
        let form: &HashedMap<'_, KeyRef<'_>, u32> = received.get();
        prop_assert_eq!(form.len(), map.len());
        for (key, value) in &map {
            prop_assert_eq!(key.with_form(|key| form.get(key).copied()), Some(*value));
        }
        prop_assert_eq!(other.with_form(|key| form.contains_key(key)), map.contains_key(&other));

        let sorted: BTreeMap<Key, u32> = map.into_iter().collect();
        let received = read(&sorted);
        for (key, value) in &sorted {
            prop_assert_eq!(key.with_form(|key| received.get().get(key).copied()), Some(*value));
        }
    }

    #[test]
    fn maps_in_structs(dir in dirs()) {
        let received = read(&dir);
        let form: &DirRef<'_> = received.get();
        prop_assert!(same(&dir, form));
        let (first, second) = (message(&dir), message(form));
        prop_assert_eq!(first.as_bytes(), second.as_bytes());
        let again = Reader::default().read::<DirRef<'static>>(second).unwrap();
        prop_assert_eq!(again.get(), form);
    }

    #[test]
    fn equal_maps_are_equal_bytes(entries in hash_map(".{0,3}", any::<u16>(), 0..60)) {
        let backwards = entries.iter().collect::<Vec<_>>().into_iter().rev();
        let (mut forwards, mut other) = (HashMap::new(), HashMap::with_capacity(1000));
        forwards.extend(entries.iter().map(|(k, v)| (k.clone(), *v)));
        other.extend(backwards.map(|(k, v)| (k.clone(), *v)));
        let fixed: HashMap<_, _, BuildHasherDefault<DefaultHasher>> = entries.into_iter().collect();
        let bytes = message(&forwards).as_bytes().to_vec();
        prop_assert!(message(&other).as_bytes() == bytes);
        prop_assert!(message(&fixed).as_bytes() == bytes);
        prop_assert!(read(&other).get() == read(&fixed).get());
        let sets: [HashSet<&str>; 2] = [
            forwards.keys().map(String::as_str).collect(),
            other.keys().map(String::as_str).collect(),
        ];
        let (first, second) = (message(&sets[0]), message(&sets[1]));
        prop_assert_eq!(first.as_bytes(), second.as_bytes());
    }
}

#[test]
fn nothing_and_values_without_size() {
    let received = read(&HashMap::<String, u8>::new());
    assert_eq!((received.get().len(), received.get().get("")), (0, None));
    assert_eq!(*received.get(), HashedMap::default());
    let received = read(&BTreeMap::<(), ()>::from([((), ())]));
    assert_eq!(received.get().get(&()), Some(&()));
    let received = read(&(0..100u8).map(|n| (n, ())).collect::<HashMap<_, _>>());
    assert_eq!(
        (received.get().get(&99), received.get().get(&100)),
        (Some(&()), None)
    );
    assert_eq!(*read(&BTreeSet::<u8>::new()).get(), SortedSet::default());
    assert_eq!(*read(&HashSet::from([()])).get().iter().next().unwrap(), ());
}

#[test]
fn forms_are_compared_as_std_does() {
    let all: Vec<BTreeMap<u8, &str>> = vec![
        BTreeMap::new(),
        BTreeMap::from([(1, "b")]),
        BTreeMap::from([(1, "b"), (2, "a")]),
        BTreeMap::from([(2, "a")]),
    ];
    let forms: Vec<_> = all.iter().map(read_static).collect();
    for (map, form) in all.iter().zip(&forms) {
        assert_eq!(hash_of(map), hash_of(form.get()));
        for (other, other_form) in all.iter().zip(&forms) {
            assert_eq!(map.cmp(other), form.get().cmp(other_form.get()));
            assert_eq!(map == other, form.get() == other_form.get());
        }
    }
    let maps = [
        HashMap::from([(1u8, 2u8), (3, 4)]),
        HashMap::from([(1, 2), (3, 5)]),
    ];
    assert_ne!(read(&maps[0]).get(), read(&maps[1]).get());
    assert_ne!(
        read(&HashSet::from([1u8])).get(),
        read(&HashSet::from([2u8])).get()
    );
}

fn read_static(map: &BTreeMap<u8, &'static str>) -> Received<BTreeMap<u8, &'static str>> {
    read(map)
}

/// A key with a poor `Hash`: 1000 keys share each hash, and all of them are found.
#[derive(Transportable, Debug, PartialEq, Eq, Clone, Copy)]
struct Poor(u32);

impl Hash for Poor {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.0 / 1000);
    }
}

#[test]
fn big_maps_and_keys_that_hash_alike() {
    let big: HashMap<String, u32> = (0..100_000).map(|n| (format!("key-{n}"), n)).collect();
    let received = read(&big);
    assert!(
        big.iter()
            .all(|(key, n)| received.get().get(key.as_str()) == Some(n))
    );
    assert!((0..100_000).all(|n| !received.get().contains_key(&*format!("kay-{n}"))));
    let sorted: BTreeMap<String, u32> = big.into_iter().collect();
    let received = read(&sorted);
    assert!(
        sorted
            .iter()
            .all(|(key, n)| received.get().get(key.as_str()) == Some(n))
    );

    let poor: HashSet<Poor> = (0..3000).map(Poor).collect();
    let received = read(&poor);
    let form: &HashedSet<'_, Poor> = received.get();
    assert!((0..4000).all(|n| form.contains(&Poor(n)) == (n < 3000)));
}

/// A type with borrowed and owned parts, type parameters, qualified paths, and forms as fields.
#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Mixed<'a, K: Hash, V> {
    by_name: std::collections::HashMap<&'a str, V, BuildHasherDefault<DefaultHasher>>,
    by_key: HashMap<K, Box<[V]>>,
    received: jstream::map::SortedMap<'a, &'a str, u8>,
}

/// A type that is its own form.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Sent<'b> {
    map: SortedMap<'b, &'b str, HashedSet<'b, u8>>,
}

#[test]
fn maps_among_other_parts() {
    let lent = read(&BTreeMap::from([("k".to_owned(), 7u8)]));
    let mixed = Mixed {
        by_name: std::iter::once(("name", 1u16)).collect(),
        by_key: HashMap::from([("key".to_owned(), vec![2u16].into())]),
        received: *lent.get(),
    };
    let filled = message(&mixed);
    let received = Reader::default()
        .read::<Mixed<'static, String, u16>>(filled)
        .unwrap();
    received.with(|form: &MixedRef<'_, &str, u16>| {
        assert_eq!(form.by_name.get("name"), Some(&1));
        assert_eq!(form.by_key.get("key"), Some(&&[2u16][..]));
        assert_eq!(form.received.get("k"), Some(&7));
    });

    let map = read(&BTreeMap::from([(
        "set".to_owned(),
        HashSet::from([1u8, 2]),
    )]));
    let sent = Sent { map: *map.get() };
    let again = Reader::default()
        .read::<Sent<'static>>(message(&sent))
        .unwrap();
    assert_eq!(*again.get(), sent);
}

/// A plain value that needs more alignment than the memory that a writer gathers values in.
#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[repr(C, align(32))]
struct Wide(u8);

/// A value with text that needs even more alignment.
#[derive(Transportable, Debug)]
#[repr(C, align(64))]
struct Named {
    name: String,
}

#[test]
fn values_may_need_any_alignment() {
    let wide: HashMap<u8, Wide> = (0..20).map(|n| (n, Wide(n))).collect();
    let named = |n: u8| Named {
        name: format!("number {n}"),
    };
    let named: BTreeMap<u8, Named> = (0..20).map(|n| (n, named(n))).collect();
    let received = read(&(wide, named));
    let (wide, named) = received.get();
    for n in 0..20 {
        assert_eq!(wide.get(&n), Some(&Wide(n)));
        assert_eq!(named.get(&n).unwrap().name, format!("number {n}"));
    }
}
