//! Objects are shared between connections.

use jstream_rmi::remote;
use std::cell::Cell;

#[remote]
trait Store {
    fn clear(&self);
}

struct Plain(Cell<u64>);

impl Store for Plain {
    fn clear(&self) {
        self.0.set(0);
    }
}

fn main() {}
