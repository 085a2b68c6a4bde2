//! A recursive type with every kind of field, and graphs of it built from the fuzzer's bytes.

use std::num::{NonZeroU16, NonZeroU32};

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::Transportable;
use typed_arena::Arena;

// All types are `repr(C)` where possible, so that seeds stay valid with other compilers.

#[derive(Transportable, Debug, Clone, Copy)]
#[repr(C)]
pub struct Node<'b> {
    pub id: u64,
    pub name: &'b str,
    pub ratio: f64,
    pub weight: f32,
    pub letter: char,
    pub side: Side,
    pub open: bool,
    pub flag: Option<bool>,
    pub serial: NonZeroU16,
    pub count: Option<NonZeroU32>,
    pub large: Option<u128>,
    pub pair: Option<(u8, &'b str)>,
    pub legs: &'b [Leg],
    pub marks: &'b [Mark<'b>],
    pub tags: &'b [&'b str],
    pub flags: &'b [bool],
    pub letters: &'b [char],
    pub nothing: &'b [()],
    pub number: &'b &'b u32,
    pub alias: Option<&'b &'b str>,
    pub shape: Shape<'b>,
    pub matrix: [[i16; 2]; 3],
    pub children: &'b [Node<'b>],
    pub next: Option<&'b Node<'b>>,
}

/// A flat type with padding: a target in the bulk segment that is checked element by element.
#[derive(Transportable, Debug, Clone, Copy, Arbitrary)]
#[repr(C)]
pub struct Leg {
    pub price: f64,
    pub quantity: u32,
    pub side: Side,
    pub taken: bool,
}

/// A type that is not flat and has many tags.
#[derive(Transportable, Debug, Clone, Copy, Arbitrary)]
#[repr(C)]
pub struct Mark<'b> {
    pub note: Option<(u8, &'b str)>,
    pub twice: Option<Option<bool>>,
    pub text: Option<Option<&'b str>>,
    pub level: Option<char>,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Side {
    Buy,
    Sell = 7,
}

#[derive(Transportable, Debug, Clone, Copy)]
#[repr(u8)]
pub enum Shape<'b> {
    Empty,
    Circle {
        radius: f64,
    } = 9,
    Polygon(&'b [(f32, f32)], Option<&'b str>),
    Nested(&'b Node<'b>),
    Tagged {
        side: Side,
        maybe: Option<&'b Shape<'b>>,
    } = 0x80,
}

/// Arenas that own the nodes of graphs of references.
#[derive(Default)]
pub struct Arenas<'a> {
    nodes: Arena<Node<'a>>,
    shapes: Arena<Shape<'a>>,
    legs: Arena<Leg>,
    marks: Arena<Mark<'a>>,
    strings: Arena<&'a str>,
    flags: Arena<bool>,
    letters: Arena<char>,
    nothing: Arena<()>,
    numbers: Arena<u32>,
    number_refs: Arena<&'a u32>,
    points: Arena<(f32, f32)>,
}

/// The maximum number of nodes in a graph, not counting those of a list.
const NODES: usize = 64;
/// The maximum depth of a graph, which is built recursively.
const DEPTH: usize = 6;
/// The maximum length of a list. Reading a list needs no stack, so the limit only saves time.
const LIST: u16 = 300;

/// Builds a graph from `input`.
pub fn plant<'a>(input: &mut Unstructured<'a>, arenas: &'a Arenas<'a>) -> Result<Node<'a>> {
    let list = u8::arbitrary(input)?;
    let mut left = NODES;
    let mut head = node(input, arenas, DEPTH, &mut left)?;
    if list == u8::MAX {
        let link = Node {
            children: &[],
            next: None,
            shape: Shape::Empty,
            ..head
        };
        for _ in 0..u16::arbitrary(input)? % LIST {
            head = Node {
                next: Some(arenas.nodes.alloc(head)),
                ..link
            };
        }
    }
    Ok(head)
}

fn node<'a>(
    input: &mut Unstructured<'a>,
    arenas: &'a Arenas<'a>,
    depth: usize,
    left: &mut usize,
) -> Result<Node<'a>> {
    *left = left.saturating_sub(1);
    let mut children = Vec::new();
    let mut next = None;
    if depth > 0 && !input.is_empty() {
        for _ in 0..input.int_in_range(0..=3)? {
            if *left > 0 {
                children.push(node(input, arenas, depth - 1, left)?);
            }
        }
        if *left > 0 && input.arbitrary()? {
            let after = node(input, arenas, depth - 1, left)?;
            next = Some(&*arenas.nodes.alloc(after));
        }
    }
    let number = arenas.numbers.alloc(input.arbitrary()?);
    let alias: Option<&str> = input.arbitrary()?;
    Ok(Node {
        id: input.arbitrary()?,
        name: input.arbitrary()?,
        ratio: input.arbitrary()?,
        weight: input.arbitrary()?,
        letter: input.arbitrary()?,
        side: input.arbitrary()?,
        open: input.arbitrary()?,
        flag: input.arbitrary()?,
        serial: input.arbitrary().unwrap_or(NonZeroU16::MIN),
        count: input.arbitrary().unwrap_or(None),
        large: input.arbitrary()?,
        pair: input.arbitrary()?,
        legs: several(input, &arenas.legs)?,
        marks: several(input, &arenas.marks)?,
        tags: several(input, &arenas.strings)?,
        flags: several(input, &arenas.flags)?,
        letters: several(input, &arenas.letters)?,
        nothing: several(input, &arenas.nothing)?,
        number: arenas.number_refs.alloc(number),
        alias: alias.map(|alias| &*arenas.strings.alloc(alias)),
        shape: shape(input, arenas, depth, left)?,
        matrix: input.arbitrary()?,
        children: arenas.nodes.alloc_extend(children),
        next,
    })
}

fn shape<'a>(
    input: &mut Unstructured<'a>,
    arenas: &'a Arenas<'a>,
    depth: usize,
    left: &mut usize,
) -> Result<Shape<'a>> {
    Ok(match input.int_in_range(0..=4)? {
        1 => Shape::Circle {
            radius: input.arbitrary()?,
        },
        2 => Shape::Polygon(several(input, &arenas.points)?, input.arbitrary()?),
        3 if depth > 0 && *left > 0 => {
            let inner = node(input, arenas, depth - 1, left)?;
            Shape::Nested(arenas.nodes.alloc(inner))
        }
        4 if depth > 0 => {
            let inner = shape(input, arenas, depth - 1, left)?;
            Shape::Tagged {
                side: input.arbitrary()?,
                maybe: input
                    .arbitrary::<bool>()?
                    .then_some(arenas.shapes.alloc(inner)),
            }
        }
        _ => Shape::Empty,
    })
}

/// Returns a slice of up to seven values.
fn several<'a, T: Arbitrary<'a>>(
    input: &mut Unstructured<'a>,
    arena: &'a Arena<T>,
) -> Result<&'a [T]> {
    let mut all = Vec::new();
    if !input.is_empty() {
        for _ in 0..input.int_in_range(0..=7)? {
            all.push(input.arbitrary()?);
        }
    }
    Ok(arena.alloc_extend(all))
}
