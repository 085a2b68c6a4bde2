//! Cases `text`, `hash-map`, `btree-map`, `options` and `shapes`: long strings, maps, and slices of
//! options and of enums with data.
//!
//! Traversing a map looks up each of its keys, in random order.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU32;

use jstream::Transportable;
use rkyv::with::{Map, Niche};

use super::{Case, Numbers, forever};
use crate::Failure;
use crate::suites::serialization::walk::{Walk, walk_fields};
use crate::table::number;

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Text {
    strings: Vec<String>,
}

walk_fields!(Text, TextRef<'_>, ArchivedText => strings);

/// Creates the case of strings of 100,000 bytes.
pub(super) fn text(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(7);
    let strings = (0..size).map(|_| {
        let line = format!("line {:020} ", numbers.next());
        line.repeat(100_000 / line.len())
    });
    let strings = strings.collect();
    let about = format!("{} strings of 100 KB", number(size as f64));
    Case::new(about, forever(Text { strings }))
}

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Hashed {
    map: HashMap<u64, u64>,
    keys: Vec<u64>,
}

/// Implements `Walk` by a lookup of each key, which is converted by `$convert`.
macro_rules! walk_lookups {
    ($($type:ty, |$key:ident| $convert:expr;)*) => {$(
        impl Walk for $type {
            #[inline(always)]
            fn walk(&self) -> u64 {
                self.keys.iter().fold(0, |sum: u64, $key| {
                    sum.wrapping_add(self.map.get($convert).map_or(0, Walk::walk))
                })
            }
        }
    )*};
}

walk_lookups! {
    Hashed, |key| key;
    HashedRef<'_>, |key| key;
    ArchivedHashed, |key| key;
    Sorted, |key| key.as_str();
    SortedRef<'_>, |key| *key;
    ArchivedSorted, |key| key.as_str();
}

/// Creates the case of a hash map of numbers.
pub(super) fn hash_map(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(8);
    let map: HashMap<u64, u64> = (0..size)
        .map(|_| (numbers.next(), numbers.next()))
        .collect();
    // The order of a `HashMap` differs from run to run.
    let mut keys: Vec<u64> = map.keys().copied().collect();
    keys.sort_unstable();
    shuffle(&mut keys, &mut numbers);
    let about = format!(
        "a HashMap<u64, u64> of {} entries, and its keys",
        number(size as f64)
    );
    Case::new(about, forever(Hashed { map, keys }))
}

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Sorted {
    map: BTreeMap<String, Vec<u32>>,
    keys: Vec<String>,
}

/// Creates the case of a sorted map from text to lists.
pub(super) fn btree_map(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(9);
    let map: BTreeMap<String, Vec<u32>> = (0..size)
        .map(|_| {
            let key = numbers.next();
            let many = numbers.below(8);
            let list = (0..many).map(|_| numbers.next() as u32).collect();
            (format!("key-{key:x}"), list)
        })
        .collect();
    let mut keys: Vec<String> = map.keys().cloned().collect();
    shuffle(&mut keys, &mut numbers);
    let about = format!(
        "a BTreeMap<String, Vec<u32>> of {} entries, and its keys",
        number(size as f64)
    );
    Case::new(about, forever(Sorted { map, keys }))
}

fn shuffle<T>(values: &mut [T], numbers: &mut Numbers) {
    for end in (1..values.len()).rev() {
        values.swap(end, numbers.below(end + 1));
    }
}

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Options {
    #[rkyv(with = Map<Niche>)]
    numbers: Vec<Option<NonZeroU32>>,
    flags: Vec<Option<bool>>,
}

walk_fields!(Options, OptionsRef<'_>, ArchivedOptions => numbers flags);

/// Creates the case of options that are as large as their payloads.
pub(super) fn options(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(10);
    let value = Options {
        numbers: (0..size)
            .map(|_| NonZeroU32::new(numbers.next() as u32).filter(|n| n.get() % 3 > 0))
            .collect(),
        flags: (0..size)
            .map(|_| match numbers.below(3) {
                0 => None,
                flag => Some(flag == 1),
            })
            .collect(),
    };
    let about = format!(
        "{} x Option<NonZeroU32>, a third of them None, and as many Option<bool>",
        number(size as f64)
    );
    Case::new(about, forever(value))
}

#[derive(Transportable, rkyv::Archive, rkyv::Serialize, Clone, Copy)]
#[repr(u8)]
enum Shape {
    Point,
    Circle { radius: f32 },
    Rectangle { width: f32, height: f32 },
    Numbered(u64),
}

#[derive(Transportable, rkyv::Archive, rkyv::Serialize)]
struct Shapes {
    shapes: Vec<Shape>,
}

walk_fields!(Shapes, ShapesRef<'_>, ArchivedShapes => shapes);

/// Implements `Walk` for enums with the variants of `Shape`.
macro_rules! walk_shape {
    ($($shape:ident),+) => {$(
        impl Walk for $shape {
            #[inline(always)]
            fn walk(&self) -> u64 {
                match self {
                    Self::Point => 0,
                    Self::Circle { radius } => radius.walk(),
                    Self::Rectangle { width, height } => width.walk().wrapping_add(height.walk()),
                    Self::Numbered(number) => number.walk(),
                }
            }
        }
    )+};
}

walk_shape!(Shape, ArchivedShape);

/// Creates the case of an enum with plain data.
pub(super) fn shapes(size: usize) -> Result<Case, Failure> {
    let mut numbers = Numbers(11);
    let shapes = (0..size).map(|_| {
        let [a, b] = [numbers.below(1000) as f32, numbers.below(1000) as f32];
        match numbers.below(4) {
            0 => Shape::Point,
            1 => Shape::Circle { radius: a },
            2 => Shape::Rectangle {
                width: a,
                height: b,
            },
            _ => Shape::Numbered(numbers.next()),
        }
    });
    let shapes = shapes.collect();
    let about = format!(
        "{} x an enum with plain data, whose variants are random",
        number(size as f64)
    );
    Case::new(about, forever(Shapes { shapes }))
}
