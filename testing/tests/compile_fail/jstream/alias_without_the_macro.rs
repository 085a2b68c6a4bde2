//! The form of an alias is found only if `alias!` has defined it, and so is that of a type that is
//! imported under another name.

use std::string::String as Text;

use jstream::Transportable;

type Name = String;
type Result<T> = std::result::Result<T, u8>;

#[derive(Transportable)]
struct Named {
    names: Vec<Name>,
}

#[derive(Transportable)]
struct Written {
    texts: Option<Box<Text>>,
}

#[derive(Transportable)]
struct Done {
    result: Box<Result<u8>>,
}

fn main() {}
