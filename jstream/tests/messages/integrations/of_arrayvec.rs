//! Types of the crate `arrayvec`.

use arrayvec::{ArrayString, ArrayVec};
use jstream::{Reader, Transportable};

use crate::common::message;

const MOST: usize = 4;

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Lists<const N: usize> {
    numbers: ArrayVec<u64, 8>,
    texts: ArrayVec<ArrayString<N>, MOST>,
    name: Option<ArrayString<16>>,
}

#[test]
fn as_slices_and_text() {
    for count in [0u64, 1, 4] {
        let lists = Lists::<3> {
            numbers: (0..count).collect(),
            texts: (0..count)
                .map(|_| ArrayString::from("äb").unwrap())
                .collect(),
            name: ArrayString::from("name").ok(),
        };
        let received = Reader::default().read::<Lists<3>>(message(&lists)).unwrap();
        let form = received.get();
        assert_eq!(form.numbers, lists.numbers.as_slice());
        assert_eq!(form.texts, vec!["äb"; form.numbers.len()]);
        assert_eq!(form.name, Some("name"));
    }
}
