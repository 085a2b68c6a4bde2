//! A type by the name of an owner, which is none.

use jstream::Transportable;

mod names {
    #[derive(jstream::Transportable)]
    pub struct String {
        pub id: u64,
    }
}

#[derive(Transportable)]
struct Order {
    symbol: names::String,
}

fn main() {}
