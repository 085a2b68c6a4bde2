//! An older name is a text.

use jstream::Transportable;

#[derive(Transportable)]
struct Nothing {
    #[transportable(renamed_from())]
    number: u8,
}

#[derive(Transportable)]
struct Name {
    #[transportable(renamed_from = old)]
    number: u8,
}

#[derive(Transportable)]
struct NoValue {
    #[transportable(renamed_from)]
    number: u8,
}

#[derive(Transportable)]
struct NoDefault {
    #[transportable(default =)]
    number: u8,
}

#[derive(Transportable)]
struct Twice {
    #[transportable(default = 1, default)]
    number: u8,
}

#[derive(Transportable)]
enum Twofold {
    #[transportable(other)]
    #[transportable(other)]
    Unknown,
}

fn main() {}
