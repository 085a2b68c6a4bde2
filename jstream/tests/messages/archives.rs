//! Archived types of rkyv of every kind.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU32;
use std::rc::Rc;

use rkyv::niche::niching::Zero;
use rkyv::with::NicheInto;
use rkyv::{Archive, Deserialize, Serialize};

#[derive(Archive, Serialize, Deserialize, Debug, PartialEq, Clone, Default)]
#[rkyv(derive(Debug, PartialEq), compare(PartialEq))]
pub(crate) struct Log {
    pub(crate) address: [u8; 4],
    pub(crate) request: String,
    pub(crate) user: Option<String>,
    pub(crate) code: u16,
    pub(crate) size: u64,
}

#[derive(Archive, Serialize, Deserialize, Debug, PartialEq, Clone)]
#[rkyv(derive(Debug))]
pub(crate) enum Shape {
    Empty,
    Circle { radius: f64 },
    Polygon(Vec<(i32, i32)>),
    Named(String, Box<Shape2>),
}

#[derive(Archive, Serialize, Deserialize, Debug, PartialEq, Clone)]
#[rkyv(derive(Debug))]
pub(crate) struct Shape2 {
    pub(crate) letter: char,
    pub(crate) flags: [bool; 3],
}

/// A struct with every kind of field.
#[derive(Archive, Serialize, Deserialize, Debug, PartialEq, Clone)]
#[rkyv(derive(Debug))]
pub(crate) struct Zoo {
    pub(crate) logs: Vec<Log>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) ages: HashMap<String, u32>,
    pub(crate) names: BTreeMap<u16, String>,
    pub(crate) tags: HashSet<String>,
    pub(crate) shared: [Rc<String>; 3],
    #[rkyv(with = NicheInto<Zero>)]
    pub(crate) count: Option<NonZeroU32>,
    pub(crate) pair: (u8, Result<u64, String>),
    pub(crate) nothing: (),
    pub(crate) wide: u128,
    pub(crate) text: Box<str>,
    pub(crate) nested: Option<Option<Box<[u16]>>>,
}

pub(crate) fn log(n: u16) -> Log {
    Log {
        address: [127, 0, 0, 1],
        request: format!("GET /a/long/enough/path/{n}"),
        user: (n % 2 == 0).then(|| format!("user {n}")),
        code: 200,
        size: u64::from(n) << 30,
    }
}

pub(crate) fn zoo() -> Zoo {
    let shared = Rc::new("shared by two of three".to_owned());
    Zoo {
        logs: (0..3).map(log).collect(),
        shapes: vec![
            Shape::Empty,
            Shape::Circle { radius: 0.5 },
            Shape::Polygon(vec![(1, -2), (3, -4)]),
            Shape::Named(
                "named".to_owned(),
                Box::new(Shape2 {
                    letter: 'ß',
                    flags: [true, false, true],
                }),
            ),
        ],
        ages: (0..5).map(|n| (format!("key {n}"), n)).collect(),
        names: (0..9).map(|n| (n, format!("name {n}"))).collect(),
        tags: ["a", "b"].map(str::to_owned).into(),
        shared: [shared.clone(), Rc::default(), shared],
        count: NonZeroU32::new(7),
        pair: (1, Err("no".to_owned())),
        nothing: (),
        wide: u128::MAX - 1,
        text: "boxed text beyond what is inline".into(),
        nested: Some(Some([1, 2, 3].into())),
    }
}

/// A linked list.
#[derive(Archive, Serialize, Deserialize, Debug, PartialEq)]
#[rkyv(
    derive(Debug),
    serialize_bounds(__S: rkyv::ser::Writer + rkyv::ser::Allocator, __S::Error: rkyv::rancor::Source),
    deserialize_bounds(__D::Error: rkyv::rancor::Source),
    bytecheck(bounds(__C: rkyv::validation::ArchiveContext, __C::Error: rkyv::rancor::Source))
)]
pub(crate) struct List {
    pub(crate) value: u32,
    #[rkyv(omit_bounds)]
    pub(crate) next: Option<Box<List>>,
}

/// Returns a list of `len` nodes.
pub(crate) fn list(len: u32) -> List {
    let mut list = List {
        value: 0,
        next: None,
    };
    for value in 1..len {
        list = List {
            value,
            next: Some(Box::new(list)),
        };
    }
    list
}

/// Types with a larger alignment than the buffers of rkyv.
macro_rules! aligned {
    ($($name:ident $align:literal)*) => {$(
        #[derive(Archive, Serialize, Deserialize, Debug, PartialEq, Clone)]
        #[rkyv(derive(Debug), attr(repr(C, align($align))))]
        pub(crate) struct $name {
            pub(crate) text: String,
            pub(crate) many: Vec<u64>,
        }

        impl $name {
            pub(crate) fn sample() -> Self {
                Self { text: "aligned text, not inline".to_owned(), many: (0..11).collect() }
            }
        }
    )*};
}

aligned!(Aligned32 32 Aligned64 64 Aligned128 128);
