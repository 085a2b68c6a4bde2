//! Types of the crate `chrono`.

use chrono::{
    DateTime, FixedOffset, Month, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike, Utc,
    Weekday,
};
use jstream::{Reader, Transportable};

use crate::common::by_value::{said, travels};
use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Event {
    name: String,
    at: DateTime<Utc>,
    there: Option<DateTime<FixedOffset>>,
    days: Vec<NaiveDate>,
    every: (TimeDelta, Weekday, Month),
}

fn leap_second() -> NaiveTime {
    NaiveTime::from_hms_nano_opt(23, 59, 59, 1_999_999_999).unwrap()
}

fn day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2024, 2, 29).unwrap()
}

#[test]
fn by_value() {
    travels(&[NaiveDate::MIN, day(), NaiveDate::MAX]);
    // A leap second can be set after any second.
    let odd = NaiveTime::MIN.with_nanosecond(1_500_000_000).unwrap();
    travels(&[NaiveTime::MIN, leap_second(), odd]);
    travels(&[
        NaiveDateTime::MIN,
        day().and_time(leap_second()),
        NaiveDateTime::MAX,
    ]);
    travels(&[
        DateTime::<Utc>::MIN_UTC,
        DateTime::UNIX_EPOCH,
        DateTime::<Utc>::MAX_UTC,
    ]);
    let offsets = [-86_399, 0, 3600, 86_399].map(|east| FixedOffset::east_opt(east).unwrap());
    travels(&offsets);
    travels(&offsets.map(|zone| day().and_time(leap_second()).and_utc().with_timezone(&zone)));
    travels(&[
        TimeDelta::MIN,
        TimeDelta::nanoseconds(-1),
        TimeDelta::zero(),
        TimeDelta::MAX,
    ]);
    travels(&[Weekday::Mon, Weekday::Sun]);
    travels(&[Month::January, Month::December]);
}

#[test]
fn in_a_type_that_owns() {
    let event = Event {
        name: "event".to_owned(),
        at: DateTime::UNIX_EPOCH,
        there: Some(DateTime::UNIX_EPOCH.fixed_offset()),
        days: vec![day()],
        every: (TimeDelta::MAX, Weekday::Fri, Month::May),
    };
    let received = Reader::default().read::<Event>(message(&event)).unwrap();
    let form = received.get();
    assert_eq!(
        (form.name, form.at, form.there),
        ("event", event.at, event.there)
    );
    assert_eq!((form.days, form.every), (&*event.days, event.every));
}

#[test]
fn what_is_no_value_is_refused() {
    let put = |at: usize, number: i32| {
        move |slot: &mut [u8]| slot[at..at + 4].copy_from_slice(&number.to_le_bytes())
    };
    let time = day().and_time(NaiveTime::MIN);
    for (at, number) in [
        (0, i32::MIN),
        (0, i32::MAX),
        (0, -95_746_130),
        (0, 95_745_400),
        (4, -1),
        (4, 86_400),
        (8, -1),
        (8, 2_000_000_000),
    ] {
        said(&time, "DateTime", put(at, number));
        said(&time.and_utc(), "DateTime", put(at, number));
        said(&time.and_utc().fixed_offset(), "DateTime", put(at, number));
        if at == 0 {
            said(&day(), "Date", put(0, number));
        } else {
            said(&NaiveTime::MIN, "Time", put(at - 4, number));
        }
    }
    for offset in [86_400, -86_400, i32::MIN, i32::MAX] {
        said(&time.and_utc().fixed_offset(), "DateTime", put(12, offset));
        said(
            &FixedOffset::east_opt(0).unwrap(),
            "FixedOffset",
            put(0, offset),
        );
    }
    // The time of the zone is not representable.
    let (first, last) = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);
    said(&last.fixed_offset(), "DateTime", put(12, 1));
    said(&first.fixed_offset(), "DateTime", put(12, -1));
    for (seconds, nanoseconds) in [
        (0, 1_000_000_000),
        (1, -1),
        (-1, 1),
        (i64::MAX / 1000, 807_000_001),
        (-(i64::MAX / 1000), -807_000_001),
        (i64::MIN, 0),
        (i64::MAX, 0),
        (0, i64::MAX),
    ] {
        said(&TimeDelta::zero(), "TimeDelta", |slot| {
            slot[..8].copy_from_slice(&i64::to_le_bytes(seconds));
            slot[8..16].copy_from_slice(&i64::to_le_bytes(nanoseconds));
        });
    }
    for bad in [7, 8, 255] {
        said(&Weekday::Mon, "Weekday", |slot| slot[0] = bad);
    }
    for bad in [0, 13, 255] {
        said(&Month::May, "Month", |slot| slot[0] = bad);
    }
}
