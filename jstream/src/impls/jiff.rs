//! Types of `jiff`, which are sent by value.
//!
//! A `Zoned` can't be sent: its time zone is shared memory, and names rules that another program
//! may not have. Send its `Timestamp`, and the name of the zone as text.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, Timestamp};
use zerocopy::{FromBytes, IntoBytes};

use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// Returns the seconds and nanoseconds if the nanoseconds are less than a second and have the same
/// sign.
fn balanced([seconds, nanoseconds]: [i64; 2]) -> Option<(i64, i32)> {
    let nanoseconds = i32::try_from(nanoseconds).ok()?;
    let one_sign = nanoseconds == 0 || seconds == 0 || (seconds < 0) == (nanoseconds < 0);
    let is_part = nanoseconds.unsigned_abs() < 1_000_000_000;
    (one_sign && is_part).then_some((seconds, nanoseconds))
}

/// The wire form of a [`Date`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct WireDate {
    year: i16,
    month: i8,
    day: i8,
}

impl WireDate {
    fn of(date: Date) -> Self {
        Self {
            year: date.year(),
            month: date.month(),
            day: date.day(),
        }
    }

    fn get(self) -> Option<Date> {
        Date::new(self.year, self.month, self.day).ok()
    }
}

/// The wire form of a [`Time`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct WireTime {
    nanosecond: i32,
    hour: i8,
    minute: i8,
    second: i8,
    /// Explicit padding, always 0.
    unused: u8,
}

impl WireTime {
    fn of(time: Time) -> Self {
        Self {
            nanosecond: time.subsec_nanosecond(),
            hour: time.hour(),
            minute: time.minute(),
            second: time.second(),
            unused: 0,
        }
    }

    fn get(self) -> Option<Time> {
        let time = Time::new(self.hour, self.minute, self.second, self.nanosecond);
        time.ok().filter(|_| self.unused == 0)
    }
}

/// The wire form of a [`DateTime`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct WireDateTime {
    clock: WireTime,
    day: WireDate,
}

opaque! {
    Timestamp: [i64; 2],
        |time| [time.as_second(), i64::from(time.subsec_nanosecond())],
        |wire| balanced(wire).and_then(|(s, ns)| Self::new(s, ns).ok());
    // `SignedDuration::new` panics if the nanoseconds overflow the seconds, which is impossible for
    // balanced ones.
    SignedDuration: [i64; 2],
        |span| [span.as_secs(), i64::from(span.subsec_nanos())],
        |wire| balanced(wire).map(|(s, ns)| Self::new(s, ns));
    Date: WireDate, |date| WireDate::of(*date), |day| day.get();
    Time: WireTime, |time| WireTime::of(*time), |clock| clock.get();
    DateTime: WireDateTime,
        |time| WireDateTime { clock: WireTime::of(time.time()), day: WireDate::of(time.date()) },
        |both| {
            let date = both.day.get();
            date.and_then(|date| Some(Self::from_parts(date, both.clock.get()?)))
        };
}
