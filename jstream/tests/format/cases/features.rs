//! Vectors with types of other crates.

use super::Case;
#[cfg(any(
    feature = "uuid",
    feature = "chrono",
    feature = "glam",
    feature = "half",
    feature = "time",
    feature = "jiff",
    feature = "indexmap",
    feature = "ndarray"
))]
use super::{Layout, case};

/// Prefixes of the vectors with types of other crates. They exist only if their features are
/// enabled.
pub const OF_FEATURES: [&str; 8] = [
    "uuid.",
    "chrono.",
    "glam.",
    "half.",
    "time.",
    "jiff.",
    "indexmap.",
    "ndarray.",
];

/// Vectors with types of other crates.
#[allow(
    clippy::vec_init_then_push,
    reason = "each of them exists only with its feature"
)]
pub fn features() -> Vec<Case> {
    #[allow(unused_mut, reason = "all of these features may be disabled")]
    let mut all = Vec::new();
    #[cfg(feature = "uuid")]
    all.push(case(
        "uuid",
        Layout::Fixed,
        &uuid::Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff),
        r#""00112233-4455-6677-8899-aabbccddeeff""#,
    ));
    #[cfg(feature = "chrono")]
    all.push(of_chrono());
    #[cfg(feature = "glam")]
    all.push(case(
        "glam",
        Layout::Chosen,
        &(
            glam::Vec3::new(1.0, 2.0, 3.0),
            glam::Vec3A::new(4.0, 5.0, 6.0),
            glam::DMat2::from_cols_array(&[1.0, 2.0, 3.0, 4.0]),
        ),
        r#"[{"x": 1.0, "y": 2.0, "z": 3.0}, {"x": 4.0, "y": 5.0, "z": 6.0},
        {"x_axis": [1.0, 2.0], "y_axis": [3.0, 4.0]}]"#,
    ));
    #[cfg(feature = "half")]
    all.push(case(
        "half",
        Layout::Fixed,
        &(
            [
                half::f16::from_f32(-1.5),
                half::f16::from_bits(1),
                half::f16::MAX,
            ],
            half::bf16::from_f32(0.15625),
        ),
        "[[-1.5, 5.960464477539063e-08, 65504.0], 0.15625]",
    ));
    #[cfg(feature = "time")]
    all.push(of_time());
    #[cfg(feature = "jiff")]
    {
        use jiff::civil::{date, time};
        let of_jiff = types_of_jiff::Jiff {
            timestamp: jiff::Timestamp::new(-5, -6).unwrap(),
            span: jiff::SignedDuration::new(-7, 0),
            date: date(-1, 2, 28),
            time: time(23, 59, 58, 999_999_999),
            both: date(2024, 2, 29).at(1, 2, 3, 4),
        };
        all.push(case(
            "jiff",
            Layout::Chosen,
            &of_jiff,
            r#"{"timestamp": [-5, -6], "span": [-7, 0], "date": [-1, 2, 28],
            "time": [23, 59, 58, 999999999], "both": [2024, 2, 29, 1, 2, 3, 4]}"#,
        ));
    }
    #[cfg(feature = "indexmap")]
    {
        let indexed: indexmap::IndexMap<String, u8> =
            (0..10).map(|n| (format!("key {n}"), n)).collect();
        all.push(case(
            "indexmap",
            Layout::Fixed,
            &indexed,
            r#"{"keys": {"elements": ["key 0", "key 1", "key 2", "key 3", "key 4", "key 5", "key 6",
            "key 7", "key 8", "key 9"], "table": [4, 2, 1, 3, 9, 5, 7, 8, 6, 0],
            "starts": [0, 1, 2, 2, 2, 3, 4, 6, 8, 9, 10]}, "values": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}"#,
        ));
    }
    #[cfg(feature = "ndarray")]
    {
        let array = ndarray::arr2(&[[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]]);
        all.push(case(
            "ndarray",
            Layout::Fixed,
            &array,
            r#"{"shape": [3, 2], "data": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}"#,
        ));
    }
    all
}

/// A vector with types of `chrono`.
#[cfg(feature = "chrono")]
fn of_chrono() -> Case {
    use chrono::{DateTime, FixedOffset, Month, NaiveDate, TimeDelta, Timelike, Weekday};
    let date = NaiveDate::from_ymd_opt(-1, 2, 28).unwrap();
    let leap_second = date.and_hms_opt(23, 59, 59).unwrap();
    let leap_second = leap_second.with_nanosecond(1_500_000_000).unwrap();
    let zone = FixedOffset::east_opt(-3601).unwrap();
    let of_chrono = types_of_chrono::Chrono {
        date,
        time: leap_second.time(),
        both: leap_second,
        utc: DateTime::UNIX_EPOCH,
        zoned: leap_second.and_utc().with_timezone(&zone),
        offset: zone,
        span: TimeDelta::milliseconds(-1500),
        day: Weekday::Sun,
        month: Month::December,
    };
    case(
        "chrono",
        Layout::Chosen,
        &of_chrono,
        r#"{"date": [-672], "time": [86399, 1500000000], "both": [-672, 86399, 1500000000],
        "utc": [719163, 0, 0], "zoned": [-672, 86399, 1500000000, -3601], "offset": [-3601],
        "span": [-1, -500000000], "day": 6, "month": 12}"#,
    )
}

/// A vector with types of `time`.
#[cfg(feature = "time")]
fn of_time() -> Case {
    use time::{Date, Duration, Month, Time, UtcOffset, Weekday};
    let date = Date::from_calendar_date(-1, Month::February, 28).unwrap();
    let time = Time::from_hms_nano(23, 59, 58, 999_999_999).unwrap();
    let offset = UtcOffset::from_hms(-1, 0, -1).unwrap();
    let of_time = types_of_time::OfTime {
        date,
        time,
        both: date.with_time(time),
        utc: date.with_time(time).as_utc(),
        zoned: date.with_time(time).assume_offset(offset),
        offset,
        span: Duration::milliseconds(-1500),
        day: Weekday::Sunday,
        month: Month::December,
    };
    case(
        "time",
        Layout::Chosen,
        &of_time,
        r#"{"date": [1720753], "time": [23, 59, 58, 999999999],
        "both": [1720753, 23, 59, 58, 999999999], "utc": [1720753, 23, 59, 58, 999999999],
        "zoned": [1720753, 23, 59, 58, 999999999, -1, 0, -1], "offset": [-1, 0, -1],
        "span": [-1, -500000000], "day": 6, "month": 12}"#,
    )
}

#[cfg(feature = "jiff")]
mod types_of_jiff {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub struct Jiff {
        pub timestamp: jiff::Timestamp,
        pub span: jiff::SignedDuration,
        pub date: jiff::civil::Date,
        pub time: jiff::civil::Time,
        pub both: jiff::civil::DateTime,
    }
}

#[cfg(feature = "chrono")]
mod types_of_chrono {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub struct Chrono {
        pub date: chrono::NaiveDate,
        pub time: chrono::NaiveTime,
        pub both: chrono::NaiveDateTime,
        pub utc: chrono::DateTime<chrono::Utc>,
        pub zoned: chrono::DateTime<chrono::FixedOffset>,
        pub offset: chrono::FixedOffset,
        pub span: chrono::TimeDelta,
        pub day: chrono::Weekday,
        pub month: chrono::Month,
    }
}

#[cfg(feature = "time")]
mod types_of_time {
    use jstream::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub struct OfTime {
        pub date: time::Date,
        pub time: time::Time,
        pub both: time::PrimitiveDateTime,
        pub utc: time::UtcDateTime,
        pub zoned: time::OffsetDateTime,
        pub offset: time::UtcOffset,
        pub span: time::Duration,
        pub day: time::Weekday,
        pub month: time::Month,
    }
}
