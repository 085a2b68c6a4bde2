//! Messages of many types.
#![allow(unreachable_pub, reason = "test code")]

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroI16, NonZeroU8, NonZeroU64, Wrapping};
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jstream::inspect::{Catalog, Message, Options, message};
use jstream::schema::Schema;
use jstream::{EmptyBuffer, Limits, ReadError, Reader, Transportable, Writer, transportable};

/// A message of a type, and the schemas that are needed to inspect it.
pub struct Sample {
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub catalog: Catalog,
    pub schema: Vec<u8>,
    read: fn(&[u8]) -> Result<(), ReadError>,
}

impl Sample {
    pub fn of<T: Transportable + 'static>(name: &'static str, value: &impl Transportable) -> Self {
        let mut catalog = Catalog::default();
        catalog.add_type::<T>().unwrap();
        let (schema, root) = Schema::of::<T>();
        Self {
            name,
            bytes: written(value),
            catalog,
            schema: schema.to_bytes(root),
            read: read::<T>,
        }
    }

    /// Adds the schema of a class of trait objects.
    pub fn with<C: Transportable + 'static>(mut self) -> Self {
        self.catalog.add_type::<C>().unwrap();
        self
    }

    pub fn look(&self) -> Message {
        self.look_at(&self.bytes)
    }

    pub fn look_at(&self, bytes: &[u8]) -> Message {
        message(bytes, &self.catalog, &Options::default())
    }

    /// Reads a message and returns the reader's error.
    pub fn read(&self, bytes: &[u8]) -> Result<(), ReadError> {
        (self.read)(bytes)
    }
}

pub fn written(value: &impl Transportable) -> Vec<u8> {
    // Some samples are deeper than readers accept.
    let mut limits = Limits::default();
    limits.depth = None;
    let filled = Writer::with_limits(limits)
        .write(value, EmptyBuffer::heap(1 << 20))
        .unwrap();
    filled.as_bytes().to_vec()
}

fn read<T: Transportable + 'static>(bytes: &[u8]) -> Result<(), ReadError> {
    let filled = EmptyBuffer::heap(bytes.len().max(1))
        .copy_from(bytes)
        .unwrap();
    match Reader::default().read::<T>(filled) {
        Ok(_) => Ok(()),
        Err(failure) => Err(failure.error),
    }
}

#[derive(Transportable, Clone, Copy)]
#[repr(C)]
pub struct Leg {
    pub price: f64,
    pub quantity: u32,
    pub side: Side,
}

#[derive(Transportable, Clone, Copy)]
pub enum Side {
    Buy,
    Sell = 7,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Order<'b> {
    pub id: u64,
    pub symbol: &'b str,
    pub legs: &'b [Leg],
    pub parent: Option<&'b Order<'b>>,
}

const LEGS: [Leg; 3] = [
    Leg {
        price: 99.5,
        quantity: 2,
        side: Side::Buy,
    },
    Leg {
        price: -0.25,
        quantity: 10,
        side: Side::Sell,
    },
    Leg {
        price: f64::INFINITY,
        quantity: u32::MAX,
        side: Side::Buy,
    },
];

pub fn order() -> Sample {
    let parent = Order {
        id: u64::MAX,
        symbol: "größer → \"\n\"",
        legs: &[],
        parent: None,
    };
    let order = Order {
        id: 7,
        symbol: "ACME",
        legs: &LEGS,
        parent: Some(&parent),
    };
    Sample::of::<Order<'_>>("order", &order)
}

#[derive(Transportable)]
#[repr(C)]
pub struct Plain {
    pub unsigned: (u8, u16, u32, u64, u128, usize),
    pub signed: (i8, i16, i32, i64, i128, isize),
    pub float: (f32, f64, bool, char),
    pub nonzero: (NonZeroU8, NonZeroI16, Option<NonZeroU64>),
    pub wrapping: Wrapping<i16>,
    pub order: Ordering,
    pub unit: (),
    pub array: [[u8; 2]; 2],
    pub range: std::ops::Range<u16>,
    pub closed: std::ops::RangeInclusive<char>,
    pub bound: (Bound<u16>, Bound<u16>, Bound<char>),
}

pub fn plain() -> Sample {
    let plain = Plain {
        unsigned: (1, 2, 3, 4, u128::MAX, 6),
        signed: (-1, -2, -3, i64::MIN, i128::MIN, -6),
        float: (0.1, f64::NAN, true, 'ß'),
        nonzero: (NonZeroU8::MIN, NonZeroI16::MIN, NonZeroU64::new(9)),
        wrapping: Wrapping(-4),
        order: Ordering::Less,
        unit: (),
        array: [[1, 2], [3, 4]],
        range: 3..4,
        closed: 'a'..='z',
        bound: (Bound::Included(5), Bound::Unbounded, Bound::Excluded('x')),
    };
    Sample::of::<Plain>("plain", &plain)
}

type Times = (
    Duration,
    [SystemTime; 2],
    Ipv4Addr,
    Ipv6Addr,
    [IpAddr; 2],
    SocketAddrV4,
    SocketAddrV6,
    [SocketAddr; 2],
);

pub fn opaque() -> Sample {
    let v6 = Ipv6Addr::LOCALHOST;
    let span = Duration::new(3, 500_000_000);
    let times: Times = (
        span,
        [SystemTime::UNIX_EPOCH + span, SystemTime::UNIX_EPOCH - span],
        Ipv4Addr::new(10, 0, 0, 1),
        v6,
        [Ipv4Addr::LOCALHOST.into(), v6.into()],
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80),
        SocketAddrV6::new(v6, 81, 1, 2),
        [([127, 0, 0, 1], 82).into(), (v6, 83).into()],
    );
    Sample::of::<Times>("opaque", &times)
}

type Optional = (
    Option<bool>,
    Option<Option<bool>>,
    Option<u32>,
    Vec<Option<String>>,
    Result<u8, String>,
    Result<(), bool>,
    Option<Box<(u8, String)>>,
    Vec<Option<Side>>,
);

pub fn options() -> Sample {
    let options: Optional = (
        Some(true),
        Some(None),
        None,
        vec![Some("täxt".to_owned()), None, Some(String::new())],
        Err("why".to_owned()),
        Ok(()),
        Some(Box::new((1, "deep".to_owned()))),
        vec![Some(Side::Sell), None],
    );
    Sample::of::<Optional>("options", &options)
}

type Maps = (BTreeMap<String, u16>, HashMap<u8, Vec<bool>>);

pub fn maps() -> Sample {
    let maps: Maps = (
        BTreeMap::from([("one".to_owned(), 1), ("two".to_owned(), 2)]),
        HashMap::from([(7, vec![true, false])]),
    );
    Sample::of::<Maps>("maps", &maps)
}

#[derive(Transportable)]
#[repr(C)]
pub struct Person<'b> {
    pub name: &'b str,
    pub friend: Cell<Option<&'b Person<'b>>>,
    pub words: Cell<Option<&'b [u16]>>,
}

pub fn ring() -> Sample {
    let person = |name| Person {
        name,
        friend: Cell::default(),
        words: Cell::default(),
    };
    let (ada, bob) = (person("Ada"), person("Bob"));
    ada.friend.set(Some(&bob));
    bob.friend.set(Some(&ada));
    bob.words.set(Some(&[1, 2]));
    Sample::of::<Person<'_>>("ring", &ada)
}

type Shares = (Vec<Rc<String>>, Arc<str>, Option<Arc<str>>, [Rc<[u8]>; 2]);

pub fn shared() -> Sample {
    let (one, text): (_, Arc<str>) = (Rc::new("one".to_owned()), "täxt".into());
    let list: Rc<[u8]> = [1, 2, 3].into();
    let shares: Shares = (
        vec![one.clone(), Rc::new("two".to_owned()), one],
        text.clone(),
        Some(text),
        [list.clone(), list],
    );
    Sample::of::<Shares>("shared", &shares)
}

#[derive(Transportable, Clone)]
pub struct Tree {
    pub name: String,
    pub shape: Shape,
    pub children: Vec<Tree>,
}

#[derive(Transportable, Clone)]
pub enum Shape {
    Empty,
    Circle { radius: f32 },
    Lines(Vec<(u16, u16)>, Option<String>),
    Inside(Box<Tree>),
}

pub fn tree() -> Sample {
    let tree = |name: &str, shape, children| Tree {
        name: name.to_owned(),
        shape,
        children,
    };
    let leaf = tree("leaf", Shape::Circle { radius: 1.5 }, vec![]);
    let lines = Shape::Lines(vec![(1, 2), (3, 4)], Some("two".to_owned()));
    let inner = tree("inner", lines, vec![leaf.clone()]);
    let inside = Shape::Inside(Box::new(leaf.clone()));
    let root = tree("root", inside, vec![leaf, inner]);
    Sample::of::<Tree>("tree", &root)
}

#[transportable]
pub trait Figure {}

#[derive(Transportable)]
#[transportable(implements(Figure))]
pub struct Square {
    pub side: char,
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
pub struct Group {
    pub label: String,
    pub parts: Vec<Box<dyn Figure>>,
}

impl Figure for Square {}
impl Figure for Group {}
impl Figure for GroupRef<'_> {}

type Figures = (Box<dyn Figure>, [Option<Rc<dyn Figure>>; 3]);

pub fn dynamic() -> Sample {
    let group = Group {
        label: "gröup".to_owned(),
        parts: vec![Box::new(Square { side: 'x' })],
    };
    let square: Rc<dyn Figure> = Rc::new(Square { side: 'y' });
    let figures: Figures = (Box::new(group), [Some(square.clone()), None, Some(square)]);
    Sample::of::<Figures>("dynamic", &figures)
        .with::<Square>()
        .with::<Group>()
}

#[derive(Transportable)]
pub struct Chain {
    pub name: u32,
    pub next: Option<Rc<Chain>>,
    pub other: Option<Rc<Chain>>,
}

/// A type of trait objects whose layout the language defines.
#[derive(Transportable)]
#[repr(C)]
pub struct Pair {
    pub one: Box<dyn Figure>,
    pub other: Rc<dyn Figure>,
}

pub fn figures() -> Pair {
    let parts: Vec<Box<dyn Figure>> = vec![Box::new(Square { side: 'x' })];
    let label = "gröup".to_owned();
    Pair {
        one: Box::new(Group { label, parts }),
        other: Rc::new(Square { side: 'y' }),
    }
}

/// Shared objects with pointers to others of their type.
pub fn chain() -> Sample {
    let chain = |name, next, other| Chain { name, next, other };
    let last = Rc::new(chain(3, None, None));
    let middle = Rc::new(chain(2, Some(last.clone()), Some(last.clone())));
    let first = chain(1, Some(middle), Some(last));
    Sample::of::<Chain>("chain", &first)
}

/// A sample of each kind.
pub fn all() -> Vec<Sample> {
    vec![
        order(),
        plain(),
        opaque(),
        options(),
        maps(),
        ring(),
        shared(),
        tree(),
        dynamic(),
        chain(),
        Sample::of::<()>("unit", &()),
        Sample::of::<u32>("number", &5u32),
        Sample::of::<String>("text", &"text".to_owned()),
        Sample::of::<Vec<()>>("units", &vec![(); 1000]),
    ]
}

#[derive(Transportable)]
pub struct List {
    pub n: u32,
    pub next: Option<Box<List>>,
}
