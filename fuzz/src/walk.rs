//! Visits every byte of a received object without recursion, because lists may be long.

use std::hint::black_box;
use std::ops::Range;
use std::ptr;

use crate::model::{Leg, Mark, Node, Shape, Side};

/// The state of a walk over a buffer.
struct Walk {
    jbuf: Range<usize>,
    /// The address ranges of the targets that are not empty.
    targets: Vec<Range<usize>>,
}

/// Checks that all of `root` is valid and lies inside its buffer of `len` bytes, and that no two
/// targets overlap.
pub(crate) fn walk(root: &Node<'_>, len: usize) {
    let header = 40usize.next_multiple_of(align_of::<Node<'_>>());
    let base = ptr::from_ref(root).addr() - header;
    let mut walk = Walk {
        jbuf: base..base + len,
        targets: Vec::new(),
    };
    walk.targets.push(base..base + header);
    walk.one(root);
    let mut nodes = vec![root];
    while let Some(node) = nodes.pop() {
        walk.node(node);
        walk.shape(node.shape, &mut nodes);
        nodes.extend(walk.all(node.children));
        nodes.extend(node.next.map(|next| walk.one(next)));
    }
    walk.targets.sort_unstable_by_key(|target| target.start);
    for pair in walk.targets.windows(2) {
        assert!(pair[0].end <= pair[1].start, "two targets share a byte");
    }
}

impl Walk {
    fn all<'b, T>(&mut self, target: &'b [T]) -> &'b [T] {
        let at = target.as_ptr().addr();
        let at = at..at + size_of_val(target);
        assert!(at.start.is_multiple_of(align_of::<T>()), "misaligned");
        assert!(
            self.jbuf.start <= at.start && at.end <= self.jbuf.end,
            "outside the buffer"
        );
        if !at.is_empty() {
            self.targets.push(at);
        }
        target
    }

    fn one<'b, T>(&mut self, target: &'b T) -> &'b T {
        self.all(std::slice::from_ref(target));
        target
    }

    fn text(&mut self, text: &str) {
        let bytes = black_box(self.all(text.as_bytes()));
        assert!(std::str::from_utf8(bytes).is_ok(), "no UTF-8");
    }

    fn node(&mut self, node: &Node<'_>) {
        black_box((node.id, node.ratio, node.weight, node.large, node.matrix));
        self.text(node.name);
        letter(&node.letter);
        side(&node.side);
        flag(&node.open);
        one_of(&node.flag, &[None, Some(false), Some(true)]);
        assert!(
            black_box(node.serial.get()) != 0 && bits(&node.serial, 0u16) != 0,
            "not a NonZero"
        );
        black_box(node.count.map(|count| count.get()));
        self.pair(node.pair);
        for leg in self.all(node.legs) {
            black_box((leg.price, leg.quantity));
            side(&leg.side);
            flag(&leg.taken);
        }
        for mark in self.all(node.marks) {
            self.mark(mark);
        }
        for tag in self.all(node.tags) {
            self.text(tag);
        }
        self.all(node.flags).iter().for_each(flag);
        self.all(node.letters).iter().for_each(letter);
        for nothing in self.all(node.nothing) {
            black_box(nothing);
        }
        let number = *self.one(node.number);
        black_box(*self.one(number));
        if let Some(alias) = node.alias {
            let alias = *self.one::<&str>(alias);
            self.text(alias);
        }
    }

    fn mark(&mut self, mark: &Mark<'_>) {
        self.pair(mark.note);
        let twice = [None, Some(None), Some(Some(false)), Some(Some(true))];
        one_of(&mark.twice, &twice);
        if let Some(Some(text)) = mark.text {
            self.text(text);
        }
        if let Some(level) = &mark.level {
            letter(level);
        }
    }

    fn pair(&mut self, pair: Option<(u8, &str)>) {
        if let Some((number, text)) = pair {
            black_box(number);
            self.text(text);
        }
    }

    fn shape<'b>(&mut self, mut shape: Shape<'b>, nodes: &mut Vec<&'b Node<'b>>) {
        loop {
            match shape {
                Shape::Empty => {}
                Shape::Circle { radius } => {
                    black_box(radius);
                }
                Shape::Polygon(points, name) => {
                    black_box(self.all(points).to_vec());
                    if let Some(name) = name {
                        self.text(name);
                    }
                }
                Shape::Nested(node) => nodes.push(self.one(node)),
                Shape::Tagged { side: of, maybe } => {
                    side(&of);
                    if let Some(inner) = maybe {
                        shape = *self.one(inner);
                        continue;
                    }
                }
            }
            return;
        }
    }
}

/// Returns the bits of a value, regardless of what the compiler assumes about its type.
fn bits<T, B: Copy>(value: &T, _like: B) -> B {
    const {
        assert!(size_of::<T>() == size_of::<B>() && align_of::<T>() == align_of::<B>());
    }
    // SAFETY: the function is called only for types without padding, so all bytes are initialised.
    // The assertion above guarantees that size and alignment fit.
    unsafe { ptr::from_ref(value).cast::<B>().read_volatile() }
}

fn byte<T>(value: &T) -> u8 {
    bits(value, 0)
}

/// Checks that the byte is that of one of `all`, whatever bytes the compiler chose for them.
fn one_of<T>(value: &T, all: &[T]) {
    let known = all.iter().any(|one| byte(one) == byte(value));
    assert!(known, "byte {} is not a value", byte(value));
}

fn flag(value: &bool) {
    assert!(byte(value) <= 1, "not a bool");
}

fn side(value: &Side) {
    assert!(matches!(byte(value), 0 | 7), "not a Side");
}

fn letter(value: &char) {
    assert!(char::from_u32(bits(value, 0)).is_some(), "not a char");
}

/// Returns true if both graphs are equal. Floats are compared by their bits.
pub(crate) fn same(a: &Node<'_>, b: &Node<'_>) -> bool {
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        if !same_fields(a, b) || !same_shape(a.shape, b.shape, &mut pairs) {
            return false;
        }
        pairs.extend(a.children.iter().zip(b.children));
        pairs.extend(a.next.zip(b.next));
    }
    true
}

fn same_fields(a: &Node<'_>, b: &Node<'_>) -> bool {
    let numbers = |of: &Node<'_>| {
        let floats = (of.ratio.to_bits(), of.weight.to_bits());
        (of.id, floats, of.serial, of.count, of.large, of.matrix)
    };
    fn small<'n>(of: &'n Node<'_>) -> impl PartialEq + use<'n> {
        (of.letter, of.side, of.open, of.flag, of.flags, of.letters)
    }
    let legs = |of: &Node<'_>| -> Vec<_> {
        let leg = |of: &Leg| (of.price.to_bits(), of.quantity, of.side, of.taken);
        of.legs.iter().map(leg).collect()
    };
    fn texts<'n>(of: &'n Node<'_>) -> impl PartialEq + use<'n> {
        (of.name, of.pair, of.tags, of.alias, **of.number)
    }
    numbers(a) == numbers(b)
        && small(a) == small(b)
        && legs(a) == legs(b)
        && texts(a) == texts(b)
        && a.marks.len() == b.marks.len()
        && a.marks.iter().zip(b.marks).all(|(a, b)| same_mark(a, b))
        && a.nothing.len() == b.nothing.len()
        && a.children.len() == b.children.len()
        && a.next.is_some() == b.next.is_some()
}

fn same_mark(a: &Mark<'_>, b: &Mark<'_>) -> bool {
    (a.note, a.twice, a.text, a.level) == (b.note, b.twice, b.text, b.level)
}

fn same_shape<'n>(
    mut a: Shape<'n>,
    mut b: Shape<'n>,
    pairs: &mut Vec<(&'n Node<'n>, &'n Node<'n>)>,
) -> bool {
    loop {
        match (a, b) {
            (Shape::Empty, Shape::Empty) => return true,
            (Shape::Circle { radius: a }, Shape::Circle { radius: b }) => {
                return a.to_bits() == b.to_bits();
            }
            (Shape::Polygon(a, name_a), Shape::Polygon(b, name_b)) => {
                let bits = |(x, y): &(f32, f32)| (x.to_bits(), y.to_bits());
                return name_a == name_b && a.iter().map(bits).eq(b.iter().map(bits));
            }
            (Shape::Nested(a), Shape::Nested(b)) => {
                pairs.push((a, b));
                return true;
            }
            (
                Shape::Tagged {
                    side: side_a,
                    maybe: maybe_a,
                },
                Shape::Tagged {
                    side: side_b,
                    maybe: maybe_b,
                },
            ) => match (maybe_a, maybe_b) {
                (None, None) => return side_a == side_b,
                (Some(inner_a), Some(inner_b)) if side_a == side_b => (a, b) = (*inner_a, *inner_b),
                _ => return false,
            },
            _ => return false,
        }
    }
}
