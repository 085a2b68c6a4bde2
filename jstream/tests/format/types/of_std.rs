//! Types with fields of `std` types.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::ops::{Bound, Range, RangeFrom, RangeInclusive, RangeTo, RangeToInclusive};
use std::time::{Duration, SystemTime};

use jstream::Transportable;

#[derive(Transportable)]
pub struct Maps {
    pub sorted: BTreeMap<String, u16>,
    pub set: BTreeSet<i32>,
    pub hashed: HashMap<String, Vec<u8>>,
    pub few: HashSet<u16>,
    pub empty: HashMap<u32, u32>,
    pub words: HashSet<String>,
    pub numbers: HashMap<u64, u8>,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Ranges<'b> {
    pub range: Range<u32>,
    pub texts: Range<&'b str>,
    pub from: RangeFrom<u8>,
    pub to: RangeTo<i16>,
    pub up_to: RangeToInclusive<u8>,
    pub inclusive: RangeInclusive<u32>,
    pub letters: RangeInclusive<char>,
    pub many: &'b [RangeInclusive<u8>],
    pub bounds: [Bound<u16>; 3],
    pub named: [Bound<&'b str>; 3],
    pub unit: Bound<()>,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Times {
    pub span: Duration,
    pub longest: Duration,
    pub spans: [Option<Duration>; 2],
    pub since: SystemTime,
    pub before: SystemTime,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Addresses<'b> {
    pub v4: Ipv4Addr,
    pub v6: Ipv6Addr,
    pub ips: [IpAddr; 2],
    pub socket_v4: SocketAddrV4,
    pub socket_v6: SocketAddrV6,
    pub sockets: &'b [SocketAddr],
}

#[derive(Transportable)]
#[repr(C)]
pub struct Tuples<'b> {
    pub one: (u8,),
    pub mixed: (u8, &'b str, u32),
    pub many: &'b [(u16, bool)],
}
