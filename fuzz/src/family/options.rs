//! Options, results and enums: all types with tags.

use std::cmp::Ordering;
use std::num::{NonZeroI64, NonZeroU8};
use std::ops::{Bound, Range};

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::Transportable;
use jstream::testing::Kit;

use super::{Family, kit, sent};
use crate::touch::{Seen, Touch, bits, touch_fields};

pub struct Options;

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug))]
pub struct Tagged {
    flag: Option<bool>,
    twice: Option<Option<bool>>,
    letter: Option<char>,
    small: Option<NonZeroU8>,
    large: Option<u128>,
    text: Option<String>,
    pair: Option<(u8, Option<String>)>,
    boxed: Option<Box<Tagged>>,
    list: Option<Vec<Option<NonZeroI64>>>,
    result: std::result::Result<u8, String>,
    empty: std::result::Result<(), bool>,
    nested: std::result::Result<Option<Vec<bool>>, Option<char>>,
    side: Side,
    sides: Vec<Option<Side>>,
    step: Step,
    wide: [Wide; 2],
    shapes: Vec<Shape>,
    maybe: Option<Shape>,
    bounds: (Bound<u16>, Bound<String>),
    range: Range<char>,
    #[arbitrary(with = orders)]
    orders: Vec<Ordering>,
}

fn orders(input: &mut Unstructured<'_>) -> Result<Vec<Ordering>> {
    let signs: Vec<i8> = super::several(input, 4)?;
    Ok(signs.iter().map(|sign| sign.cmp(&0)).collect())
}

#[derive(Transportable, Arbitrary, Debug, Clone, Copy)]
pub enum Side {
    Buy,
    Sell = 7,
}

#[derive(Transportable, Arbitrary, Debug, Clone, Copy)]
#[repr(i16)]
pub enum Step {
    Back = -300,
    Stay = 0,
    On,
}

#[derive(Transportable, Arbitrary, Debug, Clone, Copy)]
#[repr(u64)]
pub enum Wide {
    Low = 3,
    High(bool) = 1 << 40,
    Both { first: u8, second: Option<char> },
}

#[derive(Transportable, Arbitrary, Debug)]
#[transportable(derive(Debug))]
pub enum Shape {
    Empty,
    Circle { radius: f64 },
    Polygon(Vec<(f32, f32)>, Option<String>),
    Group(Vec<Shape>),
    Sided(Side, Box<Tagged>),
}

impl Touch for Side {
    fn touch(&self, _: &mut Seen) {
        assert!(matches!(bits(self, 0u8), 0 | 7), "no Side");
    }
}

impl Touch for Step {
    fn touch(&self, _: &mut Seen) {
        assert!(matches!(bits(self, 0i16), -300 | 0 | 1), "no Step");
    }
}

impl Touch for Wide {
    fn touch(&self, seen: &mut Seen) {
        match self {
            Self::Low => {}
            Self::High(flag) => flag.touch(seen),
            Self::Both { first, second } => (*first, *second).touch(seen),
        }
    }
}

impl Touch for ShapeRef<'_> {
    fn touch(&self, seen: &mut Seen) {
        match self {
            Self::Empty => {}
            Self::Circle { radius } => radius.touch(seen),
            Self::Polygon(points, name) => {
                points.touch(seen);
                name.touch(seen);
            }
            Self::Group(shapes) => shapes.touch(seen),
            Self::Sided(side, tagged) => {
                side.touch(seen);
                tagged.touch(seen);
            }
        }
    }
}

touch_fields!(TaggedRef<'_>: flag twice letter small large text pair boxed list result empty nested
    side sides step wide shapes maybe bounds range orders);

fn sample(boxed: Option<Box<Tagged>>, maybe: Option<Shape>) -> Tagged {
    Tagged {
        flag: Some(true),
        twice: Some(None),
        letter: Some('ß'),
        small: NonZeroU8::new(3),
        large: Some(4),
        text: Some("text".to_owned()),
        pair: Some((1, Some("ä".to_owned()))),
        boxed,
        list: Some(vec![None, NonZeroI64::new(-1)]),
        result: Err("why".to_owned()),
        empty: Err(true),
        nested: Ok(Some(vec![true, false])),
        side: Side::Sell,
        sides: vec![Some(Side::Buy), None],
        step: Step::Back,
        wide: [
            Wide::High(true),
            Wide::Both {
                first: 1,
                second: Some('x'),
            },
        ],
        shapes: vec![
            Shape::Empty,
            Shape::Circle { radius: 1.0 },
            Shape::Polygon(vec![(1.0, 2.0)], Some("p".to_owned())),
            Shape::Group(vec![Shape::Empty]),
        ],
        maybe,
        bounds: (Bound::Excluded(9), Bound::Included("b".to_owned())),
        range: 'a'..'y',
        orders: vec![Ordering::Less, Ordering::Greater],
    }
}

impl Family for Options {
    type Root = Tagged;
    const NAME: &'static str = "options_and_enums";

    fn kit() -> &'static Kit<Tagged> {
        kit!(Tagged)
    }

    fn sample() -> Vec<u8> {
        let maybe = Shape::Sided(Side::Buy, Box::new(sample(None, None)));
        let boxed = Box::new(sample(None, None));
        sent(Self::kit(), &sample(Some(boxed), Some(maybe)))
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &Tagged::arbitrary(input)?))
    }
}
