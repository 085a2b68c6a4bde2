"""Leaves: the part "Leaves" of FORMAT.md."""

import ipaddress
import math
import struct
import uuid

from schema import INTEGERS, NON_ZERO

BEFORE = 1 << 63
# The times that a Timestamp may be.
FIRST, LAST = (-377705023201, 0), (253402207200, 999_999_999)

INVALID = object()


def leaf(name, raw):
    """The value of a leaf; INVALID if the bytes are none."""
    n = int.from_bytes(raw, "little")
    if name in INTEGERS:
        return int.from_bytes(raw, "little", signed=name[0] == "i")
    if name in NON_ZERO:
        return int.from_bytes(raw, "little", signed="I" in name) if n else INVALID
    if name in ("f32", "f64"):
        number = struct.unpack("<f" if name == "f32" else "<d", raw)[0]
        return number if math.isfinite(number) else str(number)
    if name == "bool":
        return bool(n) if n < 2 else INVALID
    if name == "char":
        return chr(n) if n < 0xD800 or 0xE000 <= n < 0x110000 else INVALID
    if name in ("()", "PhantomData", "RangeFull"):
        return None
    if name == "Ordering":
        return {255: "Less", 0: "Equal", 1: "Greater"}.get(n, INVALID)
    if name in ("Duration", "SystemTime"):
        return span(name, *struct.unpack_from("<QQ", raw))
    if name in ("Ipv4Addr", "Ipv6Addr"):
        return str(ipaddress.ip_address(raw))
    if name == "IpAddr":
        return ip(raw[:16], raw[16])
    if name == "SocketAddrV4":
        return [str(ipaddress.ip_address(raw[:4])), int.from_bytes(raw[4:6], "little")]
    if name in ("SocketAddrV6", "SocketAddr"):
        flow, scope, port = struct.unpack_from("<III", raw, 16)
        version = 6 if name == "SocketAddrV6" else int.from_bytes(raw[28:32], "little")
        address = ip(raw[:16], version)
        bare = (flow, scope) == (0, 0)
        if address is INVALID or port > 0xFFFF or (version == 4 and not bare):
            return INVALID
        return [address, port] if version == 4 else [address, port, flow, scope]
    if name == "Uuid":
        return str(uuid.UUID(bytes=raw))
    if name in ("Timestamp", "SignedDuration"):
        return signed_span(name, *struct.unpack_from("<qq", raw))
    if name == "Date":
        return date(*struct.unpack_from("<hbb", raw))
    if name == "Time":
        return time(*struct.unpack_from("<ibbbB", raw))
    if name == "DateTime":
        day, clock = date(*struct.unpack_from("<hbb", raw, 8)), time(*struct.unpack_from("<ibbbB", raw))
        return INVALID if INVALID in (day, clock) else day + clock
    if name in ("f16", "bf16"):
        number = struct.unpack("<e", raw)[0] if name == "f16" else struct.unpack("<f", b"\0\0" + raw)[0]
        return number if math.isfinite(number) else str(number)
    if name.startswith("chrono::"):
        return of_chrono(name[len("chrono::"):], raw)
    if name.startswith("time::"):
        return of_time(name[len("time::"):], raw)
    # A leaf that the page does not name: its bytes.
    return raw.hex()


def ip(octets, version):
    if version == 4 and not any(octets[4:]):
        return str(ipaddress.IPv4Address(octets[:4]))
    return str(ipaddress.IPv6Address(octets)) if version == 6 else INVALID


def span(name, seconds, nanoseconds):
    """A span of time, or a time and on which side of the epoch it is."""
    before = name == "SystemTime" and nanoseconds & BEFORE != 0
    nanoseconds ^= BEFORE if before else 0
    if nanoseconds >= 1_000_000_000:
        return INVALID
    if name == "Duration":
        return [seconds, nanoseconds]
    if before:
        wrong = (seconds, nanoseconds) == (0, 0) or seconds + (nanoseconds > 0) > BEFORE
    else:
        wrong = seconds >= BEFORE
    return INVALID if wrong else {"before" if before else "since": [seconds, nanoseconds]}


def signed_span(name, seconds, nanoseconds):
    one_sign = seconds == 0 or nanoseconds == 0 or (seconds < 0) == (nanoseconds < 0)
    if not one_sign or abs(nanoseconds) >= 1_000_000_000:
        return INVALID
    if name == "Timestamp" and not FIRST <= (seconds, nanoseconds) <= LAST:
        return INVALID
    return [seconds, nanoseconds]


def date(year, month, day):
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    valid = -9999 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= days[month - 1]
    return [year, month, day] if valid else INVALID


def time(nanosecond, hour, minute, second, unused):
    parts = ((hour, 24), (minute, 60), (second, 60), (nanosecond, 1_000_000_000), (unused, 1))
    valid = all(0 <= part < end for part, end in parts)
    return [hour, minute, second, nanosecond] if valid else INVALID


# The days that a date of chrono may be, and the Julian days of a date of time.
CHRONO_DAYS = range(-95746129, 95745400)
TIME_DAYS = range(-1930999, 5373485)
# The most milliseconds of a TimeDelta.
MOST = (1 << 63) - 1


def of_chrono(name, raw):
    """A leaf of chrono."""
    if name == "Weekday":
        return raw[0] if raw[0] < 7 else INVALID
    if name == "Month":
        return raw[0] if 1 <= raw[0] <= 12 else INVALID
    if name == "TimeDelta":
        seconds, nanoseconds = struct.unpack_from("<qq", raw)
        fits = abs(seconds * 1_000_000_000 + nanoseconds) <= MOST * 1_000_000
        return signed_span(name, seconds, nanoseconds) if fits else INVALID
    if name == "FixedOffset":
        parts, (day, second, nanosecond, offset) = 1, (1, 0, 0, *struct.unpack_from("<i", raw))
    elif name == "NaiveDate":
        parts, (day, second, nanosecond, offset) = 1, (*struct.unpack_from("<i", raw), 0, 0, 0)
    elif name == "NaiveTime":
        parts, (day, second, nanosecond, offset) = 2, (1, *struct.unpack_from("<ii", raw), 0)
    elif name == "DateTime<FixedOffset>":
        parts, (day, second, nanosecond, offset) = 4, struct.unpack_from("<iiii", raw)
    else:
        parts, (day, second, nanosecond, offset) = 3, (*struct.unpack_from("<iii", raw), 0)
    valid = 0 <= second < 86400 and 0 <= nanosecond < 2_000_000_000 and abs(offset) < 86400
    local = day + (second + offset) // 86400
    valid = valid and day in CHRONO_DAYS and (name == "FixedOffset" or local in CHRONO_DAYS)
    return list(struct.unpack_from("<" + "i" * parts, raw)) if valid else INVALID


def of_time(name, raw):
    """A leaf of time."""
    if name in ("Weekday", "Month"):
        return of_chrono(name, raw)
    if name == "Duration":
        return signed_span(name, *struct.unpack_from("<qq", raw))
    if name == "UtcOffset":
        return parted_offset(*struct.unpack_from("<bbb", raw))
    if name == "Date":
        (day,) = struct.unpack_from("<i", raw)
        return [day] if day in TIME_DAYS else INVALID
    clock = time(*struct.unpack_from("<ibbbB", raw))
    if name == "Time" or clock is INVALID:
        return clock
    (day,) = struct.unpack_from("<i", raw, 8)
    offset, unused = (parted_offset(*struct.unpack_from("<bbb", raw, 12)), raw[15]) if len(raw) > 12 else ([], 0)
    if day not in TIME_DAYS or offset is INVALID or unused != 0:
        return INVALID
    seconds = sum((part - of) * unit for part, of, unit in zip(clock, offset, (3600, 60, 1)))
    return [day] + clock + offset if day + seconds // 86400 in TIME_DAYS else INVALID


def parted_offset(hours, minutes, seconds):
    parts = [hours, minutes, seconds]
    one_sign = all(part >= 0 for part in parts) or all(part <= 0 for part in parts)
    valid = one_sign and abs(hours) <= 25 and abs(minutes) < 60 and abs(seconds) < 60
    return parts if valid else INVALID
