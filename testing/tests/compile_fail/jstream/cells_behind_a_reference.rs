//! A type that refers to types with cells has to say so: its form is not covariant.

use std::cell::Cell;

use jstream::Transportable;

#[derive(Transportable)]
struct Node<'b> {
    next: Cell<Option<&'b Node<'b>>>,
}

#[derive(Transportable)]
struct Graph<'b> {
    first: &'b Node<'b>,
}

fn main() {}
