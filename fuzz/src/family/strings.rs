//! Strings, slices, arrays and boxes.

use std::num::NonZeroU32;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::Transportable;
use jstream::testing::Kit;

use super::{Family, kit, sent};
use crate::touch::touch_fields;

pub struct Strings;

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug))]
pub struct Texts {
    one: String,
    boxed: Box<str>,
    many: Vec<String>,
    nested: Vec<Vec<String>>,
    bytes: Vec<u8>,
    words: Box<[u64]>,
    wide: Vec<u128>,
    flags: Vec<bool>,
    letters: Vec<char>,
    nothing: Vec<()>,
    numbers: Vec<NonZeroU32>,
    mixed: Vec<(u8, u32, bool)>,
    pairs: Vec<(String, u8)>,
    #[allow(clippy::vec_box, reason = "tests adjacent pointers")]
    boxes: Vec<Box<u16>>,
    #[allow(clippy::redundant_allocation, reason = "tests a pointer to a pointer")]
    deep: Box<Box<String>>,
    array: [String; 2],
    matrix: [[i16; 2]; 3],
    inner: Vec<Texts>,
}

touch_fields!(TextsRef<'_>: one boxed many nested bytes words wide flags letters nothing numbers
    mixed pairs boxes deep array matrix inner);

impl Family for Strings {
    type Root = Texts;
    const NAME: &'static str = "strings_and_slices";

    fn kit() -> &'static Kit<Texts> {
        kit!(Texts)
    }

    fn sample() -> Vec<u8> {
        let texts = |inner| Texts {
            one: "grün".to_owned(),
            boxed: "→".into(),
            many: vec!["a".to_owned(), String::new(), "🦀".to_owned()],
            nested: vec![vec!["b".to_owned()], vec![]],
            bytes: vec![1, 2, 3],
            words: [u64::MAX, 0].into(),
            wide: vec![1],
            flags: vec![true, false, true],
            letters: vec!['a', char::MAX],
            nothing: vec![(); 3],
            numbers: vec![NonZeroU32::MIN; 2],
            mixed: vec![(1, 2, true), (3, 4, false)],
            pairs: vec![("c".to_owned(), 5)],
            boxes: vec![Box::new(6), Box::new(7)],
            deep: Box::new(Box::new("d".to_owned())),
            array: ["e".to_owned(), "f".to_owned()],
            matrix: [[1, 2], [3, 4], [5, 6]],
            inner,
        };
        sent(Self::kit(), &texts(vec![texts(vec![])]))
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &Texts::arbitrary(input)?))
    }
}
