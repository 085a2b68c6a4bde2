//! Types of `jiff`, which are sent by value.
//!
//! A `Zoned` can't be sent by value: its time zone is shared memory, and names rules that another
//! program may not have. An adapter sends its `Timestamp`, and the name of the zone as text.

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::{DateTimeParser, DateTimePrinter};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Zoned};
use zerocopy::{FromBytes, IntoBytes};

use super::time::balanced;
use crate::adapter::Adapter;
use crate::model::{Covariant, InPlace, Shape, Transportable};
use crate::read::{Fault, FaultKind, Pass, Trace};
use crate::schema::{Kind, Schema, TypeIndex};
use crate::write::Draft;

/// The wire form of a [`Date`].
#[derive(FromBytes, IntoBytes)]
#[repr(C)]
struct WireDate {
    year: i16,
    month: i8,
    day: i8,
}

impl WireDate {
    fn new(date: Date) -> Self {
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
    fn new(time: Time) -> Self {
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
    Date: WireDate, |date| WireDate::new(*date), |day| day.get();
    Time: WireTime, |time| WireTime::new(*time), |clock| clock.get();
    DateTime: WireDateTime,
        |time| WireDateTime { clock: WireTime::new(time.time()), day: WireDate::new(time.date()) },
        |both| {
            let date = both.day.get();
            date.and_then(|date| Some(Self::from_parts(date, both.clock.get()?)))
        };
}

/// An [`Adapter`] that sends a [`Zoned`] as its timestamp, and the name of its time zone.
///
/// The name is an IANA identifier, a fixed offset, or a POSIX time zone. For a zone without such a
/// name, it is the zone's offset at that time. [Restoring](crate::Restore) the field looks up the
/// name in the receiver's time zone database, and fails if the name is unknown there. Other
/// identifiers than `UTC` need jiff's feature `std`, or its default features.
///
/// ```
/// use jiff::{Timestamp, Zoned, tz};
/// use jstream::{EmptyBuffer, Reader, Transportable, Writer, ZonedByName};
///
/// #[derive(Transportable)]
/// struct Meeting {
///     #[transportable(with = ZonedByName, form = (Timestamp, &'b str))]
///     begins: Zoned,
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let begins = Timestamp::UNIX_EPOCH.to_zoned(tz::offset(2).to_time_zone());
/// let meeting = Meeting { begins };
/// let message = Writer::new().write(&meeting, EmptyBuffer::heap(256))?;
/// let received = Reader::default().read::<Meeting>(message)?;
/// assert_eq!(received.get().begins, (Timestamp::UNIX_EPOCH, "+02:00"));
/// assert_eq!(received.get().to_owned()?.begins, meeting.begins);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ZonedByName;

impl Adapter<Zoned> for ZonedByName {
    type Wire = (Timestamp, String);
    type Error = jiff::Error;

    fn to_wire(zoned: &Zoned) -> (Timestamp, String) {
        let name = |zone: &TimeZone| DateTimePrinter::new().time_zone_to_string(zone);
        let offset = || name(&zoned.offset().to_time_zone());
        let name = name(zoned.time_zone()).or_else(|_| offset());
        // An offset always has a text.
        (zoned.timestamp(), name.unwrap_or_default())
    }

    fn from_wire((timestamp, name): &(Timestamp, &str)) -> Result<Zoned, jiff::Error> {
        let zone = match *name {
            // Needs no time zone database, which jiff lacks without its feature `std`.
            "UTC" => TimeZone::UTC,
            name => DateTimeParser::new().parse_time_zone(name)?,
        };
        Ok(timestamp.to_zoned(zone))
    }
}
