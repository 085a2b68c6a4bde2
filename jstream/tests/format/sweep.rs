//! Replaces every byte of a sample message of every transportable type by several other values.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroI128, NonZeroIsize, NonZeroU8,
    NonZeroU16, NonZeroU32, NonZeroU64, NonZeroU128, NonZeroUsize, Saturating, Wrapping,
};
use std::ops::Bound;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use jstream::testing::{Kit, places};
use jstream::{Adapter, Shared, Transportable, transportable};

/// Replaces every byte of the message of `value`, header included, and checks that the schema
/// accounts for every part of the message.
fn sweep<T: Transportable + 'static, V: Transportable>(kit: &Kit<T>, value: &V) {
    let name = std::any::type_name::<T>();
    let result = kit.round_trip(value).and_then(|sound| {
        let tally = kit.bytes(&sound)?;
        assert!(tally.refused > 0 && tally.refused + tally.accepted >= 5 * sound.len());
        let places = places::<T>(&sound);
        assert!(places.complete, "{name}: {places:#?}");
        #[cfg(feature = "cli")]
        looked_into::<T>(&sound);
        Ok(())
    });
    result.unwrap_or_else(|finding| panic!("{finding}"));
}

/// Inspects the message of a value, undamaged and with each byte replaced, by its schema alone, and
/// checks that the inspection agrees with a reader.
#[cfg(feature = "cli")]
fn looked_into<T: Transportable + 'static>(sound: &[u8]) {
    use jstream::inspect::{Catalog, Options, message};

    let mut catalog = Catalog::default();
    catalog.add_type::<T>().unwrap();
    catalog.add_type::<Square>().unwrap();
    catalog.add_type::<Point>().unwrap();
    catalog.add_type::<Group>().unwrap();
    let name = std::any::type_name::<T>();
    let found = message(sound, &catalog, &Options::default());
    assert_eq!(found.fault, None, "{name}");
    let mut reader = jstream::Reader::default();
    for at in 0..sound.len() {
        for new in [0, 1, 2, 0x80, 0xff, sound[at].wrapping_add(1)] {
            let mut bytes = sound.to_vec();
            bytes[at] = new;
            let filled = jstream::EmptyBuffer::heap(bytes.len())
                .copy_from(&bytes)
                .unwrap();
            let read = match reader.read::<T>(filled) {
                Ok(_) => Ok(()),
                Err(failure) => Err(failure.error),
            };
            let found = message(&bytes, &catalog, &Options::default());
            crate::inspect::agree::assert_agree(
                &format!("{name}: {new:#x} at {at:#x}"),
                &found,
                &read,
            );
        }
    }
}

/// A context for a damaged value: neighbouring values, options, results and pointers.
type Around<T> = (
    u8,
    [T; 2],
    Option<T>,
    Option<T>,
    Result<T, (bool, T)>,
    Vec<T>,
);

/// Sweeps the first value as a part of other values, and all values behind a pointer.
fn each<T>(values: Vec<T>)
where
    T: Transportable + Clone + 'static,
    for<'x> T::InPlace<'x>: Transportable + Debug,
{
    let one = || values[0].clone();
    let around: Around<T> = (
        1u8,
        [one(), one()],
        Some(one()),
        None,
        Err((true, one())),
        values.clone(),
    );
    sweep(&Kit::<Around<T>>::new(), &around);
}

macro_rules! each {
    ($($values:expr),+ $(,)?) => {
        $(each($values.into_iter().collect());)+
    };
}

#[test]
fn numbers() {
    each!(
        [0u8, 255],
        [0u16, 1],
        [0u32, 1],
        [0u64, 1],
        [0u128, 1],
        [0usize, 1],
        [0i8, -1],
        [0i16, -1],
        [0i32, -1],
        [0i64, -1],
        [0i128, -1],
        [0isize, -1],
        [0.5f32, f32::NAN],
        [0.5f64, f64::NEG_INFINITY],
        [Wrapping(1i16)],
        [Saturating(NonZeroU16::MIN)],
    );
}

#[test]
fn numbers_that_are_not_zero() {
    each!(
        [NonZeroU8::MIN],
        [NonZeroU16::MIN],
        [NonZeroU32::MIN],
        [NonZeroU64::MIN],
        [NonZeroU128::MIN],
        [NonZeroUsize::MIN],
        [NonZeroI8::MIN],
        [NonZeroI16::MIN],
        [NonZeroI32::MIN],
        [NonZeroI64::MIN],
        [NonZeroI128::MIN],
        [NonZeroIsize::MIN],
    );
}

#[test]
fn values_with_few_bit_patterns() {
    each!(
        [true, false],
        ['a', 'ß', char::MAX],
        [Ordering::Less, Ordering::Greater],
        [Some(true), None],
        [Some(Some(true)), Some(None), None],
        [Some('x'), None],
        [Ok::<u8, bool>(1), Err(true)],
        [Ok::<(), bool>(()), Err(false)],
        [Bound::Included(3u16), Bound::Excluded(4), Bound::Unbounded],
        [Bound::Included('x'), Bound::Unbounded],
    );
}

#[test]
fn nothing_at_all() {
    each!([(), ()], [PhantomData::<u8>], [[(); 3]], [..], [None::<()>]);
}

#[test]
fn tuples_arrays_and_ranges() {
    each!(
        [(1u8,)],
        [(1u8, 2u32, true)],
        [(
            1u8, 2u16, 3u32, 4u64, 'a', true, 7i8, 8i16, 9i32, 0.5f32, 0.25f64, 12u8
        )],
        [[1u16, 2, 3]],
        [[[true; 2]; 2]],
        [1u32..2, 4..5],
        [1u8..],
        [..2u64],
        ['a'..='z'],
        [..=true],
    );
}

#[test]
fn times_and_addresses() {
    let v6 = Ipv6Addr::LOCALHOST;
    let second = Duration::from_secs(1);
    each!(
        [second, Duration::new(3, 999_999_999)],
        [
            SystemTime::UNIX_EPOCH + second,
            SystemTime::UNIX_EPOCH - second
        ],
        [Ipv4Addr::LOCALHOST],
        [v6],
        [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(v6)],
        [SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80)],
        [SocketAddrV6::new(v6, 80, 1, 2)],
        [
            SocketAddr::from(([127, 0, 0, 1], 80)),
            SocketAddr::from((v6, 80))
        ],
    );
}

#[test]
fn text_and_slices() {
    each!(
        ["grün".to_owned(), String::new()],
        [Box::<str>::from("→")],
        [Cow::Borrowed("c"), Cow::Owned("🦀".to_owned())],
        [vec![1u8, 2, 3], vec![]],
        [vec![1u64]],
        [vec![true, false]],
        [vec!['a', 'ß']],
        [vec![(); 3]],
        [vec!["a".to_owned(), "ä".to_owned()]],
        [vec![Some("a".to_owned()), None]],
        [vec![vec![vec![1u16]]]],
        [Box::<[u32]>::from([1, 2])],
        [Cow::<'static, [u16]>::Borrowed(&[1, 2])],
        [Box::new(7u128)],
        [Some(Box::new(Some(Box::new("deep".to_owned()))))],
    );
}

#[cfg(unix)]
#[test]
fn paths() {
    use std::ffi::{OsStr, OsString};
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    let (odd, shared): (_, Rc<Path>) = (OsStr::from_bytes(b"\xff/\x80"), Path::new("x").into());
    each!(
        [PathBuf::from(odd), PathBuf::new()],
        [OsString::from("a"), odd.to_owned()],
        [Cow::Borrowed(Path::new("c"))],
        [Box::<OsStr>::from(odd)],
        [vec![Some(shared.clone()), None, Some(shared)]],
    );
    sweep(
        &Kit::<(&Path, Option<&OsStr>)>::new(),
        &(Path::new("a"), Some(odd)),
    );
}

#[test]
fn borrowed_text_and_slices() {
    let (one, two) = (1u64, &2u64);
    sweep(&Kit::<&str>::new(), &"grün");
    sweep(&Kit::<&[&str]>::new(), &["a", "ä"].as_slice());
    sweep(&Kit::<(&u64, Option<&&u64>)>::new(), &(&one, Some(&two)));
    sweep(
        &Kit::<&[Option<&[bool]>]>::new(),
        &[Some([true].as_slice()), None].as_slice(),
    );
    let (row, none): (&[u16], &[&[u16]]) = (&[1, 2], &[]);
    sweep(
        &Kit::<&[&[&[u16]]]>::new(),
        &[&[row, &[]][..], none].as_slice(),
    );
    let (a, b) = (&mut [1u16, 2][..], &mut [true][..]);
    sweep(
        &Kit::<(&mut [u16], Option<&mut [bool]>)>::new(),
        &(a, Some(b)),
    );
}

#[test]
fn maps_and_sets() {
    let text = |n: u8| n.to_string();
    each!(
        [(0..4).map(|n| (text(n), n)).collect::<BTreeMap<_, _>>()],
        [(0..4).map(|n| (n, text(n))).collect::<HashMap<_, _>>()],
        [(0..4).map(text).collect::<HashSet<_>>()],
        [(0..4).map(char::from).collect::<BTreeSet<_>>()],
        [BTreeMap::from([((), ())])],
        [HashMap::from([(1u8, HashMap::from([(true, vec![2u32])]))])],
    );
}

#[derive(Transportable)]
struct Ring<'b> {
    name: &'b str,
    next: Cell<Option<&'b Ring<'b>>>,
    words: Cell<Option<&'b [u16]>>,
}

#[test]
fn shared_objects_and_circles() {
    let (one, text, list): (_, Arc<str>, Rc<[bool]>) =
        (Rc::new(5u64), "täxt".into(), [true, false].into());
    each!(
        [vec![one.clone(), one.clone()]],
        [(text.clone(), Some(text))],
        [vec![Some(list.clone()), None, Some(list)]],
        [vec![Rc::new("a".to_owned()), Rc::new("b".to_owned())]],
    );
    let word = 7u16;
    let pointer = Shared::new(&word);
    sweep(&Kit::<[Shared<'_, u16>; 2]>::new(), &[pointer, pointer]);

    let ring = |name| Ring {
        name,
        next: Cell::default(),
        words: Cell::new(Some(&[1, 2])),
    };
    let (a, b) = (ring("a"), ring("bä"));
    a.next.set(Some(&b));
    b.next.set(Some(&a));
    let kit = Kit::<Ring<'_>>::visiting(|ring| {
        let mut at = Some(ring);
        for _ in 0..4 {
            let Some(ring) = at else { break };
            assert!(format!("{:?} {:?}", ring.name, ring.words.get()).len() > 5);
            at = ring.next.get();
        }
    });
    sweep(&kit, &a);
}

#[transportable]
trait Figure: Debug {}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Square {
    side: char,
}

#[derive(Transportable, Debug)]
#[transportable(implements(Figure))]
struct Point;

#[derive(Transportable, Debug)]
#[transportable(implements(Figure), derive(Debug))]
struct Group {
    label: String,
    parts: Vec<Box<dyn Figure>>,
}

impl Figure for Square {}
impl Figure for Point {}
impl Figure for Group {}
impl Figure for GroupRef<'_> {}

#[test]
fn trait_objects() {
    let group = Group {
        label: "gröup".to_owned(),
        parts: vec![Box::new(Square { side: 'x' }), Box::new(Point)],
    };
    let square: Rc<dyn Figure> = Rc::new(Square { side: 'y' });
    type All = (Box<dyn Figure>, [Option<Rc<dyn Figure>>; 3]);
    let all: All = (Box::new(group), [Some(square.clone()), None, Some(square)]);
    sweep(&Kit::<All>::new(), &all);
    let point: &dyn Figure = &Point;
    sweep(&Kit::<Option<&dyn Figure>>::new(), &Some(point));
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
struct Percent(#[transportable(verify = at_most_100)] u8);

fn at_most_100(percent: &u8) -> Result<(), &'static str> {
    if *percent <= 100 {
        Ok(())
    } else {
        Err("is too much")
    }
}

struct Reversed;

impl Adapter<String> for Reversed {
    type Wire = String;
    type Error = &'static str;

    fn to_wire(value: &String) -> String {
        value.chars().rev().collect()
    }

    fn from_wire(wire: &&str) -> Result<String, &'static str> {
        Ok(wire.chars().rev().collect())
    }
}

struct AsBool;

impl Adapter<Ordering> for AsBool {
    type Wire = bool;
    type Error = &'static str;

    fn to_wire(order: &Ordering) -> bool {
        order.is_gt()
    }

    fn from_wire(wire: &bool) -> Result<Ordering, &'static str> {
        Ok(if *wire {
            Ordering::Greater
        } else {
            Ordering::Equal
        })
    }
}

#[derive(Transportable, Debug, Clone)]
#[transportable(derive(Debug))]
struct Record {
    share: Percent,
    #[transportable(with = Reversed, form = &'b str)]
    name: String,
    #[transportable(with = AsBool)]
    order: Ordering,
    #[transportable(skip)]
    cache: Vec<u8>,
    #[transportable(exclusive)]
    samples: Vec<i16>,
    side: Side,
    step: Step,
    shape: Shape,
    shapes: Vec<Shape>,
    inner: Option<Box<Record>>,
}

#[derive(Transportable, Debug, Clone, Copy)]
enum Side {
    Buy,
    Sell = 9,
}

#[derive(Transportable, Debug, Clone, Copy)]
#[repr(i16)]
enum Step {
    Back = -2,
    Some(bool) = 300,
}

#[derive(Transportable, Debug, Clone)]
#[transportable(derive(Debug))]
enum Shape {
    Empty,
    Circle { radius: f64 },
    Polygon(Vec<(f32, f32)>, Option<String>),
    Group(Vec<Shape>),
}

#[test]
fn derived_types() {
    let record = |inner| Record {
        share: Percent(30),
        name: "grün".to_owned(),
        order: Ordering::Greater,
        cache: vec![1],
        samples: vec![-1, 1],
        side: Side::Sell,
        step: Step::Some(true),
        shape: Shape::Circle { radius: 1.0 },
        shapes: vec![
            Shape::Polygon(vec![(1.0, 2.0)], Some("p".to_owned())),
            Shape::Group(vec![Shape::Empty]),
        ],
        inner,
    };
    sweep(&Kit::<Record>::new(), &record(Some(Box::new(record(None)))));
    each!(
        [Percent(3)],
        [Side::Buy, Side::Sell],
        [Step::Back, Step::Some(false)]
    );
    each!([Shape::Empty, Shape::Group(vec![])]);
}

#[cfg(feature = "arrayvec")]
#[test]
fn arrayvec() {
    use arrayvec::{ArrayString, ArrayVec};

    each!(
        [ArrayVec::<_, 3>::from_iter([true, false])],
        [ArrayString::<8>::from("ä").unwrap()]
    );
}

#[cfg(feature = "bstr")]
#[test]
fn bstr() {
    use bstr::{BStr, BString};

    each!(
        [BString::from(&b"\xff"[..]), BString::default()],
        [Cow::Borrowed(BStr::new("ab"))],
    );
}

#[cfg(feature = "chrono")]
#[test]
fn chrono() {
    use chrono::{DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, TimeDelta, Utc, Weekday};

    let (first, last) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
    each!(
        [NaiveDate::MIN, NaiveDate::MAX],
        [first.time(), last.time()],
        [NaiveDateTime::MIN, NaiveDateTime::MAX],
        [first, last],
        [first.fixed_offset(), last.fixed_offset()],
        [FixedOffset::east_opt(-86_399).unwrap()],
        [TimeDelta::MIN, TimeDelta::MAX],
        [Weekday::Mon, Weekday::Sun],
        [Month::January, Month::December],
    );
}

#[cfg(feature = "glam")]
#[test]
fn glam() {
    use glam::{Affine2, Affine3A, DQuat, IVec2, Mat3A, Mat4, Vec3, Vec3A};

    each!(
        [Vec3::ONE, Vec3::NAN],
        [Vec3A::X],
        [Mat3A::IDENTITY],
        [Mat4::IDENTITY],
        [Affine2::IDENTITY],
        [Affine3A::IDENTITY],
        [DQuat::IDENTITY],
        [IVec2::NEG_ONE],
    );
}

#[cfg(feature = "half")]
#[test]
fn half() {
    each!([half::f16::NAN, half::f16::MIN], [half::bf16::EPSILON]);
}

#[cfg(feature = "bytes")]
#[test]
fn bytes() {
    each!(
        [bytes::Bytes::from_static(b"ab")],
        [bytes::BytesMut::from(&b"cd"[..])]
    );
}

#[cfg(feature = "indexmap")]
#[test]
fn indexmap() {
    use indexmap::{IndexMap, IndexSet};

    each!(
        [IndexMap::<_, _>::from_iter([
            ("b".to_owned(), 1u8),
            ("a".to_owned(), 2)
        ])],
        [IndexSet::<_>::from_iter([3u16, 1, 2])],
    );
}

#[cfg(feature = "jiff")]
#[test]
fn jiff() {
    use jiff::civil::{Date, DateTime, Time};
    use jiff::{SignedDuration, Timestamp};

    each!(
        [Timestamp::MIN, Timestamp::UNIX_EPOCH],
        [SignedDuration::MIN, SignedDuration::ZERO],
        [Date::MIN, Date::MAX],
        [Time::MIN, Time::MAX],
        [DateTime::MIN, DateTime::MAX],
    );
}

#[cfg(feature = "ndarray")]
#[test]
fn ndarray() {
    use ndarray::{Array2, ArrayD, IxDyn};

    each!(
        [Array2::from_elem((2, 3), 7u16)],
        [ArrayD::from_elem(IxDyn(&[2, 1, 2]), true)],
    );
}

#[cfg(feature = "smallvec")]
#[test]
fn smallvec() {
    use smallvec::{SmallVec, smallvec};

    let (inline, spilled): (SmallVec<[char; 2]>, SmallVec<[char; 2]>) =
        (smallvec!['a'], smallvec!['a', 'b', 'c']);
    each!([inline, spilled]);
}

#[cfg(feature = "time")]
#[test]
fn time() {
    use time::{
        Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset,
        Weekday,
    };

    let (first, last) = (PrimitiveDateTime::MIN, PrimitiveDateTime::MAX);
    each!(
        [Date::MIN, Date::MAX],
        [Time::MIDNIGHT, Time::MAX],
        [first, last],
        [UtcDateTime::MIN, UtcDateTime::MAX],
        [
            first.assume_utc(),
            last.assume_utc(),
            OffsetDateTime::UNIX_EPOCH
        ],
        [UtcOffset::from_hms(-25, -59, -59).unwrap()],
        [Duration::MIN, Duration::MAX],
        [Weekday::Monday, Weekday::Sunday],
        [Month::January, Month::December],
    );
}

#[cfg(feature = "uuid")]
#[test]
fn uuid() {
    each!([uuid::Uuid::nil(), uuid::Uuid::max()]);
}
