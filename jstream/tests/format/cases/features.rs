//! Vectors with types of other crates.

use super::Case;
#[cfg(any(
    feature = "uuid",
    feature = "jiff",
    feature = "indexmap",
    feature = "ndarray"
))]
use super::{Layout, case};

/// Prefixes of the vectors with types of other crates. They exist only if their features are
/// enabled.
pub const OF_FEATURES: [&str; 4] = ["uuid.", "jiff.", "indexmap.", "ndarray."];

/// Vectors with types of other crates.
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
