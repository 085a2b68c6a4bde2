//! The types of the vectors, with a layout that the language defines wherever that is possible.
#![allow(
    dead_code,
    reason = "most fields are only written, and looked at by other readers"
)]

mod of_std;

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::num::{NonZeroI16, NonZeroU8, NonZeroU32, NonZeroU128, Saturating, Wrapping};
use std::ops::RangeFull;
use std::rc::Rc;
use std::sync::Arc;

use jstream::{Adapter, Transportable, transportable};

pub use of_std::*;

#[derive(Transportable)]
#[repr(C)]
pub struct Integers {
    pub a: u8,
    pub b: i8,
    pub c: u16,
    pub d: i16,
    pub e: u32,
    pub f: i32,
    pub g: u64,
    pub h: i64,
    pub i: u128,
    pub j: i128,
    pub k: usize,
    pub l: isize,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Floats<'b> {
    pub single: f32,
    pub double: f64,
    pub special: [f64; 4],
    pub many: &'b [f32],
}

#[derive(Transportable)]
#[repr(C)]
pub struct Scalars {
    pub yes: bool,
    pub no: bool,
    pub letter: char,
    pub nothing: (),
    pub phantom: PhantomData<u64>,
    pub one: NonZeroU8,
    pub minus: NonZeroI16,
    pub large: NonZeroU128,
    pub order: [Ordering; 3],
    pub wrapping: Wrapping<u16>,
    pub saturating: Saturating<i8>,
    pub full: RangeFull,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Arrays<'b> {
    pub matrix: [[u16; 2]; 3],
    pub texts: [&'b str; 2],
    pub units: [(); 3],
    pub none: [&'b str; 0],
    pub letters: [char; 2],
}

#[derive(Transportable)]
#[repr(C)]
pub struct Order<'b> {
    pub id: u64,
    pub symbol: &'b str,
    pub legs: &'b [Leg],
    pub parent: Option<&'b Order<'b>>,
    pub open: bool,
    pub venue: &'b str,
}

#[derive(Transportable, Clone, Copy)]
#[repr(C)]
pub struct Leg {
    pub price: f64,
    pub quantity: u32,
    pub side: Side,
}

#[derive(Transportable, Clone, Copy)]
pub enum Side {
    Buy,
    Sell = 7,
}

/// An enum with contiguous tags from 0 to 2.
#[derive(Transportable, Clone, Copy)]
#[repr(u8)]
pub enum Color {
    Red,
    Green,
    Blue,
}

#[derive(Transportable, Clone, Copy)]
#[repr(u16)]
pub enum Wide {
    Low,
    High = 300,
}

#[derive(Transportable, Clone, Copy)]
#[repr(i8)]
pub enum Signed {
    Minus = -1,
    Zero,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Enums<'b> {
    pub side: Side,
    pub color: Color,
    pub wide: Wide,
    pub signed: Signed,
    pub colors: &'b [Color],
    pub sides: &'b [Side],
}

#[derive(Transportable)]
#[repr(u8)]
pub enum Shape<'b> {
    Empty,
    Circle { radius: f64 } = 9,
    Named(&'b str, &'b Shape<'b>),
    Flags([bool; 3]),
}

#[derive(Transportable)]
#[repr(i16)]
pub enum Flat {
    None = -300,
    Some(u32),
}

#[derive(Transportable)]
#[repr(C)]
pub struct Shapes<'b> {
    pub all: [Shape<'b>; 4],
    pub flat: &'b [Flat],
}

/// Options whose slot has the size of the payload.
#[derive(Transportable)]
#[repr(C)]
pub struct Options<'b> {
    pub reference: [Option<&'b u32>; 2],
    pub text: [Option<&'b str>; 3],
    pub slice: [Option<&'b [u16]>; 2],
    pub non_zero: [Option<NonZeroU32>; 2],
    pub flag: [Option<bool>; 3],
    pub letter: [Option<char>; 2],
    pub owned: Option<&'b Options<'b>>,
}

/// Options and results whose size the compiler chooses.
#[derive(Transportable)]
#[repr(C)]
pub struct Tagged<'b> {
    pub number: [Option<u32>; 2],
    pub float: Option<f64>,
    pub pair: [Option<Pair<u8, &'b str>>; 2],
    pub unit: [Option<()>; 2],
    pub nested: [Option<Option<u16>>; 3],
    pub color: [Option<Color>; 2],
    pub leg: Option<Leg>,
    pub result: [Result<u32, &'b str>; 2],
    pub empty: [Result<(), ()>; 2],
    pub many: &'b [Option<u64>],
}

#[derive(Transportable, Clone, Copy)]
#[repr(C)]
pub struct Pair<A, B> {
    pub first: A,
    pub second: B,
}

#[derive(Transportable)]
pub struct Owners {
    pub name: String,
    pub empty: String,
    pub numbers: Vec<u64>,
    pub names: Vec<String>,
    pub nested: Vec<Vec<u8>>,
    pub boxed: Box<u16>,
    pub text: Box<str>,
    pub next: Option<Box<Owners>>,
    pub cow: Cow<'static, str>,
    pub cows: Cow<'static, [u32]>,
    pub events: Vec<Event>,
}

#[derive(Transportable)]
pub enum Event {
    Nothing,
    Said { text: String, to: Vec<u32> },
    Moved(i32, i32),
}

#[derive(Transportable)]
#[repr(C)]
pub struct References<'b> {
    pub flat: &'b u64,
    pub object: &'b &'b str,
    pub units: &'b [()],
    pub slices: &'b [&'b [u16]],
    pub bytes: &'b [u8],
    pub none: &'b [u64],
    pub no_objects: &'b [&'b str],
    pub last: &'b u16,
}

/// Targets in bulk of 512 bytes and more begin at a multiple of 64.
#[derive(Transportable)]
#[repr(C)]
pub struct Long<'b> {
    pub first: &'b [u8],
    pub second: &'b [u8],
    pub third: &'b [u32],
}

#[derive(Transportable)]
#[repr(C, align(128))]
pub struct Aligned<'b> {
    pub id: u8,
    pub line: &'b [Line],
    pub object: &'b Pointing<'b>,
}

#[derive(Transportable)]
#[repr(C, align(64))]
pub struct Line {
    pub of: u32,
}

#[derive(Transportable)]
#[repr(C, align(32))]
pub struct Pointing<'b> {
    pub at: &'b str,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Tree<'b> {
    pub id: u32,
    pub children: &'b [Tree<'b>],
    pub next: Option<&'b Tree<'b>>,
}

#[derive(Transportable)]
pub struct Team {
    pub members: Vec<Rc<Member>>,
    pub lead: Option<Rc<Member>>,
    pub absent: Option<Rc<Member>>,
    pub motto: Arc<str>,
    pub also: Arc<str>,
    pub numbers: Arc<[u64]>,
    pub same: Arc<[u64]>,
    pub own: Rc<u64>,
}

#[derive(Transportable)]
pub struct Member {
    pub name: String,
    pub boss: Option<Rc<Member>>,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Node<'b> {
    #[transportable(shared)]
    pub next: Option<&'b Node<'b>>,
    pub id: u32,
}

#[derive(Transportable)]
#[repr(C)]
pub struct Ring<'b> {
    pub name: &'b str,
    pub next: Cell<Option<&'b Ring<'b>>>,
    pub back: Cell<Option<&'b Ring<'b>>>,
}

#[transportable]
pub trait Figure {}

#[derive(Transportable)]
#[repr(C)]
#[transportable(implements(Figure))]
pub struct Circle {
    pub radius: f64,
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
pub struct Group {
    pub label: String,
    pub parts: Vec<Box<dyn Figure>>,
}

#[derive(Transportable)]
#[transportable(implements(Figure))]
pub struct Dot;

impl Figure for Circle {}
impl Figure for Group {}
impl Figure for GroupRef<'_> {}
impl Figure for Dot {}

#[derive(Transportable)]
pub struct Drawing {
    pub figures: Vec<Box<dyn Figure>>,
    pub one: Option<Box<dyn Figure>>,
    pub none: Option<Box<dyn Figure>>,
    pub shared: [Rc<dyn Figure>; 2],
}

pub struct Angle {
    pub radians: f64,
}

pub struct AsRadians;

impl Adapter<Angle> for AsRadians {
    type Wire = f64;
    type Error = &'static str;

    fn to_wire(angle: &Angle) -> f64 {
        angle.radians
    }

    fn from_wire(radians: &f64) -> Result<Angle, &'static str> {
        Ok(Angle { radians: *radians })
    }
}

pub struct AsText;

impl Adapter<u64> for AsText {
    type Wire = String;
    type Error = std::num::ParseIntError;

    fn to_wire(n: &u64) -> String {
        n.to_string()
    }

    fn from_wire(text: &&str) -> Result<u64, std::num::ParseIntError> {
        text.parse()
    }
}

/// Fields whose wire form differs from the type of the field.
#[derive(Transportable)]
#[transportable(no_to_owned)]
pub struct Fields {
    pub id: u32,
    #[transportable(skip)]
    pub handle: u64,
    #[transportable(with = AsRadians)]
    pub by: Angle,
    #[transportable(with = AsText, form = &'b str)]
    pub of: u64,
    #[transportable(exclusive)]
    pub values: Vec<f32>,
}

/// Two types of the same structure, which a schema contains once.
pub mod twice {
    use super::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub struct Twice<'b> {
        pub a: &'b first::Part,
        pub b: &'b second::Part,
    }

    pub mod first {
        use super::Transportable;

        #[derive(Transportable)]
        #[repr(C)]
        pub struct Part {
            pub of: u8,
        }
    }

    pub mod second {
        use super::Transportable;

        #[derive(Transportable)]
        #[repr(C)]
        pub struct Part {
            pub of: u8,
        }
    }
}

/// A type whose schema is longer than one block of the checksum.
#[derive(Transportable)]
#[repr(C)]
#[allow(non_snake_case, reason = "long names")]
pub struct Names {
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_1: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_2: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_3: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_4: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_5: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_6: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_7: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_8: u8,
    pub a_name_that_is_there_to_be_long_and_says_nothing_whatever_about_what_it_names_9: u8,
    pub größe: u8,
}
