//! Vectors of plain values, enums, options and results.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::num::{NonZeroI16, NonZeroU8, NonZeroU32, NonZeroU128, Saturating, Wrapping};

use super::{Case, Layout, case, leak};
use crate::types::twice::{Twice, first, second};
use crate::types::*;

pub fn plain() -> Vec<Case> {
    let integers = Integers {
        a: 0xfe,
        b: -2,
        c: 0xfedc,
        d: -0x1234,
        e: 0xfedc_ba98,
        f: i32::MIN,
        g: u64::MAX - 1,
        h: i64::MIN,
        i: u128::MAX - 0xff,
        j: i128::MIN + 1,
        k: 5,
        l: -5,
    };
    let floats = Floats {
        single: 0.1,
        double: 0.1,
        special: [f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::NAN],
        many: &[1.5, -2.25, 3.0],
    };
    let scalars = Scalars {
        yes: true,
        no: false,
        letter: 'ß',
        nothing: (),
        phantom: PhantomData,
        one: NonZeroU8::MIN,
        minus: NonZeroI16::new(-1).unwrap(),
        large: NonZeroU128::MAX,
        order: [Ordering::Less, Ordering::Equal, Ordering::Greater],
        wrapping: Wrapping(65535),
        saturating: Saturating(-128),
        full: ..,
    };
    vec![
        case("number", Layout::Fixed, &0x1234_5678u32, "305419896"),
        case("nothing", Layout::Fixed, &(), "null"),
        case(
            "integers",
            Layout::Fixed,
            &integers,
            r#"{"a": 254, "b": -2, "c": 65244, "d": -4660, "e": 4275878552, "f": -2147483648,
            "g": 18446744073709551614, "h": -9223372036854775808,
            "i": 340282366920938463463374607431768211200,
            "j": -170141183460469231731687303715884105727, "k": 5, "l": -5}"#,
        ),
        case(
            "floats",
            Layout::Fixed,
            &floats,
            r#"{"single": 0.10000000149011612, "double": 0.1,
            "special": ["inf", "-inf", -0.0, "nan"], "many": [1.5, -2.25, 3.0]}"#,
        ),
        case(
            "scalars",
            Layout::Fixed,
            &scalars,
            r#"{"yes": true, "no": false, "letter": "ß", "nothing": null, "phantom": null, "one": 1,
            "minus": -1, "large": 340282366920938463463374607431768211455,
            "order": ["Less", "Equal", "Greater"], "wrapping": {"0": 65535}, "saturating": {"0": -128},
            "full": null}"#,
        ),
    ]
}

pub fn structs() -> Vec<Case> {
    let arrays = Arrays {
        matrix: [[1, 2], [3, 4], [5, 6]],
        texts: ["one", "two"],
        units: [(); 3],
        none: [],
        letters: ['a', '\u{10ffff}'],
    };
    let enums = Enums {
        side: Side::Sell,
        color: Color::Blue,
        wide: Wide::High,
        signed: Signed::Minus,
        colors: &[Color::Green, Color::Red, Color::Blue],
        sides: &[Side::Sell, Side::Buy],
    };
    let names = Names {
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_1: 1,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_2: 2,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_3: 3,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_4: 4,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_5: 5,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_6: 6,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_7: 7,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_8: 8,
        a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_9: 9,
        größe: 10,
    };
    vec![
        case(
            "arrays",
            Layout::Fixed,
            &arrays,
            r#"{"matrix": [[1, 2], [3, 4], [5, 6]], "texts": ["one", "two"],
            "units": [null, null, null], "none": [], "letters": ["a", "\udbff\udfff"]}"#,
        ),
        case(
            "enums",
            Layout::Fixed,
            &enums,
            r#"{"side": "Sell", "color": "Blue", "wide": "High", "signed": "Minus",
            "colors": ["Green", "Red", "Blue"], "sides": ["Sell", "Buy"]}"#,
        ),
        case(
            "names",
            Layout::Fixed,
            &names,
            r#"{"a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_1": 1,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_2": 2,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_3": 3,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_4": 4,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_5": 5,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_6": 6,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_7": 7,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_8": 8,
            "a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_9": 9,
            "größe": 10}"#,
        ),
        case(
            "twice",
            Layout::Fixed,
            &Twice {
                a: &first::Part { of: 1 },
                b: &second::Part { of: 2 },
            },
            r#"{"a": {"of": 1}, "b": {"of": 2}}"#,
        ),
    ]
}

pub fn tagged() -> Vec<Case> {
    let shapes = Shapes {
        all: [
            Shape::Empty,
            Shape::Circle { radius: 2.5 },
            Shape::Named("named", &Shape::Circle { radius: 1.0 }),
            Shape::Flags([true, false, true]),
        ],
        flat: &[Flat::Some(1), Flat::None],
    };
    let options = |owned| Options {
        reference: [Some(&1), None],
        text: [Some("a"), None, Some("")],
        slice: [Some(&[1, 2]), None],
        non_zero: [NonZeroU32::new(5), None],
        flag: [None, Some(false), Some(true)],
        letter: [Some('x'), None],
        owned,
    };
    let tagged = Tagged {
        number: [Some(0), None],
        float: Some(1.5),
        pair: [
            Some(Pair {
                first: 1,
                second: "pair",
            }),
            None,
        ],
        unit: [Some(()), None],
        nested: [None, Some(None), Some(Some(3))],
        color: [Some(Color::Green), None],
        leg: Some(Leg {
            price: 1.0,
            quantity: 2,
            side: Side::Sell,
        }),
        result: [Ok(1), Err("wrong")],
        empty: [Ok(()), Err(())],
        many: &[Some(1), None],
    };
    let tuples = Tuples {
        one: (1,),
        mixed: (2, "three", 4),
        many: &[(5, true), (6, false)],
    };
    vec![
        case(
            "shapes",
            Layout::Fixed,
            &shapes,
            r#"{"all": ["Empty", {"Circle": {"radius": 2.5}},
            {"Named": {"0": "named", "1": {"Circle": {"radius": 1.0}}}},
            {"Flags": {"0": [true, false, true]}}], "flat": [{"Some": {"0": 1}}, "None"]}"#,
        ),
        case(
            "options",
            Layout::Fixed,
            &options(Some(leak(options(None)))),
            r#"{"reference": [{"Some": 1}, null], "text": [{"Some": "a"}, null, {"Some": ""}],
            "slice": [{"Some": [1, 2]}, null], "non_zero": [{"Some": 5}, null],
            "flag": [null, {"Some": false}, {"Some": true}],
            "letter": [{"Some": "x"}, null], "owned": {"Some":
            {"reference": [{"Some": 1}, null], "text": [{"Some": "a"}, null, {"Some": ""}],
            "slice": [{"Some": [1, 2]}, null], "non_zero": [{"Some": 5}, null],
            "flag": [null, {"Some": false}, {"Some": true}],
            "letter": [{"Some": "x"}, null], "owned": null}}}"#,
        ),
        case(
            "tagged",
            Layout::Chosen,
            &tagged,
            r#"{"number": [{"Some": 0}, null], "float": {"Some": 1.5},
            "pair": [{"Some": {"first": 1, "second": "pair"}}, null], "unit": [{"Some": null}, null],
            "nested": [null, {"Some": null}, {"Some": {"Some": 3}}],
            "color": [{"Some": "Green"}, null],
            "leg": {"Some": {"price": 1.0, "quantity": 2, "side": "Sell"}},
            "result": [{"Ok": 1}, {"Err": "wrong"}], "empty": [{"Ok": null}, {"Err": null}],
            "many": [{"Some": 1}, null]}"#,
        ),
        case(
            "tuples",
            Layout::Chosen,
            &tuples,
            r#"{"one": [1], "mixed": [2, "three", 4], "many": [[5, true], [6, false]]}"#,
        ),
    ]
}
