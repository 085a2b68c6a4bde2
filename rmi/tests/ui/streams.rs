//! What a stream can't be, or have.

use std::rc::Rc;

use jstream_rmi::{Received, Stream, remote};

#[remote]
trait Misplaced {
    fn nested(&self, all: &[Stream<u8>]);
    fn fallible(&self) -> Result<Stream<u8>, String>;
    fn of_streams(&self, all: Stream<Stream<u8>>);
    #[remote(one_way)]
    fn unanswered(&self, numbers: Stream<u8>);
    fn whole(&self, all: Received<Vec<u8>>) -> Stream<u8>;
    fn of_itself(&self, all: Stream<Self>);
}

struct Local;

#[remote]
trait Untransportable {
    fn of_local(&self, all: Stream<Local>);
    fn of_one_thread(&self) -> Stream<Rc<u8>>;
}

fn main() {}
