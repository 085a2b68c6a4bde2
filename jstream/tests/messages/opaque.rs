//! Types of `std` that are sent by value, whatever their layout.

use crate::common;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{Debug, Write as _};
use std::mem::offset_of;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroU8, NonZeroU32, Saturating, Wrapping};
use std::ops::{Bound, Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::time::{Duration, SystemTime};

use common::by_value::{said, travels};
use common::message;
use jstream::{Covariant, EmptyBuffer, Reader, Transportable};

fn v6() -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 1, 2, 3, 4, 5, 0xfffe)
}

fn durations() -> Vec<Duration> {
    vec![
        Duration::ZERO,
        Duration::MAX,
        Duration::new(1, 999_999_999),
        Duration::from_nanos(1),
    ]
}

fn times() -> Vec<SystemTime> {
    let epoch = SystemTime::UNIX_EPOCH;
    let now = Duration::new(1_750_000_000, 123_456_789);
    let mut times = vec![epoch, SystemTime::now(), epoch + now, epoch - now];
    times.push(epoch - Duration::from_nanos(1));
    times.push(epoch - Duration::from_secs(1));
    times.extend(epoch.checked_add(Duration::new(i64::MAX as u64, 999_999_999)));
    times.extend(epoch.checked_sub(Duration::new(1 << 63, 0)));
    times
}

fn sockets() -> Vec<SocketAddr> {
    vec![
        SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 8080)),
        SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)),
        SocketAddr::V6(SocketAddrV6::new(v6(), u16::MAX, 0x000f_edcb, u32::MAX)),
        SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::UNSPECIFIED, 0, 0, 0)),
    ]
}

#[test]
fn spans_and_points_of_time() {
    travels(&durations());
    travels(&times());
}

#[test]
fn addresses() {
    let v4 = [
        Ipv4Addr::LOCALHOST,
        Ipv4Addr::BROADCAST,
        Ipv4Addr::UNSPECIFIED,
    ];
    travels(&v4);
    travels(&[v6(), Ipv6Addr::LOCALHOST, v4[0].to_ipv6_mapped()]);
    travels(&[IpAddr::V4(v4[1]), IpAddr::V6(v6()), IpAddr::V4(v4[2])]);
    travels(&[
        SocketAddrV4::new(v4[0], 1),
        SocketAddrV4::new(v4[2], u16::MAX),
    ]);
    travels(&[
        SocketAddrV6::new(v6(), 443, 7, 3),
        SocketAddrV6::new(v6(), 1, 0, u32::MAX),
    ]);
    travels(&sockets());
}

#[test]
fn orders_and_wrappers() {
    travels(&[Ordering::Less, Ordering::Equal, Ordering::Greater]);
    travels(&[Wrapping(u64::MAX), Wrapping(0)]);
    travels(&[Saturating(i8::MIN), Saturating(5)]);
    travels(&[Wrapping(NonZeroU8::MAX)]);
}

#[test]
fn ranges() {
    travels(&[Range { start: 3, end: 1 }, 0..u64::MAX]);
    travels(&['a'..'y', '\0'..char::MAX]);
    travels(&[RangeFrom { start: true }]);
    travels(&[RangeTo {
        end: Duration::from_millis(3),
    }]);
    travels(&[..=5u128, ..=u128::MAX]);
    travels(&[RangeFull]);
    travels(&[1..=5u8, RangeInclusive::new(5, 1), 0..=u8::MAX]);
    travels(&['a'..='z']);
    travels(&[Duration::ZERO..=Duration::MAX]);
    travels(&[false..=true]);
    travels(&[()..=()]);
}

#[test]
fn bounds() {
    fn of<T: Copy>(value: T) -> [Bound<T>; 3] {
        [
            Bound::Unbounded,
            Bound::Included(value),
            Bound::Excluded(value),
        ]
    }
    travels(&of(7u32));
    travels(&of('x'));
    travels(&of(true));
    travels(&of(NonZeroU32::MIN));
    travels(&of(Duration::new(1, 2)));
    travels(&of(()));
    travels(&of(sockets()[2]));
}

#[test]
fn an_exhausted_range_arrives_as_its_bounds() {
    let mut range = 3..=3u8;
    assert_eq!(range.next(), Some(3));
    assert!(range.is_empty());
    let received = Reader::default()
        .read::<RangeInclusive<u8>>(message(&range))
        .unwrap();
    assert_eq!(received.get(), &(3..=3));
    assert_eq!(message(&range).as_bytes(), message(&(3..=3u8)).as_bytes());
}

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, Clone, PartialEq))]
struct Owned {
    name: String,
    took: Duration,
    at: Option<SystemTime>,
    peers: Vec<SocketAddr>,
    span: Range<String>,
    upper: Bound<Box<str>>,
    lower: Bound<Vec<u32>>,
    wrapped: Wrapping<u16>,
    order: Ordering,
    all: RangeFull,
    from: Option<RangeFrom<Option<String>>>,
    to: RangeInclusive<IpAddr>,
}

fn owned(at: Option<SystemTime>, lower: Bound<Vec<u32>>) -> Owned {
    Owned {
        name: "name".to_owned(),
        took: Duration::from_millis(1500),
        at,
        peers: sockets(),
        span: "a".to_owned().."bc".to_owned(),
        upper: Bound::Excluded("zz".into()),
        lower,
        wrapped: Wrapping(9),
        order: Ordering::Greater,
        all: ..,
        from: Some(Some("x".to_owned())..),
        to: IpAddr::V6(v6())..=IpAddr::V6(Ipv6Addr::LOCALHOST),
    }
}

#[test]
fn parts_of_a_type_that_owns() {
    let at = Some(SystemTime::UNIX_EPOCH - Duration::from_micros(3));
    for lower in [
        Bound::Unbounded,
        Bound::Included(vec![1, 2]),
        Bound::Excluded(vec![]),
    ] {
        let value = owned(at, lower.clone());
        let received = Reader::default().read::<Owned>(message(&value)).unwrap();
        let form = received.get();
        assert_eq!(form.name, "name");
        assert_eq!(form.took, value.took);
        assert_eq!(form.at, at);
        assert_eq!(form.peers, value.peers);
        assert_eq!(form.span, "a".."bc");
        assert_eq!(form.upper, Bound::Excluded("zz"));
        assert_eq!(form.lower, lower.as_ref().map(Vec::as_slice));
        assert_eq!(form.wrapped, Wrapping(9));
        assert_eq!(form.order, Ordering::Greater);
        assert_eq!(form.from, Some(Some("x")..));
        assert_eq!(form.to, value.to);
        assert_eq!(message(form).as_bytes(), message(&value).as_bytes());
    }
}

#[test]
fn cows_arrive_as_references() {
    type Cows = (
        Cow<'static, str>,
        Option<Cow<'static, [u16]>>,
        Vec<Cow<'static, str>>,
        Cow<'static, Duration>,
    );
    fn covariant<T: Covariant>() {}
    covariant::<Cows>();
    let span = Duration::from_secs(4);
    let owned: Cows = (
        Cow::Owned("text".to_owned()),
        Some(Cow::Owned(vec![1, 2, 3])),
        vec![Cow::Borrowed("b"), Cow::Owned("o".to_owned())],
        Cow::Owned(span),
    );
    let borrowed: Cows = (
        Cow::Borrowed("text"),
        Some(Cow::Borrowed(&[1, 2, 3])),
        vec![Cow::Owned("b".to_owned()), Cow::Borrowed("o")],
        Cow::Owned(span),
    );
    let whole = message(&owned);
    assert_eq!(whole.as_bytes(), message(&borrowed).as_bytes());
    let received = Reader::default().read::<Cows>(whole).unwrap();
    let expected = ("text", Some([1u16, 2, 3].as_slice()), ["b", "o"].as_slice());
    let (text, numbers, texts, at) = *received.get();
    assert_eq!((text, numbers, texts), expected);
    assert_eq!(at, &span);
}

#[test]
fn what_is_no_value_is_refused() {
    let span = Duration::new(5, 6);
    for nanoseconds in [
        1_000_000_000,
        u64::from(u32::MAX),
        1 << 32,
        1 << 63,
        u64::MAX,
    ] {
        said(&span, "Duration", |slot| {
            slot[8..16].copy_from_slice(&nanoseconds.to_le_bytes());
        });
    }
    let time = SystemTime::UNIX_EPOCH;
    for [seconds, nanoseconds] in [
        [0, 1_000_000_000],
        [0, 1 << 63],
        [1, 1 << 63 | 1_000_000_000],
        [u64::MAX, 0],
        [u64::MAX, 1 << 63],
    ] {
        said(&time, "SystemTime", |slot| {
            slot[..8].copy_from_slice(&u64::to_le_bytes(seconds));
            slot[8..16].copy_from_slice(&u64::to_le_bytes(nanoseconds));
        });
    }
    let v4 = IpAddr::V4(Ipv4Addr::LOCALHOST);
    for version in [0, 1, 3, 5, 7, 255] {
        said(&v4, "IpAddr", |slot| slot[16] = version);
        for socket in sockets() {
            said(&socket, "SocketAddr", |slot| slot[28] = version);
        }
    }
    said(&v4, "IpAddr", |slot| slot[4] = 1);
    said(&v4, "IpAddr", |slot| slot[15] = 1);
    let socket = sockets()[0];
    for at in [4, 15, 16, 20, 26, 27, 29, 31] {
        said(&socket, "SocketAddr", |slot| slot[at] = 1);
    }
    said(&sockets()[2], "SocketAddr", |slot| slot[26] = 1);
    let v6 = SocketAddrV6::new(v6(), 1, 2, 3);
    said(&v6, "SocketAddrV6", |slot| slot[26] = 1);
    for order in [2, 0x7f, 0x80, 0xfe] {
        said(&Ordering::Less, "Ordering", |slot| slot[0] = order);
    }
    said(&Bound::Included(1u32), "Bound<u32>", |slot| slot[4] = 3);
    said(&Bound::Excluded(span), "Bound<Duration>", |slot| {
        slot[11] = 0x40
    });
    said(&Bound::Included('x'), "Bound<char>", |slot| slot[3] = 1);
    said(&Bound::<u8>::Unbounded, "Bound<u8>", |slot| slot[1] = 255);
    said(&(false..=true), "RangeInclusive<bool>", |slot| slot[1] = 2);
    let text = said(&('a'..'y'), "char", |slot| {
        let end = offset_of!(Range<char>, end);
        slot[end..end + 4].copy_from_slice(&0xdfff_u32.to_le_bytes());
    });
    assert!(text.contains(".value.end: 0xdfff is not a char"), "{text}");
    let text = said(&Wrapping(true), "bool", |slot| slot[0] = 2);
    assert!(text.contains(".value.0: byte 2 is not a bool"), "{text}");
}

/// Replaces the element at `at` in the message of `values` by `bits` and returns the reader's
/// error.
fn element_said<T, const SIZE: usize>(values: &Vec<T>, at: usize, bits: [u8; SIZE]) -> String
where
    T: Transportable + Debug + 'static,
    for<'b> T::InPlace<'b>: Debug,
{
    let mut bytes = message(values).as_bytes().to_vec();
    let place = bytes.len() - (values.len() - at) * SIZE;
    bytes[place..place + SIZE].copy_from_slice(&bits);
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
    let failure = Reader::default().read::<Vec<T>>(filled).unwrap_err();
    failure.error.to_string()
}

#[test]
fn each_element_is_checked() {
    for len in [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 33, 64, 100] {
        let letters = vec![char::MAX; len];
        let numbers = vec![NonZeroU32::MIN; len];
        let edges = [0, 0xd7ff, 0xe000, 0x10_ffff];
        for (at, edge) in (0..len).flat_map(|at| edges.map(|edge| (at, edge))) {
            let mut letters = letters.clone();
            letters[at] = char::from_u32(edge).unwrap();
            let received = Reader::default()
                .read::<Vec<char>>(message(&letters))
                .unwrap();
            assert_eq!(received.get(), &letters.as_slice());
        }
        for at in 0..len {
            for bits in [0xd800u32, 0xdbff, 0xdfff, 0x11_0000, 1 << 31, u32::MAX] {
                let text = element_said(&letters, at, bits.to_le_bytes());
                let expected = format!("[{at}]: {bits:#x} is not a char");
                assert!(text.contains(&expected), "{text}");
            }
            let text = element_said(&numbers, at, [0; 4]);
            let expected = format!("[{at}]: 0x0 is not a NonZero<u32>");
            assert!(text.contains(&expected), "{text}");
        }
    }
}

/// One value of each type.
#[derive(Transportable, Debug, Clone, PartialEq)]
struct Leaves {
    duration: Duration,
    time: SystemTime,
    v4: Ipv4Addr,
    v6: Ipv6Addr,
    ip: [IpAddr; 2],
    socket_v4: SocketAddrV4,
    socket_v6: SocketAddrV6,
    order: Ordering,
    wrapping: Wrapping<i16>,
    saturating: Saturating<NonZeroU8>,
    range: Range<char>,
    from: RangeFrom<Ordering>,
    to: RangeTo<u8>,
    to_inclusive: RangeToInclusive<bool>,
    full: RangeFull,
    inclusive: RangeInclusive<char>,
    bounds: (Bound<u16>, Bound<u64>),
}

#[derive(Transportable, Debug, Clone, PartialEq)]
struct All<'b> {
    one: Leaves,
    slice: &'b [Leaves],
    socket: Option<SocketAddr>,
    sockets: &'b [SocketAddr],
    durations: &'b [Option<Duration>],
    order: Option<Ordering>,
    tight: [Bound<char>; 3],
    text: Bound<&'b str>,
    spans: Range<&'b [SystemTime]>,
    letters: &'b [char],
    result: Result<IpAddr, Duration>,
    chosen: Bound<&'b All<'b>>,
}

fn leaves() -> Leaves {
    Leaves {
        duration: Duration::new(3, 4),
        time: SystemTime::UNIX_EPOCH + Duration::new(5, 6),
        v4: Ipv4Addr::LOCALHOST,
        v6: v6(),
        ip: [IpAddr::V4(Ipv4Addr::BROADCAST), IpAddr::V6(v6())],
        socket_v4: SocketAddrV4::new(Ipv4Addr::LOCALHOST, 80),
        socket_v6: SocketAddrV6::new(v6(), 443, 1, 2),
        order: Ordering::Less,
        wrapping: Wrapping(-1),
        saturating: Saturating(NonZeroU8::MIN),
        range: 'a'..'y',
        from: Ordering::Equal..,
        to: ..5,
        to_inclusive: ..=true,
        full: ..,
        inclusive: '0'..='9',
        bounds: (Bound::Included(3), Bound::Unbounded),
    }
}

#[test]
#[cfg_attr(
    address_sanitizer,
    ignore = "takes minutes; the fuzz targets damage messages too"
)]
fn one_damaged_byte_gives_an_error_or_valid_objects() {
    let times = times();
    let sockets = sockets();
    let one = [leaves()];
    let inner = All {
        one: leaves(),
        slice: &[],
        socket: None,
        sockets: &[],
        durations: &[],
        order: None,
        tight: [Bound::Unbounded; 3],
        text: Bound::Unbounded,
        spans: &[]..&[],
        letters: &[],
        result: Err(Duration::ZERO),
        chosen: Bound::Unbounded,
    };
    let value = All {
        slice: &one,
        socket: Some(sockets[0]),
        sockets: &sockets,
        durations: &[None, Some(Duration::MAX)],
        order: Some(Ordering::Greater),
        tight: [Bound::Included('a'), Bound::Unbounded, Bound::Excluded('b')],
        text: Bound::Included("text"),
        spans: &times[..2]..&times[2..],
        letters: &['a', 'b', 'c'],
        result: Ok(IpAddr::V6(v6())),
        chosen: Bound::Excluded(&inner),
        ..inner.clone()
    };
    let whole = message(&value).as_bytes().to_vec();
    let mut bytes = whole.clone();
    let mut accepted = 0;
    let mut shown = String::new();
    let flips = [1, 2, 4, 8, 16, 32, 64, 128, 255, 0x5a, 0x81];
    // Adjacent bytes get different flips; with more effort, each byte gets all of them.
    let count = flips.len().min(3 * testing::effort() as usize);
    for at in 0..bytes.len() {
        for flip in flips.into_iter().cycle().skip(at % flips.len()).take(count) {
            bytes[at] ^= flip;
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            match Reader::default().read::<All<'static>>(filled) {
                Ok(received) => {
                    accepted += 1;
                    shown.clear();
                    write!(shown, "{:?}", received.get()).unwrap();
                    // An accepted value can be sent again and arrives unchanged.
                    let again = message(received.get());
                    let again = Reader::default().read::<All<'static>>(again).unwrap();
                    assert_eq!(again.get(), received.get());
                }
                Err(failure) => assert!(!failure.error.to_string().is_empty()),
            }
            bytes[at] = whole[at];
        }
    }
    assert!(accepted > 0);
    let received = Reader::default()
        .read::<All<'static>>(message(&value))
        .unwrap();
    assert_eq!(received.get(), &value);
}
