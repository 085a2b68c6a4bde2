//! Types of `time`, which are sent by value.

use time::{
    Date, Duration, Month, OffsetDateTime, PrimitiveDateTime, Time, UtcDateTime, UtcOffset, Weekday,
};
use zerocopy::{FromBytes, IntoBytes};

use super::time::balanced;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// The wire form of a [`Time`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct Clock {
    nanosecond: u32,
    hour: u8,
    minute: u8,
    second: u8,
    /// Explicit padding, always 0.
    unused: u8,
}

impl Clock {
    fn new(time: Time) -> Self {
        let (hour, minute, second, nanosecond) = time.as_hms_nano();
        Self {
            nanosecond,
            hour,
            minute,
            second,
            unused: 0,
        }
    }

    fn get(self) -> Option<Time> {
        let time = Time::from_hms_nano(self.hour, self.minute, self.second, self.nanosecond);
        time.ok().filter(|_| self.unused == 0)
    }
}

/// The wire form of a date and time of day.
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct DayAndClock {
    clock: Clock,
    julian_day: i32,
}

impl DayAndClock {
    fn new(date: Date, time: Time) -> Self {
        Self {
            clock: Clock::new(time),
            julian_day: date.to_julian_day(),
        }
    }

    fn get(self) -> Option<(Date, Time)> {
        let date = Date::from_julian_day(self.julian_day).ok()?;
        Some((date, self.clock.get()?))
    }
}

/// The wire form of an [`OffsetDateTime`]: the local time, and the offset.
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct WithOffset {
    local: DayAndClock,
    offset: [i8; 3],
    /// Explicit padding, always 0.
    unused: u8,
}

impl WithOffset {
    fn new(time: &OffsetDateTime) -> Self {
        Self {
            local: DayAndClock::new(time.date(), time.time()),
            offset: time.offset().as_hms().into(),
            unused: 0,
        }
    }

    /// Returns the time. `None` if it is not representable in UTC: methods of such a value panic.
    fn get(self) -> Option<OffsetDateTime> {
        let (date, time) = self.local.get()?;
        let time = OffsetDateTime::new_in_offset(date, time, offset(self.offset)?);
        time.checked_to_offset(UtcOffset::UTC)?;
        Some(time).filter(|_| self.unused == 0)
    }
}

/// Returns an offset, if its parts have one sign.
fn offset(parts: [i8; 3]) -> Option<UtcOffset> {
    let [hours, minutes, seconds] = parts;
    let offset = UtcOffset::from_hms(hours, minutes, seconds).ok()?;
    // Parts of different signs are those of another offset.
    Some(offset).filter(|offset| parts == <[i8; 3]>::from(offset.as_hms()))
}

opaque! {
    Date as "time::Date": i32,
        |date| date.to_julian_day(),
        |day| Self::from_julian_day(day).ok();
    Time as "time::Time": Clock, |time| Clock::new(*time), |clock| clock.get();
    PrimitiveDateTime as "time::PrimitiveDateTime": DayAndClock,
        |time| DayAndClock::new(time.date(), time.time()),
        |wire| wire.get().map(|(date, time)| Self::new(date, time));
    UtcDateTime as "time::UtcDateTime": DayAndClock,
        |time| DayAndClock::new(time.date(), time.time()),
        |wire| wire.get().map(|(date, time)| Self::new(date, time));
    OffsetDateTime as "time::OffsetDateTime": WithOffset,
        |time| WithOffset::new(time),
        |wire| wire.get();
    UtcOffset as "time::UtcOffset": [i8; 3],
        |offset| offset.as_hms().into(),
        |parts| offset(parts);
    // `Duration::new` panics if the nanoseconds overflow the seconds, which is impossible for
    // balanced ones.
    Duration as "time::Duration": [i64; 2],
        |span| [span.whole_seconds(), i64::from(span.subsec_nanoseconds())],
        |wire| balanced(wire).map(|(seconds, nanoseconds)| Self::new(seconds, nanoseconds));
    Weekday as "time::Weekday": u8,
        |day| day.number_days_from_monday(),
        |days| (days < 7).then(|| Self::Monday.nth_next(days));
    Month as "time::Month": u8, |month| u8::from(*month), |month| Self::try_from(month).ok();
}
