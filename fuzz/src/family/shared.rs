//! Shared targets and cycles.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use arbitrary::{Arbitrary, Result, Unstructured};
use jstream::testing::Kit;
use jstream::{Shared, Transportable};
use typed_arena::Arena;

use super::{Family, kit, sent};
use crate::touch::{Seen, Touch, touch_fields};

pub struct SharedGraph;

/// Shared targets of several kinds, and a cycle of links.
#[derive(Transportable)]
#[transportable(invariant)]
pub struct Net<'b> {
    nodes: Shared<'b, [Node<'b>]>,
    again: Option<Shared<'b, [Node<'b>]>>,
    lead: Option<Shared<'b, Leaf<'b>>>,
    leaves: &'b [Shared<'b, Leaf<'b>>],
    texts: (Shared<'b, str>, Shared<'b, str>),
    numbers: [Shared<'b, u64>; 2],
    words: [Shared<'b, [u16]>; 2],
    ring: &'b Link<'b>,
    nothing: Option<Shared<'b, ()>>,
}

#[derive(Transportable, Clone)]
pub struct Node<'b> {
    name: &'b str,
    leaf: Option<Shared<'b, Leaf<'b>>>,
}

#[derive(Transportable, Clone)]
pub struct Leaf<'b> {
    flag: bool,
    before: Option<Shared<'b, Leaf<'b>>>,
    other: Option<Shared<'b, Leaf<'b>>>,
}

#[derive(Transportable)]
pub struct Link<'b> {
    ok: bool,
    leaf: Option<Shared<'b, Leaf<'b>>>,
    next: Cell<Option<&'b Link<'b>>>,
    previous: Cell<Option<&'b Link<'b>>>,
    list: Cell<Option<&'b [u32]>>,
}

touch_fields!(Net<'_>: nodes again lead leaves texts numbers words ring nothing);
touch_fields!(Node<'_>: name leaf);

// Visited without recursion, because chains of shared pointers may be long and cyclic.
impl Touch for Leaf<'_> {
    fn touch(&self, seen: &mut Seen) {
        let mut left = vec![*self.leaves()];
        self.flag.touch(seen);
        while let Some(pair) = left.pop() {
            for leaf in pair.into_iter().flatten() {
                if seen.is_new(leaf.get()) {
                    leaf.flag.touch(seen);
                    left.push(*leaf.leaves());
                }
            }
        }
    }
}

impl<'b> Leaf<'b> {
    fn leaves(&self) -> Box<[Option<Shared<'b, Leaf<'b>>>; 2]> {
        Box::new([self.before, self.other])
    }
}

impl Touch for Link<'_> {
    fn touch(&self, seen: &mut Seen) {
        let mut left = vec![self];
        // The pointer that led here is a plain one, or a shared one whose target was recorded.
        while let Some(link) = left.pop() {
            link.ok.touch(seen);
            link.leaf.touch(seen);
            if let Some(list) = link.list.get() {
                Shared::new(list).touch(seen);
            }
            for next in [link.next.get(), link.previous.get()].into_iter().flatten() {
                if seen.is_new(next) {
                    left.push(next);
                }
            }
        }
    }
}

/// Arenas that own the parts of a net.
#[derive(Default)]
struct Arenas<'a> {
    leaves: Arena<Leaf<'a>>,
    pointers: Arena<Shared<'a, Leaf<'a>>>,
    nodes: Arena<Node<'a>>,
    links: Arena<Link<'a>>,
}

fn net<'a>(input: &mut Unstructured<'_>, arenas: &'a Arenas<'a>) -> Result<Vec<u8>> {
    let mut leaves: Vec<Shared<'_, Leaf<'_>>> = Vec::new();
    for _ in 0..input.int_in_range(1..=12)? {
        let before = input.choose_index(leaves.len() + 1)?;
        let other = input.choose_index(leaves.len() + 1)?;
        leaves.push(Shared::new(arenas.leaves.alloc(Leaf {
            flag: input.arbitrary()?,
            before: leaves.get(before).copied(),
            other: leaves.get(other).copied(),
        })));
    }
    let pick = |input: &mut Unstructured<'_>| -> Result<_> {
        let at = input.choose_index(leaves.len() + 1)?;
        Ok(leaves.get(at).copied())
    };
    let mut nodes = Vec::new();
    for _ in 0..input.int_in_range(0..=4)? {
        nodes.push(Node {
            name: ["", "a", "ßc"][input.choose_index(3)?],
            leaf: pick(input)?,
        });
    }
    let mut links: Vec<&Link<'_>> = Vec::new();
    for _ in 0..input.int_in_range(1..=6)? {
        let link = arenas.links.alloc(Link {
            ok: input.arbitrary()?,
            leaf: pick(input)?,
            next: Cell::default(),
            previous: Cell::default(),
            list: Cell::new([None, Some(&[][..]), Some(&[1, 2, 3])][input.choose_index(3)?]),
        });
        links.push(link);
    }
    for link in &links {
        for pointer in [&link.next, &link.previous] {
            let at = input.choose_index(links.len() + 1)?;
            pointer.set(links.get(at).copied());
        }
    }
    let mut met = Vec::new();
    for _ in 0..input.int_in_range(0..=6)? {
        met.extend(pick(input)?);
    }
    let nodes: &[Node<'_>] = arenas.nodes.alloc_extend(nodes);
    let (text, number, words) = ("text", &7u64, [1u16, 2].as_slice());
    let net = Net {
        nodes: Shared::new(nodes),
        again: bool::arbitrary(input)?.then_some(Shared::new(nodes)),
        lead: pick(input)?,
        leaves: arenas.pointers.alloc_extend(met),
        texts: (Shared::new(text), Shared::new(text)),
        numbers: [Shared::new(number), Shared::new(number)],
        words: [Shared::new(words); 2],
        ring: links[0],
        nothing: bool::arbitrary(input)?.then_some(Shared::new(&())),
    };
    let sound = sent(SharedGraph::kit(), &net);
    // Owners of shared targets are sent in the same way.
    let (text, one): (Arc<str>, Rc<u64>) = (text.into(), Rc::new(7));
    let owned = vec![(text.clone(), one.clone()), (text, one)];
    sent(&Kit::<Vec<(Arc<str>, Rc<u64>)>>::new(), &owned);
    Ok(sound)
}

impl Family for SharedGraph {
    type Root = Net<'static>;
    const NAME: &'static str = "shared_and_cyclic";

    fn kit() -> &'static Kit<Net<'static>> {
        kit!(Net<'static>)
    }

    fn sample() -> Vec<u8> {
        let bytes: Vec<u8> = (0..=255u8).map(|n| n.wrapping_mul(37) ^ 5).collect();
        Self::message(&mut Unstructured::new(&bytes)).expect("there are enough bytes")
    }

    fn message(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
        net(input, &Arenas::default())
    }
}
