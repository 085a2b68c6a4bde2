//! The cases `records` and `records-unicode`: many structs with a string and an array each.

use jstream::Transportable;

use super::with_rkyv::ArchivedOf;
use super::{Case, Data, Numbers, forever};
use crate::table::number;

#[derive(Transportable)]
pub(super) struct Records<'b> {
    records: &'b [Record<'b>],
}

#[derive(Transportable)]
struct Record<'b> {
    id: u64,
    name: &'b str,
    scores: &'b [f32],
}

#[derive(rkyv::Archive, rkyv::Serialize)]
pub(super) struct OwnedRecords {
    records: Vec<OwnedRecord>,
}

#[derive(rkyv::Archive, rkyv::Serialize)]
struct OwnedRecord {
    id: u64,
    name: String,
    scores: Vec<f32>,
}

/// Records whose names are ASCII.
pub(super) type Ascii = Named<false>;
/// Records some of whose names are not ASCII.
pub(super) type Unicode = Named<true>;

pub(super) struct Named<const UNICODE: bool>;

const SCORES: usize = 16;

impl<const UNICODE: bool> Case for Named<UNICODE> {
    const NAME: &'static str = if UNICODE {
        "records-unicode"
    } else {
        "records"
    };
    const SIZE: usize = 1_000;
    type Graph = Records<'static>;
    type Owned = OwnedRecords;

    fn about() -> String {
        let names = if UNICODE {
            "of 8 to 24 bytes, a quarter of them not ASCII"
        } else {
            "of 8 to 24 bytes, ASCII"
        };
        let size = number(Self::SIZE as f64);
        format!("{size} records: u64, name {names}, {SCORES} x f32")
    }

    fn data(size: usize) -> Data<Self> {
        let mut numbers = Numbers(1);
        let records = (0..size).map(|i| OwnedRecord {
            id: numbers.next(),
            name: name(&mut numbers, UNICODE && i % 4 == 0),
            scores: (0..SCORES)
                .map(|_| numbers.below(10_000) as f32 / 100.0)
                .collect(),
        });
        let owned: &OwnedRecords = forever(OwnedRecords {
            records: records.collect(),
        });
        let records = owned.records.iter().map(|record| Record {
            id: record.id,
            name: &record.name,
            scores: &record.scores,
        });
        let graph = forever(Records {
            records: records.collect::<Vec<_>>().leak(),
        });
        Data {
            graph,
            owned,
            sum: Self::sum_graph(graph),
        }
    }

    fn sum_graph<'b>(graph: &'b Records<'b>) -> u64 {
        let mut sum = 0u64;
        for record in graph.records {
            let scores = record.scores.iter().map(|score| u64::from(score.to_bits()));
            sum = sum.wrapping_add(record.id);
            sum = sum.wrapping_add(sum_bytes(record.name));
            sum = sum.wrapping_add(scores.sum());
        }
        sum
    }

    fn sum_archived(archived: &ArchivedOf<OwnedRecords>) -> u64 {
        let mut sum = 0u64;
        for record in archived.records.iter() {
            let scores = record.scores.iter();
            let scores = scores.map(|score| u64::from(score.to_native().to_bits()));
            sum = sum.wrapping_add(record.id.to_native());
            sum = sum.wrapping_add(sum_bytes(&record.name));
            sum = sum.wrapping_add(scores.sum());
        }
        sum
    }
}

#[inline]
fn sum_bytes(text: &str) -> u64 {
    text.bytes().map(u64::from).sum()
}

/// A name of 8 to 24 bytes.
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
        // What would be too long gives way to a letter, so that any length can be met.
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
        let data = Unicode::data(100).owned;
        assert!(data.records.iter().any(|record| record.name.is_ascii()));
        assert!(data.records.iter().any(|record| !record.name.is_ascii()));
        let data = Ascii::data(100).owned;
        assert!(data.records.iter().all(|record| record.name.is_ascii()));
    }
}
