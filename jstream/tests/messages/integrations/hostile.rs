//! Damaged messages of the types of other crates.

use arrayvec::{ArrayString, ArrayVec};
use bytes::{Bytes, BytesMut};
use jstream::testing::Kit;
use jstream::{Reader, RestoreError, Transportable, restore};
use smallvec::{SmallVec, smallvec};

use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Mixed {
    head: Bytes,
    body: Option<BytesMut>,
    texts: SmallVec<[String; 1]>,
    flags: SmallVec<[SmallVec<[bool; 1]>; 2]>,
    letters: ArrayVec<char, 3>,
    name: ArrayString<8>,
    nothing: ArrayVec<(), 2>,
}

#[test]
fn damage_gives_errors_or_valid_slices() {
    let value = Mixed {
        head: Bytes::from_static(b"head"),
        body: Some(BytesMut::from(&b"body"[..])),
        texts: smallvec!["grün".to_owned(), String::new()],
        flags: smallvec![smallvec![true, false], smallvec![]],
        letters: ArrayVec::from(['a', 'ß', '→']),
        name: ArrayString::from("näme").unwrap(),
        nothing: ArrayVec::from([(), ()]),
    };
    let kit = Kit::<Mixed>::visiting(|form: &MixedRef<'_>| {
        assert!(!format!("{form:?}").is_empty());
        // Content that does not fit gives an error, not a panic.
        if let Ok(owner) = form.to_owned() {
            assert!(owner.letters.len() <= 3 && owner.name.len() <= 8);
            assert_eq!(owner.texts.as_slice(), form.texts);
        }
    });
    let sound = kit.round_trip(&value).unwrap();
    let tally = kit.bytes(&sound).unwrap();
    assert!(tally.refused > 0 && tally.accepted > 0, "{tally:?}");
    assert_eq!(kit.lengths(&sound).unwrap().accepted, 0);
    kit.structure(&sound).unwrap();
    kit.lowered_limits(&sound).unwrap();
}

#[test]
fn slices_longer_than_the_array_are_received_and_not_restored() {
    let long = message(&vec![1u64; 9]);
    let received = Reader::default().read::<ArrayVec<u64, 8>>(long).unwrap();
    assert_eq!(received.get().len(), 9);
    let error = restore::<ArrayVec<u64, 8>>(received.get()).unwrap_err();
    assert!(matches!(error, RestoreError::Adapter(_)), "{error}");
    let long = message(&"nine bytes".to_owned());
    let received = Reader::default().read::<ArrayString<8>>(long).unwrap();
    let error = restore::<ArrayString<8>>(received.get()).unwrap_err();
    assert!(matches!(error, RestoreError::Adapter(_)), "{error}");
}
