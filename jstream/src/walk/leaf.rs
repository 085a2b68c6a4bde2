//! Decoding of plain values by the names of their types.

use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use super::bytes::{i64_at, u16_at, u32_at, u64_at, unsigned};
use super::calendar::{self, clock, signed_span, span};
use crate::schema::{Kind, TypeInfo};

/// A plain value.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Leaf {
    /// A value of a type without bytes.
    Unit,
    /// An unsigned integer.
    Unsigned(u128),
    /// A signed integer.
    Signed(i128),
    /// A 32-bit floating-point number.
    F32(f32),
    /// A 64-bit floating-point number.
    F64(f64),
    /// A boolean.
    Bool(bool),
    /// A character.
    Char(char),
    /// Another value, in Rust's formatting: an address, a time, an ordering.
    Other(String),
    /// The bytes of a value of an unknown type.
    Bytes(Vec<u8>),
}

/// Returns true if every bit pattern is a valid value of the leaf type of this name.
pub(super) fn is_plain(name: &str) -> bool {
    const CHECKED: [&str; 14] = [
        "bool",
        "char",
        "Ordering",
        "Duration",
        "SystemTime",
        "IpAddr",
        "SocketAddr",
        "SocketAddrV6",
        "Timestamp",
        "SignedDuration",
        "Date",
        "Time",
        "DateTime",
        "NonZero",
    ];
    !name.starts_with("NonZero") && !CHECKED.contains(&name) && !calendar::has(name)
}

/// Returns the maximum of a one-byte leaf type whose valid values begin at 0.
pub(super) fn most(name: &str) -> Option<u8> {
    (name == "bool").then_some(1)
}

/// Returns true if a type is a number that is not 0.
pub(super) fn is_non_zero(info: &TypeInfo) -> bool {
    let zeroes = [0; 16];
    let bytes = zeroes.get(..info.size).unwrap_or_default();
    info.kind == Kind::Leaf
        && info.name.starts_with("NonZero")
        && decode(&info.name, bytes).is_none()
}

/// Decodes a leaf, or returns `None` if the bytes are not a valid value.
///
/// If the number of bytes does not match the name of the type, the bytes are returned as they are.
pub(crate) fn decode(name: &str, bytes: &[u8]) -> Option<Leaf> {
    if bytes.is_empty() {
        return Some(Leaf::Unit);
    }
    if let Some(number) = number(name, bytes) {
        let zero = matches!(number, Leaf::Unsigned(0) | Leaf::Signed(0));
        return (!zero || !name.starts_with("NonZero")).then_some(number);
    }
    let other = |value: Option<String>| value.map(Leaf::Other);
    match (name, bytes.len()) {
        ("f32", 4) => Some(Leaf::F32(f32::from_bits(u32_at(bytes, 0)))),
        ("f16", 2) => Some(Leaf::F32(half(u16_at(bytes, 0)))),
        ("bf16", 2) => Some(Leaf::F32(f32::from_bits(u32::from(u16_at(bytes, 0)) << 16))),
        ("f64", 8) => Some(Leaf::F64(f64::from_bits(u64_at(bytes, 0)))),
        ("bool", 1) => match bytes {
            [0] => Some(Leaf::Bool(false)),
            [1] => Some(Leaf::Bool(true)),
            _ => None,
        },
        ("char", 4) => char::from_u32(u32_at(bytes, 0)).map(Leaf::Char),
        ("Ordering", 1) => other(match bytes {
            [0xff] => Some("Less".into()),
            [0] => Some("Equal".into()),
            [1] => Some("Greater".into()),
            _ => None,
        }),
        ("Uuid", 16) => other(Some(uuid(bytes))),
        (
            "Ipv4Addr" | "Ipv6Addr" | "IpAddr" | "SocketAddrV4" | "SocketAddrV6" | "SocketAddr",
            _,
        ) => address(name, bytes),
        (
            "Duration" | "SystemTime" | "Timestamp" | "SignedDuration" | "Date" | "Time"
            | "DateTime",
            _,
        ) => time(name, bytes),
        _ if calendar::has(name) => match calendar::text(name, bytes) {
            Some(text) => other(text),
            None => Some(Leaf::Bytes(bytes.to_vec())),
        },
        _ => Some(Leaf::Bytes(bytes.to_vec())),
    }
}

/// Converts a half-precision number.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (bits >> 10 & 0x1f, f32::from(bits & 0x3ff));
    let size = match exponent {
        0 => fraction * 2f32.powi(-24),
        31 if bits & 0x3ff == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(i32::from(exponent).saturating_sub(25)),
    };
    if bits >> 15 == 1 { -size } else { size }
}

/// Decodes an integer, if the name is that of an integer type.
fn number(name: &str, bytes: &[u8]) -> Option<Leaf> {
    let name = match name.strip_prefix("NonZero") {
        // For example `NonZeroU8`.
        Some(rest) => rest.to_ascii_lowercase(),
        None => name.to_owned(),
    };
    let size = match &*name {
        "u8" | "i8" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" => 4,
        "u64" | "i64" | "usize" | "isize" => 8,
        "u128" | "i128" => 16,
        _ => return None,
    };
    if bytes.len() != size {
        return None;
    }
    let wide = unsigned(bytes);
    if name.starts_with('u') {
        return Some(Leaf::Unsigned(wide));
    }
    let unused = 128u32.saturating_sub(u32::try_from(size).ok()?.saturating_mul(8));
    let shifted = wide.checked_shl(unused)?;
    Some(Leaf::Signed((shifted as i128) >> unused))
}

fn uuid(bytes: &[u8]) -> String {
    let mut text = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

fn v4(bytes: &[u8]) -> Option<Ipv4Addr> {
    let rest = bytes.get(4..16).unwrap_or_default();
    let octets: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
    rest.iter().all(|byte| *byte == 0).then(|| octets.into())
}

fn v6(bytes: &[u8]) -> Option<Ipv6Addr> {
    let octets: [u8; 16] = bytes.get(..16)?.try_into().ok()?;
    Some(octets.into())
}

/// Decodes an address, in the layout of `impls::net`.
fn address(name: &str, bytes: &[u8]) -> Option<Leaf> {
    let raw = Some(Leaf::Bytes(bytes.to_vec()));
    let enough = match name {
        "Ipv4Addr" => 4,
        "Ipv6Addr" => 16,
        "IpAddr" => 17,
        "SocketAddrV4" => 6,
        "SocketAddrV6" => 28,
        _ => 32,
    };
    if bytes.len() < enough {
        return raw;
    }
    let port = || u16::try_from(u32_at(bytes, 24)).ok();
    let socket_v6 = || {
        Some(SocketAddrV6::new(
            v6(bytes)?,
            port()?,
            u32_at(bytes, 16),
            u32_at(bytes, 20),
        ))
    };
    let text = match name {
        "Ipv4Addr" => v4(bytes.get(..4)?)?.to_string(),
        "Ipv6Addr" => v6(bytes)?.to_string(),
        "IpAddr" => match bytes.get(16)? {
            4 => v4(bytes.get(..16)?)?.to_string(),
            6 => v6(bytes)?.to_string(),
            _ => return None,
        },
        "SocketAddrV4" => SocketAddrV4::new(v4(bytes.get(..4)?)?, u16_at(bytes, 4)).to_string(),
        "SocketAddrV6" => socket_v6()?.to_string(),
        _ => match u32_at(bytes, 28) {
            4 if u64_at(bytes, 16) == 0 => {
                SocketAddrV4::new(v4(bytes.get(..16)?)?, port()?).to_string()
            }
            6 => socket_v6()?.to_string(),
            _ => return None,
        },
    };
    Some(Leaf::Other(text))
}

/// Decodes a time, in the layout of `impls::time` and `impls::jiff`.
fn time(name: &str, bytes: &[u8]) -> Option<Leaf> {
    let enough = match name {
        "Date" => 4,
        "Time" => 8,
        "DateTime" => 12,
        _ => 16,
    };
    if bytes.len() < enough {
        return Some(Leaf::Bytes(bytes.to_vec()));
    }
    let (seconds, nanoseconds) = (u64_at(bytes, 0), u64_at(bytes, 8));
    let text = match name {
        "Duration" => span("", seconds, nanoseconds)?,
        "SystemTime" => {
            let before = nanoseconds >> 63 == 1;
            let nanoseconds = nanoseconds & (u64::MAX >> 1);
            let is_zero = seconds == 0 && nanoseconds == 0;
            // The range of a 64-bit clock.
            i64::try_from(seconds)
                .ok()
                .filter(|_| !before || !is_zero)?;
            let span = span(if before { "-" } else { "" }, seconds, nanoseconds)?;
            format!("{span} since 1970")
        }
        "Timestamp" | "SignedDuration" => {
            let (seconds, nanoseconds) = (i64_at(bytes, 0), i64_at(bytes, 8));
            let span = signed_span(seconds, nanoseconds)?;
            if name == "SignedDuration" {
                span
            } else {
                // The range of times that `jiff` supports.
                let known = -377_705_023_201..=253_402_207_200;
                let known =
                    known.contains(&seconds) && (seconds, nanoseconds) >= (-377_705_023_201, 0);
                Some(format!("{span} since 1970")).filter(|_| known)?
            }
        }
        "Date" => date(bytes)?,
        "Time" => clock(bytes)?,
        _ => format!("{}T{}", date(bytes.get(8..)?)?, clock(bytes)?),
    };
    Some(Leaf::Other(text))
}

fn date(bytes: &[u8]) -> Option<String> {
    let year = u16_at(bytes, 0) as i16;
    let [month, day] = bytes.get(2..4)? else {
        return None;
    };
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let days = match month {
        2 => 28u8.saturating_add(leap.into()),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let known = (-9999..=9999).contains(&year) && (1..=days).contains(day);
    known.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit => f.write_str("()"),
            Self::Unsigned(n) => n.fmt(f),
            Self::Signed(n) => n.fmt(f),
            Self::F32(n) => write!(f, "{n:?}"),
            Self::F64(n) => write!(f, "{n:?}"),
            Self::Bool(b) => b.fmt(f),
            Self::Char(c) => write!(f, "{c:?}"),
            Self::Other(text) => f.write_str(text),
            Self::Bytes(bytes) => {
                f.write_str("bytes")?;
                for byte in bytes.iter().take(32) {
                    write!(f, " {byte:02x}")?;
                }
                if bytes.len() > 32 {
                    f.write_str(" …")?;
                }
                Ok(())
            }
        }
    }
}
