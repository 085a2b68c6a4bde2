//! Types of `chrono`, which are sent by value.
//!
//! A `DateTime<Local>` can't be sent: the zone of the receiver is another one. Send it as a
//! `DateTime<FixedOffset>` or a `DateTime<Utc>`.

use chrono::{
    DateTime, Datelike, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta,
    Timelike, Utc, Weekday,
};

use super::time::balanced;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Returns the second of the day, and the nanoseconds.
fn clock_parts(time: NaiveTime) -> [i32; 2] {
    // The first is less than a day, the second less than two seconds, so both fit.
    [
        time.num_seconds_from_midnight() as i32,
        time.nanosecond() as i32,
    ]
}

/// Returns a time of day. It may be in a leap second, which may follow any second.
fn clock([second, nanosecond]: [i32; 2]) -> Option<NaiveTime> {
    let second = u32::try_from(second).ok()?;
    let time = NaiveTime::from_num_seconds_from_midnight_opt(second, 0)?;
    time.with_nanosecond(u32::try_from(nanosecond).ok()?)
}

/// Returns the number of the day, the second of the day, and the nanoseconds.
fn parts(time: NaiveDateTime) -> [i32; 3] {
    let [second, nanosecond] = clock_parts(time.time());
    [time.num_days_from_ce(), second, nanosecond]
}

/// Returns a date and time of day.
fn date_time([day, second, nanosecond]: [i32; 3]) -> Option<NaiveDateTime> {
    let date = NaiveDate::from_num_days_from_ce_opt(day)?;
    Some(date.and_time(clock([second, nanosecond])?))
}

/// Returns a time in a zone. `None` if the local time is not representable: most methods of such a
/// value panic.
fn zoned([day, second, nanosecond, offset]: [i32; 4]) -> Option<DateTime<FixedOffset>> {
    let time = date_time([day, second, nanosecond])?;
    let offset = FixedOffset::east_opt(offset)?;
    time.checked_add_offset(offset)?;
    Some(DateTime::from_naive_utc_and_offset(time, offset))
}

opaque! {
    NaiveDate as "chrono::NaiveDate": i32,
        |date| date.num_days_from_ce(),
        |day| Self::from_num_days_from_ce_opt(day);
    NaiveTime as "chrono::NaiveTime": [i32; 2], |time| clock_parts(*time), |wire| clock(wire);
    NaiveDateTime as "chrono::NaiveDateTime": [i32; 3],
        |time| parts(*time),
        |wire| date_time(wire);
    DateTime<Utc> as "chrono::DateTime<Utc>": [i32; 3],
        |time| parts(time.naive_utc()),
        |wire| date_time(wire).map(|time| time.and_utc());
    DateTime<FixedOffset> as "chrono::DateTime<FixedOffset>": [i32; 4],
        |time| {
            let [day, second, nanosecond] = parts(time.naive_utc());
            [day, second, nanosecond, time.offset().local_minus_utc()]
        },
        |wire| zoned(wire);
    FixedOffset as "chrono::FixedOffset": i32,
        |offset| offset.local_minus_utc(),
        |seconds| Self::east_opt(seconds);
    TimeDelta as "chrono::TimeDelta": [i64; 2],
        |span| [span.num_seconds(), i64::from(span.subsec_nanos())],
        |wire| balanced(wire).and_then(|(seconds, nanoseconds)| {
            Self::try_seconds(seconds)?.checked_add(&Self::nanoseconds(nanoseconds.into()))
        });
    Weekday as "chrono::Weekday": u8,
        |day| low_byte(day.num_days_from_monday()),
        |day| Self::try_from(day).ok();
    Month as "chrono::Month": u8,
        |month| low_byte(month.number_from_month()),
        |month| Self::try_from(month).ok();
}

/// Returns a number that is less than 256.
fn low_byte(number: u32) -> u8 {
    let [low, ..] = number.to_le_bytes();
    low
}
