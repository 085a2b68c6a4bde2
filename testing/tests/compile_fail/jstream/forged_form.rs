//! Generated code trusts that what arrives for a field is what its form has there; no safe code can
//! say that two other types are one.
#![forbid(unsafe_code)]

use jstream::Transportable;

#[derive(Transportable)]
pub struct Fake<'b> {
    x: &'b str,
}

impl<'b> jstream::__private::Form<Fake<'b>> for &'b [u64] {
    fn slot(_: *mut Fake<'b>) -> *mut Self {
        std::ptr::without_provenance_mut(0x40)
    }

    fn form<'x>(_: &'x Fake<'b>) -> &'x Self {
        unimplemented!()
    }
}

fn main() {}
