//! Only what is served can be called by a reference.

use jstream_rmi::{Remote, remote};

trait Plain: Send + Sync {}

#[remote]
trait Room {
    fn join(&self, who: Remote<dyn Plain>);
}

fn main() {}
