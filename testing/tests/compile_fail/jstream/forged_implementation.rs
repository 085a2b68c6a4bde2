//! Only the macros create casts to trait objects.

use std::marker::PhantomData;

use jstream::__private::{Castable, Class, inventory};
use jstream::{Transportable, transportable};

#[transportable]
trait Speak {}

#[derive(Transportable)]
struct Words {
    address: usize,
    length: usize,
}

#[derive(Transportable)]
struct Text<'b> {
    text: &'b str,
}

impl Speak for Text<'_> {}

fn lie<'x>(form: *const u8, _: PhantomData<&'x ()>) -> *const (dyn Speak + 'x) {
    form.cast::<Text<'x>>()
}

inventory::submit! {
    __SpeakImplementation(Castable {
        class: Class::of::<Words>(),
        cast: lie,
    })
}

fn main() {}
