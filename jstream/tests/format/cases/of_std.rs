//! Vectors with types of `std` whose layout the language does not define.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ops::Bound;
use std::time::{Duration, SystemTime};

use super::{Case, Layout, case, leak};
use crate::types::*;

const MAPS: &str = r#"{"sorted": {"keys": {"elements": ["a", "b"]}, "values": [1, 2]},
    "set": {"elements": [-1, 2, 3]},
    "hashed": {"keys": {"elements": ["x", "y"], "starts": []}, "values": [[1], [2, 3]]},
    "few": {"elements": [600, 700, 500], "starts": []},
    "empty": {"keys": {"elements": [], "starts": []}, "values": []},
    "words": {"elements": ["seven", "four", "five", "eight", "three", "ten", "six", "one", "nine",
    "two"], "starts": [0, 0, 1, 2, 3, 3, 3, 8, 9, 9, 10]},
    "numbers": {"keys": {"elements": [81, 36, 49, 4, 0, 16, 25, 9, 121, 1, 64, 100],
    "starts": [0, 3, 4, 4, 5, 5, 5, 6, 8, 8, 9, 11, 12]},
    "values": [9, 6, 7, 2, 0, 4, 5, 3, 11, 1, 8, 10]}}"#;

pub fn of_std() -> Vec<Case> {
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let maps = Maps {
        sorted: BTreeMap::from([("b".to_owned(), 2), ("a".to_owned(), 1)]),
        set: BTreeSet::from([3, -1, 2]),
        hashed: HashMap::from([("x".to_owned(), vec![1]), ("y".to_owned(), vec![2, 3])]),
        few: HashSet::from([500, 600, 700]),
        empty: HashMap::new(),
        words: words.map(str::to_owned).into(),
        numbers: (0..12).map(|n| (n * n, u8::try_from(n).unwrap())).collect(),
    };
    let ranges = Ranges {
        range: 1..5,
        texts: "a".."b",
        from: 3..,
        to: ..-4,
        up_to: ..=9,
        inclusive: 2..=7,
        letters: 'a'..='z',
        many: leak([1..=2, 3..=4]),
        bounds: [Bound::Included(1), Bound::Excluded(2), Bound::Unbounded],
        named: [
            Bound::Unbounded,
            Bound::Included("in"),
            Bound::Excluded("out"),
        ],
        unit: Bound::Excluded(()),
    };
    let epoch = SystemTime::UNIX_EPOCH;
    let times = Times {
        span: Duration::new(5, 6),
        longest: Duration::MAX,
        spans: [Some(Duration::new(7, 8)), None],
        since: epoch + Duration::new(1_700_000_000, 1),
        before: epoch - Duration::new(2, 500),
    };
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let socket_v6 = SocketAddrV6::new(v6, 443, 5, 6);
    let addresses = Addresses {
        v4: Ipv4Addr::new(192, 0, 2, 1),
        v6,
        ips: [
            IpAddr::V4(Ipv4Addr::LOCALHOST),
            IpAddr::V6(Ipv6Addr::LOCALHOST),
        ],
        socket_v4: SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 2), 80),
        socket_v6,
        sockets: leak([
            SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 3), 8080)),
            SocketAddr::V6(socket_v6),
        ]),
    };
    vec![
        case("maps", Layout::Fixed, &maps, MAPS),
        case(
            "ranges",
            Layout::Chosen,
            &ranges,
            r#"{"range": {"start": 1, "end": 5}, "texts": {"start": "a", "end": "b"},
            "from": {"start": 3}, "to": {"end": -4}, "up_to": {"end": 9},
            "inclusive": {"start": 2, "end": 7}, "letters": {"start": "a", "end": "z"},
            "many": [{"start": 1, "end": 2}, {"start": 3, "end": 4}],
            "bounds": [{"Included": {"0": 1}}, {"Excluded": {"0": 2}}, "Unbounded"],
            "named": ["Unbounded", {"Included": {"0": "in"}}, {"Excluded": {"0": "out"}}],
            "unit": {"Excluded": {"0": null}}}"#,
        ),
        case(
            "times",
            Layout::Chosen,
            &times,
            r#"{"span": [5, 6], "longest": [18446744073709551615, 999999999],
            "spans": [{"Some": [7, 8]}, null], "since": {"since": [1700000000, 1]},
            "before": {"before": [2, 500]}}"#,
        ),
        case(
            "addresses",
            Layout::Chosen,
            &addresses,
            r#"{"v4": "192.0.2.1", "v6": "2001:db8::1", "ips": ["127.0.0.1", "::1"],
            "socket_v4": ["192.0.2.2", 80], "socket_v6": ["2001:db8::1", 443, 5, 6],
            "sockets": [["192.0.2.3", 8080], ["2001:db8::1", 443, 5, 6]]}"#,
        ),
    ]
}
