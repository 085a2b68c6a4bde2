//! Trait objects of two traits with classes in common.

use std::rc::Rc;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::testing::Kit;
use jstream::{Shared, Transportable, transportable};

use super::{Family, kit, sent};
use crate::touch::{Seen, Touch, touch_fields};

pub struct Dynamic;

#[transportable]
pub trait Figure {
    fn look(&self, seen: &mut Seen);
    /// Returns the size of the object.
    fn size(&self) -> usize;
}

#[transportable]
pub trait Named {
    fn name(&self) -> String;
}

#[derive(Transportable, Arbitrary, Clone, Copy)]
#[transportable(implements(Figure))]
pub struct Circle {
    radius: f64,
    filled: bool,
}

#[derive(Transportable, Arbitrary, Clone, Copy)]
#[transportable(implements(Figure), implements(Named))]
pub struct Square {
    side: char,
}

#[derive(Transportable, Arbitrary, Clone, Copy)]
#[transportable(implements(Figure))]
pub struct Point;

#[derive(Transportable, Arbitrary, Clone, Copy)]
#[transportable(implements(Named))]
pub struct Id(u32);

#[derive(Transportable)]
#[transportable(implements(Figure), implements(Named))]
pub struct Group {
    label: String,
    parts: Vec<Box<dyn Figure>>,
    name: Option<Box<dyn Named>>,
}

touch_fields!(Circle: radius filled);
touch_fields!(Square: side);
touch_fields!(GroupRef<'_>: label parts name);

macro_rules! figures {
    ($($type:ty)*) => {$(
        impl Figure for $type {
            fn look(&self, seen: &mut Seen) {
                self.touch(seen);
            }
            fn size(&self) -> usize {
                size_of::<Self>()
            }
        }
    )*};
}

figures!(Circle Square GroupRef<'_>);

impl Figure for Point {
    fn look(&self, _: &mut Seen) {}
    fn size(&self) -> usize {
        0
    }
}

// Only received objects are visited, not the ones that are sent.
impl Figure for Group {
    fn look(&self, _: &mut Seen) {}
    fn size(&self) -> usize {
        size_of::<Self>()
    }
}

impl Named for Square {
    fn name(&self) -> String {
        self.side.to_string()
    }
}

impl Named for Id {
    fn name(&self) -> String {
        self.0.to_string()
    }
}

impl Named for Group {
    fn name(&self) -> String {
        self.label.clone()
    }
}

impl Named for GroupRef<'_> {
    fn name(&self) -> String {
        self.label.to_owned()
    }
}

impl Touch for &(dyn Figure + '_) {
    fn touch(&self, seen: &mut Seen) {
        assert_eq!(self.size(), size_of_val(*self));
        if seen.is_new(*self) {
            self.look(seen);
        }
    }
}

impl<'b> Touch for Shared<'b, dyn Figure + 'b> {
    fn touch(&self, seen: &mut Seen) {
        self.get().touch(seen);
    }
}

impl Touch for &(dyn Named + '_) {
    fn touch(&self, _: &mut Seen) {
        let name = self.name();
        assert!(std::str::from_utf8(name.as_bytes()).is_ok());
    }
}

#[derive(Transportable)]
pub struct Drawing {
    title: String,
    main: Box<dyn Figure>,
    all: Vec<Box<dyn Figure>>,
    best: Option<Rc<dyn Figure>>,
    also: Option<Rc<dyn Figure>>,
    names: Vec<Box<dyn Named>>,
}

touch_fields!(DrawingRef<'_>: title main all best also names);

fn figure(input: &mut Unstructured<'_>, depth: usize) -> Result<Box<dyn Figure>> {
    Ok(match input.int_in_range(0..=3)? {
        0 => Box::new(Circle::arbitrary(input)?),
        1 => Box::new(Square::arbitrary(input)?),
        2 if depth > 0 => Box::new(group(input, depth - 1)?),
        _ => Box::new(Point),
    })
}

fn figures(input: &mut Unstructured<'_>, depth: usize) -> Result<Vec<Box<dyn Figure>>> {
    let count = input.int_in_range(0..=4)?;
    (0..count).map(|_| figure(input, depth)).collect()
}

fn group(input: &mut Unstructured<'_>, depth: usize) -> Result<Group> {
    Ok(Group {
        label: input.arbitrary()?,
        parts: figures(input, depth)?,
        name: Some(named(input, depth)?),
    })
}

fn named(input: &mut Unstructured<'_>, depth: usize) -> Result<Box<dyn Named>> {
    Ok(match input.int_in_range(0..=2)? {
        0 => Box::new(Square::arbitrary(input)?),
        1 if depth > 0 => Box::new(group(input, depth - 1)?),
        _ => Box::new(Id::arbitrary(input)?),
    })
}

fn drawing(input: &mut Unstructured<'_>) -> Result<Drawing> {
    let best: Rc<dyn Figure> = match input.int_in_range(0..=2)? {
        0 => Rc::new(Circle::arbitrary(input)?),
        1 => Rc::new(group(input, 2)?),
        _ => Rc::new(Square::arbitrary(input)?),
    };
    let names = input.int_in_range(0..=3)?;
    Ok(Drawing {
        title: input.arbitrary()?,
        main: figure(input, 3)?,
        all: figures(input, 3)?,
        best: Some(best.clone()),
        also: bool::arbitrary(input)?.then_some(best),
        names: (0..names).map(|_| named(input, 2)).collect::<Result<_>>()?,
    })
}

impl Family for Dynamic {
    type Root = Drawing;
    const NAME: &'static str = "dynamic";

    fn kit() -> &'static Kit<Drawing> {
        kit!(Drawing)
    }

    fn sample() -> Vec<u8> {
        let best: Rc<dyn Figure> = Rc::new(Square { side: 'x' });
        let group = |parts| Group {
            label: "gröup".to_owned(),
            parts,
            name: Some(Box::new(Id(3))),
        };
        let circle = Circle {
            radius: 1.0,
            filled: true,
        };
        let inner = group(vec![Box::new(Point), Box::new(circle)]);
        let drawing = Drawing {
            title: "all".to_owned(),
            main: Box::new(group(vec![Box::new(inner)])),
            all: vec![
                Box::new(circle),
                Box::new(Point),
                Box::new(Square { side: 'y' }),
            ],
            best: Some(best.clone()),
            also: Some(best),
            names: vec![Box::new(Id(1)), Box::new(Square { side: 'ß' })],
        };
        sent(Self::kit(), &drawing)
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        Ok(sent(Self::kit(), &drawing(input)?))
    }
}
