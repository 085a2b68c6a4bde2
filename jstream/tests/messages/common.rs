//! A recursive type with every kind of field, random graphs of it, and a walk over a whole graph.

pub(crate) mod by_value;

use std::num::NonZeroU32;

use jstream::{EmptyBuffer, Limits, MessageBuffer, Transportable, Writer};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use typed_arena::Arena;

/// A writer of messages of at most `bytes` bytes, of any depth.
pub(crate) fn limited(bytes: usize) -> Writer {
    let mut limits = Limits::default();
    limits.bytes = bytes;
    limits.depth = None;
    Writer::with_limits(limits)
}

/// A writer of messages that the default limits of a reader refuse.
pub(crate) fn unlimited() -> Writer {
    let mut limits = Limits::default();
    limits.depth = None;
    limits.zero_sized = usize::MAX;
    limits.pending = usize::MAX;
    limits.shared = usize::MAX;
    Writer::with_limits(limits)
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leg {
    pub(crate) price: f64,
    pub(crate) quantity: u32,
    pub(crate) side: Side,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
pub(crate) enum Side {
    Buy,
    Sell = 7,
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
#[repr(u8)]
pub(crate) enum Shape<'b> {
    Empty,
    Circle { radius: f64 } = 9,
    Polygon(&'b [(f32, f32)], Option<&'b str>),
    Nested(&'b Node<'b>),
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
pub(crate) struct Node<'b> {
    pub(crate) id: u64,
    pub(crate) name: &'b str,
    pub(crate) side: Side,
    pub(crate) letter: char,
    pub(crate) legs: &'b [Leg],
    pub(crate) tags: &'b [&'b str],
    pub(crate) flags: &'b [bool],
    pub(crate) flag: Option<bool>,
    pub(crate) count: Option<NonZeroU32>,
    pub(crate) pair: Option<(u8, &'b str)>,
    pub(crate) shape: Shape<'b>,
    pub(crate) matrix: [[i16; 2]; 3],
    pub(crate) children: &'b [Node<'b>],
    pub(crate) next: Option<&'b Node<'b>>,
}

/// The description from which [`plant`] builds a [`Node`].
#[derive(Debug, Clone)]
pub(crate) struct Seed {
    id: u64,
    name: String,
    sell: bool,
    letter: char,
    legs: Vec<(u32, u32, bool)>,
    tags: Vec<String>,
    flags: Vec<bool>,
    flag: Option<bool>,
    count: Option<NonZeroU32>,
    pair: Option<(u8, String)>,
    shape: u8,
    children: Vec<Seed>,
    next: Option<Box<Seed>>,
}

pub(crate) fn seeds() -> impl Strategy<Value = Seed> {
    let leaf = (
        any::<u64>(),
        ".{0,12}",
        any::<bool>(),
        any::<char>(),
        vec(any::<(u32, u32, bool)>(), 0..4),
        vec("[a-zäß→]{0,5}", 0..4),
        vec(any::<bool>(), 0..9),
        any::<Option<bool>>(),
        any::<Option<NonZeroU32>>(),
        option::of((any::<u8>(), ".{0,3}")),
        any::<u8>(),
    )
        .prop_map(
            |(id, name, sell, letter, legs, tags, flags, flag, count, pair, shape)| Seed {
                id,
                name,
                sell,
                letter,
                legs,
                tags,
                flags,
                flag,
                count,
                pair,
                shape,
                children: Vec::new(),
                next: None,
            },
        );
    leaf.prop_recursive(6, 40, 4, |inner| {
        (inner.clone(), vec(inner.clone(), 0..4), option::of(inner)).prop_map(
            |(mut seed, children, next)| {
                seed.children = children;
                seed.next = next.map(Box::new);
                seed
            },
        )
    })
}

/// Arenas that own the nodes of graphs of references.
#[derive(Default)]
pub(crate) struct Arenas<'a> {
    nodes: Arena<Node<'a>>,
    legs: Arena<Leg>,
    strings: Arena<&'a str>,
    points: Arena<(f32, f32)>,
}

fn side(sell: bool) -> Side {
    if sell { Side::Sell } else { Side::Buy }
}

pub(crate) fn plant<'a>(seed: &'a Seed, arenas: &'a Arenas<'a>) -> Node<'a> {
    let children: Vec<_> = seed.children.iter().map(|c| plant(c, arenas)).collect();
    let children: &[Node<'_>] = arenas.nodes.alloc_extend(children);
    let legs = seed.legs.iter().map(|(price, quantity, sell)| Leg {
        price: f64::from(*price),
        quantity: *quantity,
        side: side(*sell),
    });
    let points = (0..seed.shape % 5).map(|i| (f32::from(i), 0.5));
    Node {
        id: seed.id,
        name: &seed.name,
        side: side(seed.sell),
        letter: seed.letter,
        legs: arenas.legs.alloc_extend(legs),
        tags: arenas
            .strings
            .alloc_extend(seed.tags.iter().map(String::as_str)),
        flags: &seed.flags,
        flag: seed.flag,
        count: seed.count,
        pair: seed.pair.as_ref().map(|(n, s)| (*n, s.as_str())),
        shape: match (seed.shape, children.first()) {
            (0..64, _) => Shape::Empty,
            (64..128, _) => Shape::Circle {
                radius: f64::from(seed.shape),
            },
            (128..192, Some(child)) => Shape::Nested(child),
            _ => Shape::Polygon(
                arenas.points.alloc_extend(points),
                (seed.shape % 2 == 0).then_some("even"),
            ),
        },
        matrix: [[seed.shape.into(), -1], [2, 3], [4, i16::MIN]],
        children,
        next: seed
            .next
            .as_ref()
            .map(|next| &*arenas.nodes.alloc(plant(next, arenas))),
    }
}

/// Reads every value of a graph, so that a memory checker sees an access to each byte.
pub(crate) fn walk(node: &Node<'_>) -> u64 {
    let mut sum = node.id ^ node.name.chars().map(u64::from).sum::<u64>();
    sum ^= u64::from(node.letter) ^ u64::from(node.side == Side::Sell);
    for leg in node.legs {
        sum = sum.wrapping_add(leg.price.to_bits() ^ u64::from(leg.quantity));
        sum ^= u64::from(leg.side == Side::Buy);
    }
    for tag in node.tags {
        sum = sum.wrapping_add(tag.chars().map(u64::from).sum());
    }
    sum ^= node.flags.iter().filter(|flag| **flag).count() as u64;
    sum ^= u64::from(node.flag == Some(true)) ^ node.count.map_or(0, |n| u64::from(n.get()));
    sum ^= node.pair.map_or(0, |(n, s)| {
        u64::from(n) + s.chars().map(u64::from).sum::<u64>()
    });
    sum ^= match &node.shape {
        Shape::Empty => 1,
        Shape::Circle { radius } => radius.to_bits(),
        Shape::Polygon(points, name) => {
            let points = points
                .iter()
                .map(|(x, y)| u64::from(x.to_bits() ^ y.to_bits()));
            points.fold(0, u64::wrapping_add) ^ name.map_or(0, |name| name.chars().count() as u64)
        }
        Shape::Nested(node) => walk(node),
    };
    sum ^= node
        .matrix
        .iter()
        .flatten()
        .map(|n| *n as u16 as u64)
        .sum::<u64>();
    for child in node.children.iter().chain(node.next) {
        sum = sum.rotate_left(1) ^ walk(child);
    }
    sum
}

pub(crate) fn message<T: Transportable>(value: &T) -> MessageBuffer {
    let mut writer = unlimited();
    let len = writer.gather(value, |segments| {
        segments.iter().map(|s| s.len()).sum::<usize>()
    });
    writer
        .write(value, EmptyBuffer::heap(len.unwrap()))
        .unwrap()
}
