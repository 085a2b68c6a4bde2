//! Types of the crate `jiff`.

use std::fmt::Debug;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{self, TimeZone};
use jiff::{SignedDuration, Timestamp, Zoned};
use jstream::{EmptyBuffer, Reader, Transportable, ZonedByName};

use crate::common::by_value::{said, travels};
use crate::common::message;

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug))]
struct Meeting {
    #[transportable(with = ZonedByName, form = (Timestamp, &'b str))]
    begins: Zoned,
    title: String,
}

mod others {
    use jiff::Timestamp;
    use jstream::Transportable;

    /// A type with the same messages, in which the name of a zone can be any.
    #[derive(Transportable)]
    pub(super) struct Meeting {
        pub(super) begins: (Timestamp, String),
        pub(super) title: String,
    }
}

#[test]
fn zoned_times_by_the_name_of_their_zone() {
    let zones = [
        (TimeZone::UTC, "UTC"),
        (
            TimeZone::posix("EST5EDT,M3.2.0,M11.1.0").unwrap(),
            "EST5EDT,M3.2.0,M11.1.0",
        ),
        (
            tz::Offset::from_seconds(-3601).unwrap().to_time_zone(),
            "-01:00:01",
        ),
    ];
    for (zone, name) in zones {
        let meeting = Meeting {
            begins: Timestamp::new(1_750_000_000, 5)
                .unwrap()
                .to_zoned(zone.clone()),
            title: "title".to_owned(),
        };
        let received = Reader::default()
            .read::<Meeting>(message(&meeting))
            .unwrap();
        let form = received.get();
        assert_eq!(form.begins, (meeting.begins.timestamp(), name));
        let restored = form.to_owned().unwrap();
        assert_eq!(restored, meeting);
        assert_eq!(restored.begins.time_zone(), &zone);
    }
}

#[test]
fn unknown_zones_are_not_restored() {
    let sent = others::Meeting {
        begins: (Timestamp::UNIX_EPOCH, "No/Such_Zone".to_owned()),
        title: "title".to_owned(),
    };
    let received = Reader::default().read::<Meeting>(message(&sent)).unwrap();
    let form = received.get();
    assert_eq!(form.begins.1, "No/Such_Zone");
    let error = form.to_owned().unwrap_err().to_string();
    assert!(error.contains("No/Such_Zone"), "{error}");
}

#[test]
fn by_value() {
    let before = Timestamp::new(-5, -6).unwrap();
    let now = Timestamp::new(1_750_000_000, 999_999_999).unwrap();
    travels(&[
        Timestamp::MIN,
        before,
        Timestamp::UNIX_EPOCH,
        now,
        Timestamp::MAX,
    ]);
    let span = SignedDuration::new(-1, -999_999_999);
    travels(&[
        SignedDuration::MIN,
        span,
        SignedDuration::ZERO,
        SignedDuration::MAX,
    ]);
    let leap = Date::new(2024, 2, 29).unwrap();
    travels(&[Date::MIN, leap, Date::ZERO, Date::MAX]);
    travels(&[Time::MIN, Time::constant(23, 5, 6, 123_456_789), Time::MAX]);
    travels(&[DateTime::MIN, leap.at(1, 2, 3, 4), DateTime::MAX]);
}

#[test]
fn what_is_no_value_is_refused() {
    for [seconds, nanoseconds] in [
        [0, 1_000_000_000],
        [0, -1_000_000_000],
        [1, -1],
        [-1, 1],
        [i64::MAX, i64::from(i32::MAX)],
        [i64::MIN, i64::from(i32::MIN)],
        [i64::MIN, i64::MIN],
        [0, 1 << 32],
    ] {
        let damage = |slot: &mut [u8]| {
            slot[..8].copy_from_slice(&seconds.to_le_bytes());
            slot[8..16].copy_from_slice(&nanoseconds.to_le_bytes());
        };
        said(&Timestamp::UNIX_EPOCH, "Timestamp", damage);
        said(&SignedDuration::ZERO, "SignedDuration", damage);
    }
    for seconds in [i64::MIN, i64::MAX, Timestamp::MAX.as_second() + 1] {
        said(&Timestamp::UNIX_EPOCH, "Timestamp", |slot| {
            slot[..8].copy_from_slice(&seconds.to_le_bytes());
        });
    }
    let day = Date::new(2023, 2, 28).unwrap();
    for (at, bad) in [
        (2, 0),
        (2, 13),
        (3, 0),
        (3, 29),
        (3, 255),
        (1, 0x7f),
        (1, 0x80),
    ] {
        said(&day, "Date", |slot| slot[at] = bad);
        said(&day.at(0, 0, 0, 0), "DateTime", |slot| slot[8 + at] = bad);
    }
    for (at, bad) in [
        (3, 0x7f),
        (3, 0x80),
        (4, 24),
        (4, 255),
        (5, 60),
        (6, 60),
        (7, 1),
    ] {
        said(&Time::midnight(), "Time", |slot| slot[at] = bad);
        said(&day.at(0, 0, 0, 0), "DateTime", |slot| slot[at] = bad);
    }
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Event {
    name: String,
    at: Timestamp,
    took: SignedDuration,
    day: Option<Date>,
    times: Vec<Time>,
    when: DateTime,
}

/// Replaces every byte by every value. The reader never panics, and accepted values can be
/// formatted.
fn sweep<T>(value: &T) -> usize
where
    T: Transportable + 'static,
    for<'b> T::InPlace<'b>: Debug,
{
    let whole = message(value).as_bytes().to_vec();
    let mut accepted = 0;
    for at in 40..whole.len() {
        for byte in 0..=255 {
            let mut bytes = whole.clone();
            bytes[at] = byte;
            let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
            match Reader::default().read::<T>(filled) {
                Ok(received) => {
                    accepted += 1;
                    assert!(!format!("{received:?}").is_empty());
                }
                Err(failure) => assert!(!failure.error.to_string().is_empty()),
            }
        }
    }
    accepted
}

#[test]
#[cfg_attr(
    address_sanitizer,
    ignore = "takes minutes; the fuzz targets damage messages too"
)]
fn one_damaged_byte_gives_an_error_or_valid_objects() {
    let when = Date::new(2024, 2, 29).unwrap().at(23, 59, 59, 999_999_999);
    let event = Event {
        name: "event".to_owned(),
        at: Timestamp::new(-1, -1).unwrap(),
        took: SignedDuration::new(3, 4),
        day: Some(when.date()),
        times: vec![Time::midnight(), when.time()],
        when,
    };
    assert!(sweep(&event) > 0);
    let received = Reader::default().read::<Event>(message(&event)).unwrap();
    let expected = EventRef {
        name: "event",
        at: event.at,
        took: event.took,
        day: event.day,
        times: &event.times,
        when,
    };
    assert_eq!(received.get(), &expected);
}
