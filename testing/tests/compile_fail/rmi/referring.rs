//! Structs and enums with references in them derive `Referring`, and say so where they are passed.

use std::collections::HashMap;

use jstream_rmi::{Referring, Remote, remote};

#[remote]
trait Listener {
    fn heard(&self);
}

#[derive(Referring)]
struct Hidden {
    pair: (u32, Remote<dyn Listener>),
    all: HashMap<String, Remote<dyn Listener>>,
    one: Remote<dyn Listener>,
}

#[derive(Referring)]
struct Plain {
    id: u64,
}

#[derive(Referring)]
struct Generic<T> {
    of: T,
    one: Remote<dyn Listener>,
}

#[derive(Referring)]
enum Either<T> {
    One(Remote<dyn Listener>),
    Other(T),
    Pair((u32, Remote<dyn Listener>)),
}

#[derive(Referring)]
enum Nothing {
    None,
    Number(u64),
}

#[derive(Referring)]
union Both {
    one: u8,
}

fn main() {}
