//! A skipped field needs another type in the form if its own can't be in a buffer.

use std::sync::Mutex;

use jstream::Transportable;

#[derive(Transportable)]
struct Session {
    user: String,
    #[transportable(skip)]
    cache: Mutex<Vec<u8>>,
}

fn main() {}
