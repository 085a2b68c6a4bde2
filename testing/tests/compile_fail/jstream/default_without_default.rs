//! A field has the default of its type only if the type has one, and a value of its own type.

use jstream::Transportable;

#[derive(Transportable)]
struct Leg {
    price: f64,
}

#[derive(Transportable)]
struct Order {
    #[transportable(default)]
    leg: Leg,
    name: String,
}

#[derive(Transportable)]
struct Other<'b> {
    #[transportable(default = "seven")]
    number: u32,
    #[transportable(default = 7)]
    name: &'b str,
    #[transportable(default = { let of = 1; move || of })]
    last: u8,
}

#[derive(Transportable)]
struct Generic<T> {
    #[transportable(default)]
    value: T,
}

fn main() {}
