//! A form that is not covariant could not be handed out.

use std::marker::PhantomData;

use jstream::Transportable;

type Both<'b> = fn(&'b str) -> &'b str;

#[derive(Transportable)]
struct Invariant<'b> {
    id: u64,
    of: PhantomData<Both<'b>>,
}

fn main() {}
