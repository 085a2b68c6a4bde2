//! A trait object hides no cell, through which an object could lead back to what refers to it.

use std::cell::Cell;

use jstream::Transportable;

#[jstream::transportable]
trait Shape {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Circle<'b> {
    back: Cell<Option<&'b Drawing<'b>>>,
}

impl Shape for Circle<'_> {}

#[derive(Transportable)]
struct Drawing<'b> {
    shape: &'b dyn Shape,
}

fn main() {}
