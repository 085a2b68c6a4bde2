//! Types of other crates need a feature. The error names it.

use jstream::Transportable;

/// Stands for the crate `uuid`.
mod uuid {
    pub struct Uuid(pub u128);
}

/// Stands for the crate `jiff`.
mod jiff {
    pub struct Timestamp(pub i64);
}

#[derive(Transportable)]
struct Order {
    id: uuid::Uuid,
    note: String,
}

#[derive(Transportable)]
struct Trade {
    at: jiff::Timestamp,
}

fn main() {}
