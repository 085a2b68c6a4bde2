//! Invalid uses of streams.

use std::rc::Rc;

use jstream_rmi::{Received, Stream, remote};

#[remote]
trait Misplaced {
    fn nested(&self, all: &[Stream<u8>]);
    fn fallible(&self) -> Result<Stream<u8>, String>;
    #[remote(one_way)]
    fn unanswered(&self, numbers: Stream<u8>);
    fn whole(&self, all: Received<Vec<u8>>) -> Stream<u8>;
}

#[remote]
trait OfOneThread {
    fn of_one_thread(&self) -> Stream<Rc<u8>>;
}

fn main() {}
