//! What is passed as a struct with references derives `Referring`.

use jstream_rmi::{Referring, Remote, remote};

#[remote]
trait Listener {
    fn heard(&self);
}

struct Guest {
    listener: Remote<dyn Listener>,
}

#[remote]
trait Room {
    fn join(&self, who: Referring<Guest>);
}

fn main() {}
