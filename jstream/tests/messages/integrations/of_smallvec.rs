//! Types of the crate `smallvec`.

use jstream::{Covariant, Reader, Transportable};
use smallvec::{SmallVec, smallvec};

use crate::common::message;

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Lists {
    numbers: SmallVec<[u32; 4]>,
    texts: SmallVec<[String; 2]>,
    nested: Option<SmallVec<[SmallVec<[bool; 1]>; 1]>>,
}

#[test]
fn as_slices_inline_and_spilled() {
    for count in [0, 3, 4, 5, 100] {
        let lists = Lists {
            numbers: (0..count).collect(),
            texts: (0..count).map(|n| n.to_string()).collect(),
            nested: Some(smallvec![smallvec![], smallvec![true, false]]),
        };
        assert_eq!(lists.numbers.spilled(), count > 4);
        let received = Reader::default().read::<Lists>(message(&lists)).unwrap();
        let form = received.get();
        assert_eq!(form.numbers, lists.numbers.as_slice());
        assert_eq!(form.texts, lists.texts.as_slice());
        assert_eq!(form.nested, Some([&[][..], &[true, false]].as_slice()));
    }
}

#[test]
fn is_covariant() {
    fn covariant<T: Covariant>() {}
    covariant::<SmallVec<[String; 2]>>();
}
