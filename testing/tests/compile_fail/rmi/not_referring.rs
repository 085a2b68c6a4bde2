//! A struct that is passed with references must derive `Referring`.

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
