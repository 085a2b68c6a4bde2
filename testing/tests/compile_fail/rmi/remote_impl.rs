//! An `impl` block names the trait.

use jstream_rmi::remote;

struct Plain;

#[remote]
impl Plain {
    async fn run(&self) {}
}

#[remote]
trait Runs {
    async fn run(&self);
}

#[remote(instances(Runs))]
impl Runs for Plain {
    async fn run(&self) {}
}

fn main() {}
