//! The error names the feature of a type in a container, too.

use std::collections::HashMap;

use jstream::Transportable;

/// Stands for the crate `uuid`.
mod uuid {
    pub struct Uuid(pub u128);
}
use uuid::Uuid;

#[derive(Transportable)]
struct List {
    ids: Vec<Uuid>,
}

#[derive(Transportable)]
struct Choice {
    id: Option<Uuid>,
}

#[derive(Transportable)]
struct Names {
    by_name: HashMap<String, Uuid>,
}

#[derive(Transportable)]
struct Single {
    id: Box<Uuid>,
}

fn main() {}
