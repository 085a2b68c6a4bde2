//! Maps and sets that keep the order of insertion, compared with those that were sent.

use crate::common;

use common::message;
use indexmap::{IndexMap, IndexSet};
use jstream::map::{IndexedMap, IndexedSet};
use jstream::{Reader, Received, Transportable};
use proptest::collection::vec;
use proptest::prelude::*;

fn read<T: Transportable + 'static>(value: &T) -> Received<T> {
    let read = Reader::default().read::<T>(message(value));
    read.map_err(|failure| failure.error).unwrap()
}

#[derive(Transportable, Debug, Default)]
#[transportable(derive(Debug, Clone, Copy, PartialEq))]
struct Config {
    sections: IndexMap<String, Config>,
    flags: IndexSet<String>,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn maps(entries in vec((any::<u8>(), ".{0,3}"), 0..80)) {
        let map: IndexMap<u8, String> = entries.into_iter().collect();
        let received = read(&map);
        let form: IndexedMap<'_, u8, &str> = *received.get();
        prop_assert!(form.iter().map(|(k, v)| (*k, (*v).to_owned())).eq(map.clone()));
        prop_assert!(form.keys().eq(map.keys()) && form.values().eq(map.values()));
        prop_assert_eq!(form.len(), map.len());
        for key in 0..=255 {
            prop_assert_eq!(form.get(&key).copied(), map.get(&key).map(String::as_str));
            prop_assert_eq!(form.get_index_of(&key), map.get_index_of(&key));
            prop_assert_eq!(form.contains_key(&key), map.contains_key(&key));
        }
        for at in 0..90 {
            prop_assert_eq!(form.get_index(at).map(|(k, _)| k), map.get_index(at).map(|(k, _)| k));
        }
        prop_assert_eq!(form.first().map(|(k, _)| k), map.keys().next());
        prop_assert_eq!(form.last().map(|(k, _)| k), map.keys().next_back());
        let other: IndexMap<u8, String> = map.into_iter().rev().collect();
        prop_assert!(*read(&other).get() == form);
    }

    #[test]
    fn sets(elements in vec(".{0,3}", 0..60), probe in ".{0,3}") {
        let set: IndexSet<String> = elements.into_iter().collect();
        let received = read(&set);
        let form: &IndexedSet<'_, &str> = received.get();
        prop_assert!(form.iter().eq(&set));
        for element in set.iter().chain([&probe]) {
            prop_assert_eq!(form.get_index_of(element.as_str()), set.get_index_of(element));
            prop_assert_eq!(form.contains(element.as_str()), set.contains(element));
        }
        prop_assert_eq!(form.get_index(1).copied(), set.get_index(1).map(String::as_str));
        prop_assert_eq!(form.first().copied(), set.first().map(String::as_str));
        prop_assert_eq!(form.last().copied(), set.last().map(String::as_str));
    }
}

#[test]
fn maps_in_structs() {
    let inner = Config {
        flags: IndexSet::from(["z".to_owned(), "a".to_owned()]),
        ..Config::default()
    };
    let config = Config {
        sections: IndexMap::from([("inner".to_owned(), inner)]),
        flags: IndexSet::new(),
    };
    let received = read(&config);
    let form: &ConfigRef<'_> = received.get();
    let inner = form.sections.get("inner").unwrap();
    assert!(inner.flags.iter().eq(&["z", "a"]));
    assert_eq!(read(&config).get(), form);
    let (first, second) = (message(&config), message(form));
    assert_eq!(first.as_bytes(), second.as_bytes());
}

#[test]
fn big_maps() {
    let map: IndexMap<u64, ()> = (0..60_000).rev().map(|n| (n * n, ())).collect();
    let received = read(&map);
    let form = received.get();
    assert!(
        map.keys()
            .enumerate()
            .all(|(at, key)| form.get_index_of(key) == Some(at))
    );
    assert!(!form.contains_key(&2));
}
