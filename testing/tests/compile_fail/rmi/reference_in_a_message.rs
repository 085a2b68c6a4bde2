//! A struct that travels as it is has no references to remote objects.

use jstream::Transportable;
use jstream_rmi::{Remote, remote};

#[remote]
trait Listener {
    fn heard(&self);
}

#[derive(Transportable)]
struct Guest {
    name: String,
    listener: Option<Remote<dyn Listener>>,
}

fn main() {}
