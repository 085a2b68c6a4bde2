//! Forwarding of received objects, changed or not. If all pointers of an object still lead to the
//! same targets, it is sent from its buffer without a copy.

use std::cell::Cell;

use jstream::buffer::PoolOptions;
use jstream::{
    EmptyBuffer, ForwardedMessage, Pool, Reader, Received, Shared, Transportable, WriteError,
    Writer,
};
use proptest::prelude::*;
use testing::allocator::allocations_of as allocations;

/// Free bytes behind a message, as buffers of a pool have them.
const SLACK: usize = 1024;

fn received<T: Transportable + 'static, V: Transportable>(value: &V, slack: usize) -> Received<T> {
    let message = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 16))
        .unwrap();
    let exact = EmptyBuffer::heap(message.len() + slack);
    let message = exact.copy_from(message.as_bytes()).unwrap();
    Reader::default().read::<T>(message).unwrap()
}

/// Forwards an object, checks that the result equals the message that writing the object produces,
/// and reads it again. The returned flag is true if the object was forwarded in place.
fn forwarded<T>(received: Received<T>) -> (bool, Received<T>)
where
    T: Transportable + 'static,
    for<'x> T::InPlace<'x>: Transportable,
{
    let expected = received.with(|object| {
        let message = Writer::new()
            .write(object, EmptyBuffer::heap(1 << 16))
            .unwrap();
        message.as_bytes().to_vec()
    });
    let ForwardedMessage {
        message, in_place, ..
    } = Writer::new().forward(received).unwrap();
    assert_eq!(message.as_bytes(), expected);
    (in_place, Reader::default().read::<T>(message).unwrap())
}

#[derive(Transportable, Debug, PartialEq)]
#[repr(C)]
struct Node<'b> {
    small: u8,
    large: u64,
    maybe: Option<bool>,
    name: &'b str,
    alias: Option<&'b str>,
    next: Option<&'b Node<'b>>,
    other: Option<&'b Node<'b>>,
    numbers: &'b [u16],
}

const LEAF: Node<'_> = Node {
    small: 1,
    large: 2,
    maybe: None,
    name: "leaf",
    alias: Some("a"),
    next: None,
    other: None,
    numbers: &[1, 2, 3],
};

/// A function that changes an object.
type Change = for<'x, 'y> fn(&'y mut Node<'x>);

#[test]
fn a_changed_root_goes_on_in_place_or_is_copied() {
    let branch = Node {
        name: "branch",
        next: Some(&LEAF),
        ..LEAF
    };
    let root = Node {
        name: "root",
        next: Some(&branch),
        other: Some(&LEAF),
        ..LEAF
    };
    let cases: [(Change, bool); 13] = [
        (|_| {}, true),
        (|node| node.large += 1, true),
        (|node| node.maybe = Some(true), true),
        // Replaces a whole value, so its padding may hold any bytes.
        (|node| *node = Node { small: 9, ..*node }, true),
        (|node| node.name = &node.name[..2], false),
        (|node| node.name = "forever", false),
        (|node| node.name = "", false),
        (|node| node.alias = None, false),
        (|node| node.other = None, false),
        (
            |node| std::mem::swap(&mut node.next, &mut node.other),
            false,
        ),
        (|node| node.other = node.next, false),
        (
            |node| node.next = node.next.and_then(|next| next.next),
            false,
        ),
        (|node| node.numbers = &node.numbers[1..], false),
    ];
    for slack in [0, SLACK] {
        for (i, (change, expected)) in cases.into_iter().enumerate() {
            let mut object = received::<Node<'_>, _>(&root, slack);
            object.with_mut(change);
            let as_it_was = format!("{:?}", object.get());
            let (in_place, again) = forwarded(object);
            assert_eq!(in_place, expected, "change {i} with {slack} bytes of room");
            assert_eq!(format!("{:?}", again.get()), as_it_was);
        }
    }
}

#[test]
fn nothing_uninitialised_is_sent() {
    #[derive(Transportable, Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Gappy {
        small: u8,
        large: u64,
        tail: u16,
    }
    #[derive(Transportable)]
    struct Block<'b> {
        first: Gappy,
        all: &'b mut [Gappy],
        maybe: Option<(u8, &'b mut [Gappy])>,
    }
    let gappy = |small| Gappy {
        small,
        large: 2,
        tail: 3,
    };
    for slack in [0, SLACK] {
        let block = Block {
            first: gappy(0),
            all: &mut [gappy(1), gappy(2)],
            maybe: Some((1, &mut [gappy(3)])),
        };
        let mut object = received::<Block<'_>, _>(&block, slack);
        object.with_mut(|block| {
            block.first = gappy(7);
            for of in block.all.iter_mut() {
                *of = gappy(8);
            }
            if let Some((_, last)) = &mut block.maybe {
                last[0] = gappy(9);
            }
        });
        let ForwardedMessage {
            message, in_place, ..
        } = Writer::new().forward(object).unwrap();
        assert!(in_place);
        // Only a memory checker sees whether each byte is initialised. This test sees that padding
        // is zero.
        let changed = Block {
            first: gappy(7),
            all: &mut [gappy(8), gappy(8)],
            maybe: Some((1, &mut [gappy(9)])),
        };
        let expected = Writer::new()
            .write(&changed, EmptyBuffer::heap(1024))
            .unwrap();
        assert_eq!(message.as_bytes(), expected.as_bytes());
    }
}

#[derive(Transportable)]
struct Ring<'b> {
    number: u32,
    name: &'b str,
    next: Cell<Option<&'b Ring<'b>>>,
    back: Cell<Option<&'b Ring<'b>>>,
}

fn ring_of(names: &[&'static str]) -> Received<Ring<'static>> {
    let nodes: Vec<_> = names
        .iter()
        .zip(0..)
        .map(|(name, number)| Ring {
            number,
            name,
            next: Cell::default(),
            back: Cell::default(),
        })
        .collect();
    for (i, node) in nodes.iter().enumerate() {
        let next = &nodes[(i + 1) % nodes.len()];
        node.next.set(Some(next));
        next.back.set(Some(node));
    }
    received(&nodes[0], SLACK)
}

/// Returns the names of the first `steps` nodes along `next`.
fn walk(ring: &Ring<'_>, steps: usize) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = Some(ring);
    for _ in 0..steps {
        let Some(node) = at else { break };
        names.push(node.name.to_owned());
        at = node.next.get();
    }
    names
}

#[test]
fn cells_that_lead_elsewhere_are_followed() {
    type Turn = for<'x> fn(&'x Ring<'x>);
    let turns: [(Turn, bool); 7] = [
        (|_| {}, true),
        // All nodes are still reachable, but in another order.
        (
            |ring| {
                let next = ring.next.get();
                ring.next.set(ring.back.get());
                ring.back.set(next);
            },
            false,
        ),
        // A node that points to itself. Its former successor is reached on another path, in the
        // same order.
        (
            |ring| {
                let next = ring.next.get().unwrap();
                next.next.set(Some(next));
            },
            true,
        ),
        // A further pointer now leads to another known target, so no object has to move.
        (
            |ring| ring.next.get().unwrap().back.set(ring.next.get()),
            true,
        ),
        (|ring| ring.next.get().unwrap().back.set(None), true),
        (|ring| ring.next.set(None), false),
        (
            |ring| {
                ring.next.set(None);
                ring.back.set(None);
            },
            false,
        ),
    ];
    for (i, (turn, expected)) in turns.into_iter().enumerate() {
        let object = ring_of(&["a", "b", "c", "d"]);
        object.with(turn);
        let names = object.with(|ring| walk(ring, 10));
        let (in_place, again) = forwarded(object);
        assert_eq!(in_place, expected, "turn {i}");
        assert_eq!(again.with(|ring| walk(ring, 10)), names, "turn {i}");
    }
}

#[derive(Transportable, Debug, PartialEq)]
struct Holder<'b> {
    first: Option<Shared<'b, Leaf<'b>>>,
    plain: Option<&'b Leaf<'b>>,
    words: Shared<'b, str>,
    other: &'b Other<'b>,
}

#[derive(Transportable, Debug, PartialEq)]
struct Leaf<'b> {
    name: &'b str,
}

#[derive(Transportable, Debug, PartialEq)]
struct Other<'b> {
    leaf: Shared<'b, Leaf<'b>>,
    words: Shared<'b, str>,
    nothing: [Shared<'b, [u64]>; 2],
}

#[test]
fn shared_targets_keep_their_numbers() {
    let leaf = Leaf { name: "leaf" };
    let words = Shared::new("words");
    let other = Other {
        leaf: Shared::new(&leaf),
        words,
        nothing: [Shared::new(&[]); 2],
    };
    let holder = Holder {
        first: Some(Shared::new(&leaf)),
        plain: None,
        words,
        other: &other,
    };
    let object = received::<Holder<'_>, _>(&holder, SLACK);
    let (in_place, mut object) = forwarded(object);
    assert!(in_place);
    // The first shared pointer to the leaf is replaced by a plain one, so the layout of the message
    // changes.
    object.with_mut(|holder| holder.plain = holder.first.take().map(Shared::get));
    let (in_place, again) = forwarded(object);
    assert!(!in_place);
    assert_eq!(again.get().plain, Some(&leaf));
    assert_eq!(again.get().other.leaf.name, "leaf");
}

#[derive(Transportable, Debug, PartialEq)]
struct Mixed<'b> {
    one: Shared<'b, u64>,
    two: Shared<'b, u64>,
    pairs: &'b [(Shared<'b, u64>, Shared<'b, str>)],
    leaves: &'b [Shared<'b, Leaf<'b>>],
    numbers: &'b [Shared<'b, u64>],
    small: &'b [Shared<'b, u32>],
}

/// A function that changes an object with shared targets of several kinds.
type Mix = for<'x, 'y> fn(&'y mut Mixed<'x>);

#[test]
fn shared_targets_of_several_kinds_are_told_apart() {
    let numbers: [u64; 8] = std::array::from_fn(|i| i as u64);
    let small: [u32; 4] = [0, 1, 2, 3];
    let words = ["a", "bb", "cc", "dd", "e", ""];
    let leaves = [Leaf { name: "x" }, Leaf { name: "y" }, Leaf { name: "x" }];
    let number = |i: usize| Shared::new(&numbers[i]);
    let pair = |i: usize, j: usize| (number(i), Shared::new(words[j]));
    // Every target occurs for the first time and again, both in a run of its kind and between
    // others.
    let pairs = [
        (0, 0),
        (2, 1),
        (3, 2),
        (4, 2),
        (4, 3),
        (3, 1),
        (5, 5),
        (0, 4),
    ];
    let mixed = Mixed {
        one: number(0),
        two: number(1),
        pairs: &pairs.map(|(i, j)| pair(i, j)),
        leaves: &[0, 1, 1, 2, 0].map(|i: usize| Shared::new(&leaves[i])),
        numbers: &[6, 5, 7, 6, 0, 1, 2, 3, 4, 5].map(number),
        small: &[0, 1, 3, 0, 2, 1, 3].map(|i: usize| Shared::new(&small[i])),
    };
    let cases: [(Mix, bool); 7] = [
        (|_| {}, true),
        (|mixed| mixed.one = mixed.pairs[0].0, true),
        (
            |mixed| std::mem::swap(&mut mixed.one, &mut mixed.two),
            false,
        ),
        (|mixed| mixed.two = mixed.one, false),
        (|mixed| mixed.two = mixed.pairs[1].0, false),
        (|mixed| mixed.numbers = &mixed.numbers[1..], false),
        (|mixed| mixed.small = &[], false),
    ];
    for slack in [0, SLACK] {
        assert!(forwarded(received::<Mixed<'_>, _>(&mixed, slack)).0);
        for (i, (change, expected)) in cases.into_iter().enumerate() {
            let mut object = received::<Mixed<'_>, _>(&mixed, slack);
            object.with_mut(change);
            let as_it_was = format!("{:?}", object.get());
            let (in_place, again) = forwarded(object);
            assert_eq!(in_place, expected, "change {i} with {slack} bytes of room");
            assert_eq!(format!("{:?}", again.get()), as_it_was);
        }
    }
}

#[test]
fn halves_of_a_whole_are_not_mistaken_for_it() {
    #[derive(Transportable, Debug, PartialEq)]
    #[repr(C)]
    struct Whole<'b> {
        one: &'b [u8],
        two: &'b [u8],
    }
    #[derive(Transportable, Debug, PartialEq)]
    #[repr(u8)]
    enum Root<'b> {
        Whole(&'b Whole<'b>),
        Halves(&'b &'b [u8], &'b &'b [u8]),
        Swapped(&'b &'b [u8], &'b &'b [u8]),
    }
    let whole = Whole {
        one: &[1, 2, 3],
        two: &[4, 5],
    };
    for slack in [0, SLACK] {
        for swapped in [false, true] {
            let mut object = received::<Root<'_>, _>(&Root::Whole(&whole), slack);
            object.with_mut(|root| {
                if let Root::Whole(whole) = root {
                    *root = if swapped {
                        Root::Swapped(&whole.two, &whole.one)
                    } else {
                        Root::Halves(&whole.one, &whole.two)
                    };
                }
            });
            let (_, again) = forwarded(object);
            match again.get() {
                Root::Halves(one, two) => assert_eq!((**one, **two), (whole.one, whole.two)),
                Root::Swapped(two, one) => assert_eq!((**one, **two), (whole.one, whole.two)),
                Root::Whole(_) => panic!("the root was changed"),
            }
        }
    }
}

#[test]
fn a_pool_without_room_gives_the_object_back() {
    let root = Node {
        next: Some(&LEAF),
        ..LEAF
    };
    let mut options = PoolOptions::default();
    options.max_mapped = 1 << 20;
    let pool = Pool::new(options);
    let message = Writer::new().write_to(&root, &pool).unwrap();
    let mut object = Reader::default().read::<Node<'_>>(message).unwrap();
    object.with_mut(|node| node.next = None);
    let mut taken = Vec::new();
    while let Ok(empty) = pool.take(1) {
        taken.push(empty);
    }
    let unforwarded = Writer::new().forward_to(object, &pool).unwrap_err();
    assert!(matches!(unforwarded.error, WriteError::Pool(_)));
    let object = unforwarded.received.unwrap();
    assert_eq!(object.get(), &LEAF);
    taken.clear();
    let forwarded = Writer::new().forward_to(object, &pool).unwrap();
    assert!(!forwarded.in_place);
    assert_eq!(pool.stats().in_use, 1, "the old buffer was returned");
    let again = Reader::default().read::<Node<'_>>(forwarded.message);
    assert_eq!(again.unwrap().get(), &LEAF);
}

mod honest {
    use super::Transportable;

    // `repr(C)`, because the compiler may lay out two types with the same fields differently.
    #[derive(Transportable)]
    #[transportable(opt_in)]
    #[repr(C)]
    pub(super) struct Pair<'b> {
        pub(super) left: Option<&'b Pair<'b>>,
        #[transportable(follow)]
        pub(super) right: Option<&'b Pair<'b>>,
    }
}

mod forger {
    use super::Transportable;

    #[derive(Transportable)]
    #[repr(C)]
    pub(super) struct Pair<'b> {
        pub(super) left: Option<&'b Pair<'b>>,
        pub(super) right: Option<&'b Pair<'b>>,
    }
}

#[test]
fn what_a_forger_put_in_is_refused() {
    let leaf = || forger::Pair {
        left: None,
        right: None,
    };
    let (one, two) = (leaf(), leaf());
    let root = forger::Pair {
        left: Some(&one),
        right: Some(&two),
    };
    let object = received::<honest::Pair<'_>, _>(&root, SLACK);
    let unforwarded = Writer::new().forward(object).unwrap_err();
    assert!(matches!(unforwarded.error, WriteError::Displaced));
    assert!(unforwarded.received.is_none());
    // A sound object can still be forwarded.
    let sound = honest::Pair {
        left: None,
        right: None,
    };
    let root = honest::Pair {
        left: Some(&sound),
        right: Some(&sound),
    };
    let (in_place, again) = forwarded(received::<honest::Pair<'_>, _>(&root, SLACK));
    assert!(in_place && again.get().left.is_none() && again.get().right.is_some());
}

#[test]
fn roots_that_are_too_large_for_the_stack() {
    type Large = ([[u32; 1 << 10]; 4], Option<bool>, String);
    let large: Large = ([[7; 1 << 10]; 4], Some(true), "text".to_owned());
    let mut object = received::<Large, _>(&large, SLACK);
    object.with_mut(|(array, flag, _)| {
        array[3][5] = 1;
        *flag = None;
    });
    let (in_place, again) = forwarded(object);
    assert!(in_place);
    assert_eq!(
        (again.get().0[3][5], again.get().1, again.get().2),
        (1, None, "text")
    );
}

#[test]
fn forwarding_allocates_nothing_in_steady_state() {
    let names: Vec<String> = (0..2000).map(|i| format!("node {i}")).collect();
    let mut nodes = vec![LEAF];
    nodes.extend(names.iter().map(|name| Node { name, ..LEAF }));
    let all = (nodes, 0u64);
    let pool = Pool::default();
    let (mut writer, mut reader) = (Writer::new(), Reader::default());
    let mut message = writer.write_to(&all, &pool).ok();
    let mut round = || {
        type All = (Vec<Node<'static>>, u64);
        let mut object = reader.read::<All>(message.take().unwrap()).unwrap();
        object.with_mut(|(_, count)| *count += 1);
        let forwarded = writer.forward(object).unwrap();
        assert!(forwarded.in_place);
        message = Some(forwarded.message);
    };
    round();
    round();
    assert_eq!(allocations(|| (0..100).for_each(|_| round())), 0);
    let object = reader.read::<(Vec<Node<'static>>, u64)>(message.unwrap());
    assert_eq!(object.unwrap().get().1, 102);
}

/// A tree of any shape.
#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, PartialEq))]
struct Tree {
    name: String,
    weight: Option<u32>,
    kind: Kind,
    children: Vec<Tree>,
    shared: Option<std::rc::Rc<String>>,
}

#[derive(Transportable, Debug, Clone, PartialEq)]
#[transportable(derive(Debug, PartialEq))]
enum Kind {
    Nothing,
    Text {
        of: String,
        flags: [Option<bool>; 2],
    },
    Numbers(u8, Vec<(u8, u32)>),
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Nothing),
        (".{0,3}", any::<[Option<bool>; 2]>()).prop_map(|(of, flags)| Kind::Text { of, flags }),
        (any::<u8>(), prop::collection::vec(any::<(u8, u32)>(), 0..4))
            .prop_map(|(of, all)| Kind::Numbers(of, all)),
    ]
}

fn trees() -> impl Strategy<Value = Tree> {
    let shared = std::rc::Rc::new("shared".to_owned());
    let node = (".{0,4}", any::<Option<u32>>(), kinds(), any::<bool>());
    let leaf = node.prop_map(move |(name, weight, kind, is_shared)| Tree {
        name,
        weight,
        kind,
        children: Vec::new(),
        shared: is_shared.then(|| shared.clone()),
    });
    leaf.prop_recursive(4, 40, 4, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..4))
            .prop_map(|(of, children)| Tree { children, ..of })
    })
}

proptest! {
    #[test]
    fn any_tree_goes_on_as_it_came(tree in trees(), changes in 0u8..16, slack in 0usize..512) {
        let mut object = received::<Tree, _>(&tree, slack);
        let moves = changes & 8 != 0 && !tree.children.is_empty();
        if changes != 0 {
            object.with_mut(|root| {
                if changes & 1 != 0 {
                    root.weight = Some(u32::from(changes));
                }
                if changes & 2 != 0 {
                    root.kind = KindRef::Nothing;
                }
                if changes & 4 != 0 {
                    root.weight = None;
                }
                if moves {
                    root.children = &root.children[1..];
                }
            });
        }
        let kept = !moves && (changes & 2 == 0 || tree.kind == Kind::Nothing);
        let (in_place, again) = forwarded(object);
        prop_assert!(in_place || !kept);
        prop_assert_eq!(again.get().children.len(), tree.children.len() - usize::from(moves));
    }
}
