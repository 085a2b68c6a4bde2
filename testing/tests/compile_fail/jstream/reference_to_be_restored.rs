//! A type that borrows can't be restored from its form.

use jstream::{Transportable, from_slice, to_vec};

#[derive(Transportable)]
struct Word {
    text: &'static str,
    parts: Vec<u8>,
}

fn main() {
    let word = Word { text: "a", parts: vec![] };
    let received = from_slice::<Word>(&to_vec(&word).unwrap()).unwrap();
    let _: Word = received.to_owned().unwrap();
}
