//! Cases `records` and `records-unicode`: many structs with a string and an array each.

use super::{Case, Numbers, forever, values};
use crate::Failure;
use crate::suites::serialization::walk::walk_fields;
use crate::table::number;

values! {
    struct Records {
        records: Vec<Record>,
    }

    struct Record {
        id: u64,
        name: String,
        scores: Vec<f32>,
    }
}

walk_fields!(Records, RecordsRef<'_>, ArchivedRecords => records);
walk_fields!(Record, RecordRef<'_>, ArchivedRecord => id name scores);

const SCORES: usize = 16;

/// Creates the case with ASCII names only.
pub(super) fn ascii(size: usize) -> Result<Case, Failure> {
    case(size, "ASCII", value(size, false))
}

/// Creates the case in which some names are not ASCII.
pub(super) fn unicode(size: usize) -> Result<Case, Failure> {
    case(size, "a quarter of them not ASCII", value(size, true))
}

fn case(size: usize, names: &str, value: Records) -> Result<Case, Failure> {
    let value = forever(value);
    let size = number(size as f64);
    let about = format!("{size} records: u64, name of 8 to 24 bytes, {names}, {SCORES} x f32");
    let case = Case::new(about, value)?;
    #[cfg(feature = "peers")]
    let case = case.and_peers(value)?;
    Ok(case)
}

fn value(size: usize, unicode: bool) -> Records {
    let mut numbers = Numbers(1);
    let records = (0..size).map(|i| Record {
        id: numbers.next(),
        name: name(&mut numbers, unicode && i % 4 == 0),
        scores: (0..SCORES)
            .map(|_| numbers.below(10_000) as f32 / 100.0)
            .collect(),
    });
    Records {
        records: records.collect(),
    }
}

/// Returns a name of 8 to 24 bytes.
fn name(numbers: &mut Numbers, unicode: bool) -> String {
    const ASCII: &str = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ-0123456789";
    const BEYOND: &str = "äßéñøłжשم中語한😀";
    let len = 8 + numbers.below(17);
    let mut name = String::with_capacity(len);
    while name.len() < len {
        let from = if unicode && numbers.below(2) == 0 {
            BEYOND
        } else {
            ASCII
        };
        let drawn = from
            .chars()
            .nth(numbers.below(from.chars().count()))
            .unwrap_or('x');
        // A character that would exceed the length is replaced by a letter, so that any length can
        // be met.
        name.push(if name.len() + drawn.len_utf8() <= len {
            drawn
        } else {
            'x'
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_lengths_and_characters_asked_for() {
        let mut numbers = Numbers(7);
        for unicode in [false, true] {
            let names: Vec<_> = (0..500).map(|_| name(&mut numbers, unicode)).collect();
            assert!(names.iter().all(|name| (8..=24).contains(&name.len())));
            assert_eq!(names.iter().any(|name| !name.is_ascii()), unicode);
        }
        let data = value(100, true);
        assert!(data.records.iter().any(|record| record.name.is_ascii()));
        assert!(data.records.iter().any(|record| !record.name.is_ascii()));
        let data = value(100, false);
        assert!(data.records.iter().all(|record| record.name.is_ascii()));
    }
}
