//! Verification functions may change cells. Faults are still located with the correct types.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use jstream::{EmptyBuffer, Reader, Transportable, Writer};
use typed_arena::Arena;

#[jstream::transportable]
trait Shape {}

/// A class with a reference where [`Number`] has a number.
#[derive(Transportable)]
#[transportable(implements(Shape))]
struct Holder<'b> {
    to: &'b Shown<'b>,
}

impl Shape for Holder<'_> {}

#[derive(Transportable)]
#[transportable(implements(Shape))]
#[repr(C)]
struct Number<'b> {
    number: u64,
    name: &'b str,
}

impl Shape for Number<'_> {}

#[derive(Transportable)]
#[transportable(verify = Forgetful::forget)]
struct Forgetful<'b> {
    shape: Cell<Option<&'b dyn Shape>>,
}

impl Forgetful<'_> {
    fn forget(&self) -> Result<(), String> {
        self.shape.set(None);
        Ok(())
    }
}

#[derive(Transportable)]
#[transportable(invariant)]
struct Whole<'b> {
    first: &'b Forgetful<'b>,
    shown: &'b Shown<'b>,
}

#[derive(Transportable)]
struct Shown<'b> {
    shape: Option<&'b dyn Shape>,
    next: Option<&'b Shown<'b>>,
    #[transportable(verify = not_empty)]
    name: &'b str,
}

fn not_empty(name: &&str) -> Result<(), &'static str> {
    if name.is_empty() {
        Err("is empty")
    } else {
        Ok(())
    }
}

#[test]
fn a_trait_object_is_walked_as_its_own_class() {
    let shown = |name, shape, next| Shown { shape, next, name };
    let last = shown("", None, None);
    let third = shown("c", None, Some(&last));
    let second = shown("b", None, Some(&third));
    let number = Number {
        number: 0x1234_5678,
        name: "n",
    };
    let first = shown("a", Some(&number), Some(&second));
    let other = shown("x", None, None);
    let holder = Holder { to: &other };
    let forgetful = Forgetful {
        shape: Cell::new(Some(&holder)),
    };
    let whole = Whole {
        first: &forgetful,
        shown: &first,
    };
    let message = Writer::new()
        .write(&whole, EmptyBuffer::heap(4096))
        .unwrap();
    // The walk that locates the fault meets only the second trait object, because the first was
    // removed.
    let read = Reader::default().read::<Whole<'_>>(message);
    let text = read.err().unwrap().to_string();
    let expected = "Whole.shown.next.next.next.name: is empty";
    assert!(text.starts_with(expected), "{text}");
}

/// A type whose verification may change the cells of all nodes that it reaches and then refuse.
#[derive(Transportable)]
#[transportable(invariant, verify = Node::change)]
struct Node<'b> {
    id: u32,
    link: Cell<Option<&'b Node<'b>>>,
    up: Cell<Option<&'b Node<'b>>>,
    next: Option<&'b Node<'b>>,
    list: &'b [Node<'b>],
}

/// A change of a cell: the node, true for its `up` or false for its `link`, and the new target.
type Change = (u32, bool, Option<u32>);

thread_local! {
    /// The node that refuses, and the changes that it makes before.
    static CHANGES: RefCell<(u32, Vec<Change>)> = const { RefCell::new((u32::MAX, Vec::new())) };
}

impl<'b> Node<'b> {
    fn new(id: u32) -> Self {
        Self {
            id,
            link: Cell::new(None),
            up: Cell::new(None),
            next: None,
            list: &[],
        }
    }

    /// Returns the nodes that this one reaches, by their numbers.
    fn reached(&self) -> HashMap<u32, &'b Node<'b>> {
        let mut all = HashMap::new();
        let mut open: Vec<&'b Node<'b>> = self.neighbours().collect();
        while let Some(node) = open.pop() {
            if all.insert(node.id, node).is_none() {
                open.extend(node.neighbours());
            }
        }
        all
    }

    fn neighbours(&self) -> impl Iterator<Item = &'b Node<'b>> {
        let one_by_one = [self.link.get(), self.up.get(), self.next];
        one_by_one.into_iter().flatten().chain(self.list)
    }

    fn change(&self) -> Result<(), String> {
        CHANGES.with_borrow(|(refusing, changes)| {
            if self.id != *refusing {
                return Ok(());
            }
            let all = self.reached();
            for (of, is_up, to) in changes {
                if let Some(node) = all.get(of) {
                    let cell = if *is_up { &node.up } else { &node.link };
                    cell.set(to.and_then(|to| all.get(&to).copied()));
                }
            }
            Err(format!("{} is refused", self.id))
        })
    }

    /// Returns the number of the node at the end of a path like `Node.next.list[2].link`.
    fn at(&self, path: &str) -> u32 {
        let mut node = self;
        for step in path.strip_prefix("Node").unwrap().split('.').skip(1) {
            node = match step {
                "link" => node.link.get().unwrap(),
                "up" => node.up.get().unwrap(),
                "next" => node.next.unwrap(),
                _ => {
                    let index = step.strip_prefix("list[").unwrap();
                    &node.list[index.strip_suffix(']').unwrap().parse::<usize>().unwrap()]
                }
            };
        }
        node.id
    }

    /// Lets the node with the number `refusing` make changes and refuse. Returns the path in the
    /// error.
    fn refused(&self, refusing: u32, changes: &[Change]) -> String {
        let message = Writer::new().write(self, EmptyBuffer::heap(4096)).unwrap();
        CHANGES.set((refusing, changes.to_vec()));
        let read = Reader::default().read::<Node<'_>>(message);
        let text = read.err().unwrap().to_string();
        let (path, why) = text.split_once(": ").unwrap();
        assert!(why.starts_with(&format!("{refusing} is refused")), "{text}");
        path.to_owned()
    }
}

#[test]
fn a_node_that_was_unlinked_is_found_by_the_pointer_that_is_left() {
    let [root, b] = [Node::new(0), Node::new(2)];
    let c = Node::new(1);
    c.link.set(Some(&b));
    let root = Node {
        next: Some(&c),
        ..root
    };
    root.link.set(Some(&b));
    b.up.set(Some(&root));
    assert_eq!(root.refused(2, &[]), "Node.link");
    assert_eq!(root.refused(2, &[(0, false, None)]), "Node.next.link");
}

#[test]
fn a_node_behind_empty_slices_is_found_after_changes() {
    let leaves = [Node::new(3), Node::new(4)];
    let b = Node {
        list: &leaves,
        ..Node::new(2)
    };
    let empty = [Node::new(5), Node::new(6)];
    let c = Node {
        list: &empty,
        ..Node::new(1)
    };
    c.link.set(Some(&b));
    let root = Node {
        next: Some(&c),
        ..Node::new(0)
    };
    root.link.set(Some(&b));
    leaves[1].up.set(Some(&root));
    assert_eq!(root.refused(4, &[]), "Node.link.list[1]");
    assert_eq!(
        root.refused(4, &[(0, false, None)]),
        "Node.next.link.list[1]"
    );
}

/// Returns a pseudo-random number below `most`.
fn random(state: &mut u64, most: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    usize::try_from(*state >> 33).unwrap() % most
}

#[test]
fn whatever_cells_are_changed_a_path_leads_to_what_was_refused() {
    let mut state = 1;
    let mut found = 0;
    for _ in 0..5_000 {
        // Each node leads to nodes made before it; cells lead to any node.
        let arena = Arena::new();
        let mut made: Vec<&Node<'_>> = Vec::new();
        let mut free: Vec<&Node<'_>> = Vec::new();
        let mut id = 0;
        for _ in 0..=random(&mut state, 8) {
            let mut node = Node::new(id);
            id += 1;
            // Plain references lead to distinct nodes, because a second reference would be sent as
            // a copy.
            if random(&mut state, 3) > 0 {
                node.next = free.pop();
            }
            let list: Vec<_> = (0..random(&mut state, 3))
                .map(|index| Node::new(id + u32::try_from(index).unwrap()))
                .collect();
            id += u32::try_from(list.len()).unwrap();
            node.list = arena.alloc_extend(list);
            made.extend(node.list);
            let node: &Node<'_> = arena.alloc(node);
            made.push(node);
            free.push(node);
        }
        let root = *made.last().unwrap();
        // Cells lead to separate objects only, not to elements of slices.
        for node in &made {
            for cell in [&node.link, &node.up] {
                if random(&mut state, 2) == 0 {
                    cell.set(Some(free[random(&mut state, free.len())]));
                }
            }
        }
        let count = made.len();
        let number = |state: &mut u64| u32::try_from(random(state, count)).unwrap();
        let changes: Vec<_> = (0..random(&mut state, 6))
            .map(|_| {
                let to = (random(&mut state, 3) > 0).then(|| number(&mut state));
                (number(&mut state), random(&mut state, 2) == 0, to)
            })
            .collect();
        let refusing = number(&mut state);
        if refusing != root.id && !root.reached().contains_key(&refusing) {
            continue;
        }
        let path = root.refused(refusing, &changes);
        // Makes the same changes to the sent graph.
        let all = root.reached();
        let _ = all.get(&refusing).map_or(root, |node| node).change();
        if path != "Node…" {
            assert_eq!(root.at(&path), refusing, "{path}");
            found += 1;
        }
    }
    assert!(found > 1_000, "{found} were found");
}
