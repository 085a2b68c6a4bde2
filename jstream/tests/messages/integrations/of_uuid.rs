//! Types of the crate `uuid`.

use jstream::{Pool, Reader, Transportable, Writer};
use uuid::Uuid;

use crate::common::by_value::travels;

#[test]
fn by_value() {
    let one = Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    travels(&[one, Uuid::nil(), Uuid::max()]);
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct User {
    id: Uuid,
    name: String,
    groups: Vec<Uuid>,
}

/// A long vector of them is sent from where it is.
#[test]
fn in_a_type_that_owns() {
    let groups: Vec<Uuid> = (0..1000).map(Uuid::from_u128).collect();
    let user = User {
        id: Uuid::max(),
        name: "user".to_owned(),
        groups: groups.clone(),
    };
    let lent = Writer::new().gather(&user, |segments| {
        let start = user.groups.as_ptr().cast::<u8>();
        segments.iter().any(|segment| segment.as_ptr() == start)
    });
    assert!(lent.unwrap());
    let pool = Pool::default();
    let message = Writer::new().write_to(&user, &pool).unwrap();
    let received = Reader::default().read::<User>(message).unwrap();
    let expected = UserRef {
        id: Uuid::max(),
        name: "user",
        groups: &groups,
    };
    assert_eq!(received.get(), &expected);
}
