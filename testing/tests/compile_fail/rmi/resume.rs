//! Invalid uses of streams that are resumed.

use jstream_rmi::{Remote, Stream, remote};

#[remote]
trait Other {
    fn done(&self);
}

#[remote]
trait Misplaced {
    #[remote(resume = "start")]
    fn unnamed(&self, from: u64) -> Stream<u8>;
    #[remote(resume = "from")]
    fn no_stream(&self, from: u64) -> u64;
    #[remote(resume = "from")]
    fn passes(&self, from: u64, other: Remote<dyn Other>) -> Stream<u8>;
    #[remote(resume = "from")]
    fn sends(&self, from: u64, other: Stream<u8>) -> Stream<u8>;
    #[remote(resume)]
    fn without_name(&self, from: u64) -> Stream<u8>;
}

#[remote]
trait Types {
    #[remote(resume = "from")]
    fn float(&self, from: f64) -> Stream<u8>;
    #[remote(resume = "from")]
    fn text(&self, from: &str) -> Stream<u8>;
    #[remote(resume = "from")]
    fn number(&self, from: &u64) -> Stream<u8>;
}

fn main() {}
