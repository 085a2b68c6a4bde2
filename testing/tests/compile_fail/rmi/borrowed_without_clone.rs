//! A call passes copies of the references that a method borrows.

use jstream_rmi::{Referring, Remote, remote};

#[remote]
trait Listener {
    fn heard(&self);
}

#[derive(Referring)]
struct Guest {
    listener: Remote<dyn Listener>,
}

#[remote]
trait Room {
    fn join(&self, guests: &[Referring<Guest>]);
}

fn main() {}
