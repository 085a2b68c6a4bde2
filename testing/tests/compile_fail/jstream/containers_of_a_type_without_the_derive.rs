//! The target type of a container must be transportable.

use std::collections::HashMap;

use jstream::Transportable;

struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct List {
    legs: Vec<Leg>,
}

#[derive(Transportable)]
struct Choice {
    leg: Option<Leg>,
}

#[derive(Transportable)]
struct Names {
    by_name: HashMap<String, Leg>,
}

#[derive(Transportable)]
struct Single {
    leg: Box<Leg>,
}

fn main() {}
