//! Values that are invalid for their types.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;
use std::num::NonZeroU32;

use jstream::testing::{Meaning, places};
use jstream::{ReadError, Transportable};

use super::{Forged, read};

#[derive(Transportable, Debug)]
#[transportable(derive(Debug))]
#[repr(C)]
struct Checked {
    flag: bool,
    letter: char,
    number: NonZeroU32,
    side: Side,
    step: Step,
    text_tag: Option<char>,
    slot_tag: Option<u32>,
    result: Result<u8, bool>,
    list: Vec<Side>,
    boxed: Box<Inside>,
}

#[derive(Transportable, Debug)]
#[transportable(derive(Debug))]
#[repr(C)]
struct Inside {
    letters: Vec<char>,
    name: String,
}

#[derive(Transportable, Debug, Clone, Copy)]
enum Side {
    Buy,
    Sell = 9,
}

#[derive(Transportable, Debug, Clone, Copy)]
#[repr(i16)]
enum Step {
    Back = -2,
    On(bool) = 300,
}

fn checked() -> Forged<Checked> {
    let _ = Step::Back;
    Forged::of(&Checked {
        flag: true,
        letter: 'x',
        number: NonZeroU32::MIN,
        side: Side::Buy,
        step: Step::On(true),
        text_tag: Some('y'),
        slot_tag: Some(1),
        result: Err(true),
        list: vec![Side::Buy, Side::Sell],
        boxed: Box::new(Inside {
            letters: vec!['a', 'b'],
            name: "täxt".to_owned(),
        }),
    })
}

#[test]
fn values_that_are_none() {
    let mut checked = checked();
    for byte in [2, 3, 0x80, 0xff] {
        checked.put_byte(Meaning::Value, 0, byte);
        checked.expect("Checked.flag", &format!("byte {byte} is not a bool"));
        checked.put_byte(Meaning::Tag, 0, if byte == 3 { 1 } else { byte });
        checked.expect("Checked.side", "is not a Side");
        checked.put_byte(Meaning::Tag, 3, byte);
        checked.expect("Checked.slot_tag", "Option<u32>");
        checked.put_byte(Meaning::Tag, 5, byte);
        checked.expect("Checked.list[0]", "is not a Side");
    }
    for byte in [2, 3, 0x7f] {
        checked.put_byte(Meaning::Tag, 2, byte);
        checked.expect(
            "Checked.text_tag",
            "the tag of the Option<char> in the text segment",
        );
    }
    let at = checked.at(Meaning::Value, 1);
    for letter in [0xd800u32, 0xdfff, 0x11_0000, 0x8000_0078, u32::MAX] {
        checked.bytes[at..at + 4].copy_from_slice(&letter.to_le_bytes());
        checked.expect("Checked.letter", &format!("{letter:#x} is not a char"));
    }
    checked.put_byte(Meaning::Value, 2, 0);
    checked.expect("Checked.number", "0x0 is not a NonZero<u32>");
    let at = checked.at(Meaning::Tag, 1);
    for tag in [0i16, -1, -3, 299, 301, i16::MIN] {
        checked.bytes[at..at + 2].copy_from_slice(&tag.to_le_bytes());
        checked.expect("Checked.step", "is not a Step");
    }
    checked.put_byte(Meaning::Value, 3, 2);
    checked.expect("Checked.step.0", "byte 2 is not a bool");
}

#[derive(Transportable, Debug, Clone, Copy)]
enum Step3 {
    One,
    Two,
    Three,
}

#[test]
fn options_of_one_byte() {
    type Value = [Option<Step3>; 3];
    let value: Value = [Some(Step3::One), None, Some(Step3::Three)];
    let mut options = Forged::<Value>::of(&value);
    let _ = Step3::Two;
    let first = options.sound.len() - 3;
    assert_eq!(options.sound[first..], [0, 3, 2]);
    for byte in 0..=u8::MAX {
        options.bytes[first + 1] = byte;
        assert_eq!(places::<Value>(&options.bytes).complete, byte <= 3);
        if byte > 3 {
            options.expect("[Option<Step3>; 3][1]", "is not an Option<Step3>");
        } else {
            assert!(read::<Value>(&options.bytes).is_ok());
        }
    }
}

#[test]
fn values_that_are_none_behind_pointers() {
    let mut checked = checked();
    let last = checked.sound.len();
    let text = last - "täxt".len();
    for byte in [0xff, 0xc0, 0x80] {
        checked.bytes[text] = byte;
        assert_eq!(checked.error(), ReadError::NotUtf8 { offset: text });
    }
    // A character that the end of the text cuts off.
    checked.bytes[last - 1] = 0xc3;
    let offset = last - 1;
    assert_eq!(checked.error(), ReadError::NotUtf8 { offset });
    let at = checked.at(Meaning::Value, 7);
    checked.bytes[at + 1] = 0xd8;
    checked.expect("Checked.boxed.letters[0]", "0xd861 is not a char");
}

#[test]
fn keys_and_values_of_maps_are_checked() {
    type Value = (BTreeMap<char, bool>, HashMap<Side2, u8>);
    let value = (
        BTreeMap::from([('a', true)]),
        HashMap::from([(Side2::A, 1u8)]),
    );
    let mut maps = Forged::<Value>::of(&value);
    let name = "(BTreeMap<char, bool>, HashMap<Side2, u8>)";
    let at = maps.at(Meaning::Value, 0);
    maps.bytes[at + 1] = 0xd8;
    maps.expect(
        &format!("{name}.0.keys.elements[0]"),
        "0xd861 is not a char",
    );
    maps.put_byte(Meaning::Value, 1, 2);
    maps.expect(&format!("{name}.0.values[0]"), "byte 2 is not a bool");
    maps.put_byte(Meaning::Tag, 0, 1);
    maps.expect(
        &format!("{name}.1.keys.elements[0]"),
        "byte 1 is not a Side2",
    );
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Side2 {
    A,
}
