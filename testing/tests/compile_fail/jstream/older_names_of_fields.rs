//! An older name is a name, differs from those of today, and belongs to one field.

use jstream::Transportable;

#[derive(Transportable)]
struct Order<'b> {
    #[transportable(renamed_from = "")]
    a: u8,
    #[transportable(renamed_from = "line\nbreak")]
    b: u8,
    #[transportable(renamed_from = "r#type")]
    c: u8,
    #[transportable(renamed_from("x", "d"))]
    d: u8,
    #[transportable(renamed_from = "a")]
    e: &'b str,
    #[transportable(renamed_from("y", "x"))]
    f: u8,
    #[transportable(renamed_from("z", "z"), renamed_from = "z")]
    r#type: u8,
    #[transportable(renamed_from = "type")]
    g: u8,
}

#[derive(Transportable)]
#[transportable(renamed_from = "Order", renamed_from("Quote", "Pair", "Quote"))]
struct Pair(#[transportable(renamed_from = "1")] u8, #[transportable(renamed_from = "1")] u8);

#[derive(Transportable)]
#[transportable(renamed_from("Owner", "OwnerRef"))]
struct Owner {
    name: String,
}

fn main() {}
