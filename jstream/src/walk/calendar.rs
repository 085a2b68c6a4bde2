//! Decoding of the types of `chrono` and `time`, in the layouts of `impls::chrono` and
//! `impls::time_crate`.

use std::ops::RangeInclusive;

use super::bytes::{i64_at, u32_at};

/// Returns true if a leaf type has a name of these crates.
pub(super) fn has(name: &str) -> bool {
    name.starts_with("chrono::") || name.starts_with("time::")
}

/// Days from 0001-01-01, which is day 1, that a date of `chrono` may be.
const CHRONO: RangeInclusive<i64> = -95_746_129..=95_745_399;
/// Julian days that a date of `time` may be, in the years -9999 to 9999.
const TIME: RangeInclusive<i64> = -1_930_999..=5_373_484;
/// The Julian day before 0001-01-01.
const JULIAN: i64 = 1_721_425;
const DAY: i64 = 86_400;

/// Formats a leaf; the inner option is `None` if the bytes are not a valid value. Returns `None` if
/// the type is unknown, or has fewer bytes than it should.
pub(super) fn text(name: &str, bytes: &[u8]) -> Option<Option<String>> {
    let enough = match name {
        "chrono::Weekday" | "chrono::Month" | "time::Weekday" | "time::Month" => 1,
        "time::UtcOffset" => 3,
        "chrono::NaiveDate" | "chrono::FixedOffset" | "time::Date" => 4,
        "chrono::NaiveTime" | "time::Time" => 8,
        "chrono::NaiveDateTime" | "chrono::DateTime<Utc>" => 12,
        "time::PrimitiveDateTime" | "time::UtcDateTime" => 12,
        "chrono::DateTime<FixedOffset>" | "chrono::TimeDelta" => 16,
        "time::OffsetDateTime" | "time::Duration" => 16,
        _ => return None,
    };
    let is_whole = bytes.len() >= enough;
    is_whole.then(|| known(name, bytes))
}

/// Formats a leaf of enough bytes.
fn known(name: &str, bytes: &[u8]) -> Option<String> {
    let first = bytes.first()?;
    let text = match name {
        "chrono::Weekday" | "time::Weekday" => named(&WEEKDAYS, *first)?,
        "chrono::Month" | "time::Month" => named(&MONTHS, first.checked_sub(1)?)?,
        "chrono::FixedOffset" => offset(i32_at(bytes, 0))?,
        "time::UtcOffset" => parted_offset(bytes)?.1,
        "chrono::TimeDelta" => {
            let (seconds, nanoseconds) = (i64_at(bytes, 0), i64_at(bytes, 8));
            // The range of an `i64` of milliseconds, without the least.
            let most = (
                i64::MAX.unsigned_abs() / 1000,
                i64::MAX.unsigned_abs() % 1000,
            );
            let fits = seconds.unsigned_abs() < most.0
                || (seconds.unsigned_abs() == most.0
                    && nanoseconds.unsigned_abs() <= most.1.saturating_mul(1_000_000));
            signed_span(seconds, nanoseconds).filter(|_| fits)?
        }
        "time::Duration" => signed_span(i64_at(bytes, 0), i64_at(bytes, 8))?,
        "chrono::NaiveDate" => date(i32_at(bytes, 0), CHRONO, 0)?,
        "time::Date" => date(i32_at(bytes, 0), TIME, JULIAN)?,
        "chrono::NaiveTime" => second_of_day(bytes)?,
        "time::Time" => clock(bytes)?,
        "chrono::NaiveDateTime" => chrono_time(bytes)?,
        "chrono::DateTime<Utc>" => format!("{}Z", chrono_time(bytes)?),
        "chrono::DateTime<FixedOffset>" => {
            let seconds = i32_at(bytes, 12);
            let offset = offset(seconds)?;
            let local = day_after(i32_at(bytes, 0), i32_at(bytes, 4), seconds);
            let text = format!("{}Z, at {offset}", chrono_time(bytes)?);
            Some(text).filter(|_| CHRONO.contains(&local))?
        }
        "time::PrimitiveDateTime" => time_time(bytes)?,
        "time::UtcDateTime" => format!("{}Z", time_time(bytes)?),
        "time::OffsetDateTime" => {
            let (seconds, offset) = parted_offset(bytes.get(12..)?)?;
            let [hour, minute, second] = *bytes.get(4..7)? else {
                return None;
            };
            let of_day = [(hour, 3600), (minute, 60), (second, 1)]
                .map(|(n, of)| i32::from(n).saturating_mul(of));
            let of_day = of_day.into_iter().fold(0, i32::saturating_add);
            let utc = day_after(i32_at(bytes, 8), of_day, seconds.saturating_neg());
            let valid = TIME.contains(&utc) && bytes.get(15) == Some(&0);
            Some(format!("{}{offset}", time_time(bytes)?)).filter(|_| valid)?
        }
        _ => return None,
    };
    Some(text)
}

const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn named(names: &[&str], at: u8) -> Option<String> {
    names.get(usize::from(at)).map(|name| (*name).to_owned())
}

fn i32_at(bytes: &[u8], at: usize) -> i32 {
    u32_at(bytes, at) as i32
}

/// Returns the number of the day that a time in another zone is on.
fn day_after(day: i32, second: i32, offset: i32) -> i64 {
    let second = i64::from(second).saturating_add(offset.into());
    i64::from(day).saturating_add(second.div_euclid(DAY))
}

/// Formats a date, whose number is `first` more than that of days from 0001-01-01.
fn date(day: i32, known: RangeInclusive<i64>, first: i64) -> Option<String> {
    let day = known.contains(&day.into()).then_some(i64::from(day))?;
    let (year, month, day) = civil(day.saturating_sub(first));
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

/// Returns the year, month and day of a day from 0001-01-01, by the Gregorian calendar.
#[allow(
    clippy::arithmetic_side_effects,
    reason = "the day was checked to be in a range of half a million years"
)]
fn civil(day: i64) -> (i64, i64, i64) {
    // Years begin in March here, so that a leap day is the last of its year, and 400 years are an
    // era. Day 0 is 0000-03-01.
    let day = day + 305;
    let (era, day) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (later, month) = if month < 10 {
        (0, month + 3)
    } else {
        (1, month - 9)
    };
    (400 * era + year + later, month, day)
}

/// Formats a time of day of `chrono`, which may be in a leap second.
fn second_of_day(bytes: &[u8]) -> Option<String> {
    let (second, nanosecond) = (u32_at(bytes, 0), u32_at(bytes, 4));
    let known = i64::from(second) < DAY && nanosecond < 2_000_000_000;
    let (hour, minute) = (second / 3600, second / 60 % 60);
    // As chrono does, a leap second is shown as second 60, or one more than it follows.
    let second = (second % 60).saturating_add(nanosecond / 1_000_000_000);
    let fraction = match nanosecond % 1_000_000_000 {
        0 => String::new(),
        n => format!(".{n:09}"),
    };
    known.then(|| format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}

fn chrono_time(bytes: &[u8]) -> Option<String> {
    let date = date(i32_at(bytes, 0), CHRONO, 0)?;
    Some(format!("{date}T{}", second_of_day(bytes.get(4..)?)?))
}

fn time_time(bytes: &[u8]) -> Option<String> {
    let date = date(i32_at(bytes, 8), TIME, JULIAN)?;
    Some(format!("{date}T{}", clock(bytes)?))
}

/// Formats an offset of less than a day.
fn offset(seconds: i32) -> Option<String> {
    let known = i64::from(seconds).abs() < DAY;
    let sign = if seconds < 0 { '-' } else { '+' };
    let size = seconds.unsigned_abs();
    let (hour, minute, second) = (size / 3600, size / 60 % 60, size % 60);
    known.then(|| format!("{sign}{hour:02}:{minute:02}:{second:02}"))
}

/// Returns the seconds of an offset of up to 25 hours whose parts have one sign, and its text.
fn parted_offset(bytes: &[u8]) -> Option<(i32, String)> {
    let [hour, minute, second] = *bytes.get(..3)? else {
        return None;
    };
    let parts = [hour, minute, second].map(|part| i32::from(part as i8));
    let [hour, minute, second] = parts;
    let one_sign = parts.iter().all(|part| *part >= 0) || parts.iter().all(|part| *part <= 0);
    let known = hour.abs() <= 25 && minute.abs() < 60 && second.abs() < 60;
    let sign = if parts.iter().any(|part| *part < 0) {
        '-'
    } else {
        '+'
    };
    let text = format!(
        "{sign}{:02}:{:02}:{:02}",
        hour.abs(),
        minute.abs(),
        second.abs()
    );
    let seconds = [(hour, 3600), (minute, 60), (second, 1)].map(|(n, of)| n.saturating_mul(of));
    let seconds = seconds.into_iter().fold(0, i32::saturating_add);
    (one_sign && known).then_some((seconds, text))
}

const BILLION: u64 = 1_000_000_000;

/// Formats a span whose parts have one sign.
pub(super) fn signed_span(seconds: i64, nanoseconds: i64) -> Option<String> {
    let one_sign = nanoseconds == 0 || seconds == 0 || (seconds < 0) == (nanoseconds < 0);
    let sign = if seconds < 0 || nanoseconds < 0 {
        "-"
    } else {
        ""
    };
    let span = span(sign, seconds.unsigned_abs(), nanoseconds.unsigned_abs());
    span.filter(|_| one_sign)
}

pub(super) fn span(sign: &str, seconds: u64, nanoseconds: u64) -> Option<String> {
    let fraction = match nanoseconds {
        0 => String::new(),
        n if n < BILLION => format!(".{n:09}"),
        _ => return None,
    };
    Some(format!("{sign}{seconds}{fraction} s"))
}

pub(super) fn clock(bytes: &[u8]) -> Option<String> {
    let nanosecond = u32_at(bytes, 0);
    let [hour, minute, second, unused] = bytes.get(4..8)? else {
        return None;
    };
    let known = u64::from(nanosecond) < BILLION && *hour < 24 && *minute < 60 && *second < 60;
    let fraction = match nanosecond {
        0 => String::new(),
        n => format!(".{n:09}"),
    };
    (known && *unused == 0).then(|| format!("{hour:02}:{minute:02}:{second:02}{fraction}"))
}
