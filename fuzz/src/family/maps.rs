//! Maps and sets.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use arbitrary::{Arbitrary, Result, Unstructured};
use indexmap::{IndexMap, IndexSet};
use jstream::Transportable;
use jstream::testing::Kit;

use super::{Family, kit, sent, several};
use crate::touch::{Seen, Touch};

pub struct Maps;

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug))]
pub struct All {
    sorted: BTreeMap<String, u32>,
    hashed: HashMap<u16, String>,
    nested: BTreeMap<u8, HashMap<String, Vec<u8>>>,
    in_itself: HashMap<u8, All>,
    letters: HashSet<char>,
    numbers: BTreeSet<i64>,
    nothing: HashSet<()>,
    empty: BTreeMap<(), ()>,
    #[arbitrary(with = indexed)]
    indexed: IndexMap<String, Option<bool>>,
    #[arbitrary(with = indexed_set)]
    indexed_set: IndexSet<u32>,
}

fn indexed(input: &mut Unstructured<'_>) -> Result<IndexMap<String, Option<bool>>> {
    Ok(several(input, 8)?.into_iter().collect())
}

fn indexed_set(input: &mut Unstructured<'_>) -> Result<IndexSet<u32>> {
    Ok(several(input, 8)?.into_iter().collect())
}

impl Touch for AllRef<'_> {
    fn touch(&self, seen: &mut Seen) {
        self.sorted.touch(seen);
        self.hashed.touch(seen);
        for (key, of) in &self.nested {
            key.touch(seen);
            of.touch(seen);
        }
        for (key, of) in &self.in_itself {
            key.touch(seen);
            of.touch(seen);
        }
        self.letters.touch(seen);
        self.numbers.touch(seen);
        self.nothing.touch(seen);
        self.empty.touch(seen);
        self.indexed.touch(seen);
        for (at, number) in self.indexed_set.iter().enumerate() {
            number.touch(seen);
            assert_eq!(self.indexed_set.get_index(at), Some(number));
            if let Some(at) = self.indexed_set.get_index_of(number) {
                assert_eq!(self.indexed_set.get_index(at), Some(number));
            }
        }
        // Keys that are missing, and bounds between keys.
        for probe in ["", "a", "zzz", "ß"] {
            let found = self.sorted.get_key_value(probe);
            assert!(found.is_none_or(|(key, _)| *key == probe));
            let found = self.indexed.get_key_value(probe);
            assert!(found.is_none_or(|(key, _)| *key == probe));
            assert!(self.sorted.range(probe..).count() <= self.sorted.len());
            assert!(self.sorted.range(..=probe).rev().count() <= self.sorted.len());
        }
        for probe in [0, 1, 7, u16::MAX] {
            std::hint::black_box(self.hashed.get(&probe));
        }
    }
}

fn sample(in_itself: HashMap<u8, All>) -> All {
    let text = |n: u32| "abcdefgh".repeat(2)[..n as usize].to_owned();
    All {
        sorted: (0..5).map(|n| (text(n), n)).collect(),
        hashed: (0..9).map(|n| (n, text(n.into()))).collect(),
        nested: [
            (1, [("x".to_owned(), vec![1, 2])].into()),
            (2, HashMap::new()),
        ]
        .into(),
        in_itself,
        letters: "aßc🦀".chars().collect(),
        numbers: [-1, 0, i64::MAX].into(),
        nothing: [()].into(),
        empty: BTreeMap::from([((), ())]),
        indexed: [("b".to_owned(), Some(true)), ("a".to_owned(), None)].into(),
        indexed_set: [3, 1, 2].into(),
    }
}

impl Family for Maps {
    type Root = All;
    const NAME: &'static str = "maps";

    fn kit() -> &'static Kit<All> {
        kit!(All)
    }

    fn sample() -> Vec<u8> {
        let inner = sample(HashMap::new());
        sent(Self::kit(), &sample([(7, inner)].into()))
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &All::arbitrary(input)?))
    }
}
