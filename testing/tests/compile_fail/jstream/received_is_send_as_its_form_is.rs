//! An object that must stay on its thread keeps its buffer there.

use std::marker::PhantomData;

use jstream::{Received, Transportable};

type Address = *const u8;

#[derive(Transportable)]
struct Local {
    id: u64,
    of: PhantomData<Address>,
}

fn send<T: Send>(_: T) {}

fn give_away(received: Received<Local>) {
    send(received);
}

fn main() {
    let _ = give_away;
}
