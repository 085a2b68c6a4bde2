//! Types of the crate `time`.

use jstream::{Reader, Transportable};
use time::{
    Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset, Weekday,
};

use crate::common::by_value::{said, travels};
use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Event {
    name: String,
    at: OffsetDateTime,
    next: Option<UtcDateTime>,
    days: Vec<Date>,
    every: (Duration, Weekday, Month),
}

fn day() -> Date {
    Date::from_calendar_date(2024, Month::February, 29).unwrap()
}

fn clock() -> Time {
    Time::from_hms_nano(23, 5, 6, 999_999_999).unwrap()
}

#[test]
fn by_value() {
    travels(&[Date::MIN, day(), Date::MAX]);
    travels(&[Time::MIDNIGHT, clock(), Time::MAX]);
    travels(&[
        PrimitiveDateTime::MIN,
        day().with_time(clock()),
        PrimitiveDateTime::MAX,
    ]);
    travels(&[UtcDateTime::MIN, UtcDateTime::UNIX_EPOCH, UtcDateTime::MAX]);
    let offsets = [(-25, -59, -59), (0, 0, -1), (0, 0, 0), (25, 59, 59)];
    let offsets = offsets.map(|(h, m, s)| UtcOffset::from_hms(h, m, s).unwrap());
    travels(&offsets);
    travels(&offsets.map(|zone| day().with_time(clock()).assume_offset(zone)));
    travels(&[
        Duration::MIN,
        Duration::nanoseconds(-1),
        Duration::ZERO,
        Duration::MAX,
    ]);
    travels(&[Weekday::Monday, Weekday::Sunday]);
    travels(&[Month::January, Month::December]);
}

#[test]
fn in_a_type_that_owns() {
    let event = Event {
        name: "event".to_owned(),
        at: OffsetDateTime::UNIX_EPOCH,
        next: Some(UtcDateTime::MAX),
        days: vec![day()],
        every: (Duration::MAX, Weekday::Friday, Month::May),
    };
    let received = Reader::default().read::<Event>(message(&event)).unwrap();
    let form = received.get();
    assert_eq!(
        (form.name, form.at, form.next),
        ("event", event.at, event.next)
    );
    assert_eq!((form.days, form.every), (&*event.days, event.every));
}

#[test]
fn what_is_no_value_is_refused() {
    let zoned = day().midnight().assume_utc();
    // The last four are parts of the time of day, and its padding.
    for (at, bad) in [(3, 0x3c), (3, 0x80), (4, 24), (5, 60), (6, 60), (7, 1)] {
        let damage = |slot: &mut [u8]| slot[at] = bad;
        said(&Time::MIDNIGHT, "Time", damage);
        said(&day().midnight(), "PrimitiveDateTime", damage);
        said(&day().midnight().as_utc(), "UtcDateTime", damage);
        said(&zoned, "OffsetDateTime", damage);
    }
    for number in [i32::MIN, -1_931_000, 5_373_485, i32::MAX] {
        let put = |at: usize| {
            move |slot: &mut [u8]| slot[at..at + 4].copy_from_slice(&number.to_le_bytes())
        };
        said(&day(), "Date", put(0));
        said(&day().midnight(), "PrimitiveDateTime", put(8));
        said(&zoned, "OffsetDateTime", put(8));
    }
    for parts in [
        [26, 0, 0],
        [-26, 0, 0],
        [0, 60, 0],
        [0, 0, -60],
        [1, -1, 0],
        [0, 1, -1],
    ] {
        let parts = parts.map(|part: i8| part as u8);
        said(&UtcOffset::UTC, "UtcOffset", |slot| {
            slot.copy_from_slice(&parts)
        });
        said(&zoned, "OffsetDateTime", |slot| {
            slot[12..15].copy_from_slice(&parts)
        });
    }
    said(&zoned, "OffsetDateTime", |slot| slot[15] = 1);
    // The time is not representable in UTC.
    let (first, last) = (PrimitiveDateTime::MIN, PrimitiveDateTime::MAX);
    said(&last.assume_utc(), "OffsetDateTime", |slot| slot[14] = 0xff);
    said(&first.assume_utc(), "OffsetDateTime", |slot| slot[14] = 1);
    for (seconds, nanoseconds) in [(0, 1_000_000_000), (1, -1), (-1, 1), (0, i64::MAX)] {
        said(&Duration::ZERO, "Duration", |slot| {
            slot[..8].copy_from_slice(&i64::to_le_bytes(seconds));
            slot[8..16].copy_from_slice(&i64::to_le_bytes(nanoseconds));
        });
    }
    for bad in [7, 255] {
        said(&Weekday::Monday, "Weekday", |slot| slot[0] = bad);
    }
    for bad in [0, 13, 255] {
        said(&Month::May, "Month", |slot| slot[0] = bad);
    }
}
