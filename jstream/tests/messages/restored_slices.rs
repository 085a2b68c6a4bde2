//! A value restored from its form equals the value that was sent.

use std::rc::Rc;
use std::sync::Arc;

use jstream::{Reader, Spent, Writer, restore};

type Slices = (Rc<[u8]>, Rc<[u8]>, Arc<str>, Arc<str>);

#[test]
fn an_empty_slice_is_not_taken_for_the_next_one() {
    let slices: Slices = (Rc::new([]), Rc::new([1, 2]), "".into(), "text".into());
    let message = Writer::new().write(&slices, Spent::heap(512)).unwrap();
    let received = Reader::default().read::<Slices>(message).unwrap();
    let restored: Slices = restore(received.get()).unwrap();
    assert_eq!(restored, slices);
}
