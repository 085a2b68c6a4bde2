//! An argument lives as long as its call; `Received` is for what is kept.

use jstream_rmi::remote;
use std::sync::Mutex;

#[remote]
trait Store {
    fn put(&self, name: &str);
}

struct Plain(Mutex<Vec<&'static str>>);

impl Store for Plain {
    fn put(&self, name: &str) {
        self.0.lock().unwrap().push(name);
    }
}

fn main() {}
