//! An `impl` block with `async fn` needs `#[remote]`. The error says so by the name of a macro, and
//! shows no lifetime that the user can't place.

use jstream_rmi::remote;

#[remote]
trait Store {
    async fn get(&self, key: &str) -> u64;
    fn size(&self) -> u64;
}

#[remote]
trait Names {
    async fn longer<'a>(&self, one: &'a str, other: &'a str) -> &'a str;
}

struct Plain;

impl Store for Plain {
    async fn get(&self, key: &str) -> u64 {
        key.len() as u64
    }

    fn size(&self) -> u64 {
        1
    }
}

impl Names for Plain {
    async fn longer<'a>(&self, one: &'a str, other: &'a str) -> &'a str {
        if one.len() > other.len() { one } else { other }
    }
}

fn main() {}
