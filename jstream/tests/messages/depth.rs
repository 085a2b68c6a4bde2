//! Writing, reading and locating a fault need no more stack for deep graphs.

use std::collections::HashMap;
use std::iter;
use std::ptr;
use std::rc::Rc;
use std::thread;

use crate::common::unlimited;
use jstream::{EmptyBuffer, Limits, Pool, Reader, RestoreError, Transportable};
use proptest::prelude::*;
use typed_arena::Arena;

#[derive(Transportable, Debug, Clone, Copy)]
struct List<'b> {
    value: u64,
    next: Option<&'b List<'b>>,
}

/// Two types that alternate, so that no two neighbouring objects form a run of one type.
#[derive(Transportable, Clone, Copy)]
struct Even<'b> {
    next: Option<&'b Odd<'b>>,
    side: &'b [&'b str],
}

#[derive(Transportable, Clone, Copy)]
struct Odd<'b> {
    next: Option<&'b Even<'b>>,
    ok: bool,
}

fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(256 * 1024).spawn(test);
    thread.unwrap().join().unwrap();
}

/// A list in an arena. Dropping a list of `Box`es would recurse.
fn list<'a>(len: u64, nodes: &'a Arena<List<'a>>) -> List<'a> {
    (1..len).fold(
        List {
            value: 0,
            next: None,
        },
        |head, value| List {
            value,
            next: Some(nodes.alloc(head)),
        },
    )
}

/// A reader without a depth limit.
fn bottomless() -> Reader {
    let mut limits = Limits::default();
    limits.depth = None;
    Reader::new(limits)
}

#[test]
fn ten_million_nodes() {
    on_a_small_stack(|| {
        const LEN: u64 = 10_000_000;
        let nodes = Arena::new();
        let head = list(LEN, &nodes);
        let filled = unlimited().write_to(&head, &Pool::default()).unwrap();
        let received = bottomless().read::<List<'static>>(filled).unwrap();
        let mut expected = LEN;
        let mut at = Some(received.get());
        while let Some(node) = at {
            expected -= 1;
            assert_eq!(node.value, expected);
            at = node.next;
        }
        assert_eq!(expected, 0);
    });
}

#[test]
fn a_fault_at_the_end_of_a_long_list() {
    on_a_small_stack(|| {
        let nodes = Arena::new();
        let head = list(200_000, &nodes);
        let filled = unlimited().write_to(&head, &Pool::default()).unwrap();
        let mut bytes = filled.as_bytes().to_vec();
        let last = bytes.len() - size_of::<List<'_>>() + std::mem::offset_of!(List<'_>, next);
        bytes[last] = 1;
        let filled = EmptyBuffer::heap(bytes.len()).copy_from(&bytes).unwrap();
        let failure = bottomless().read::<List<'static>>(filled).unwrap_err();
        let text = failure.to_string();
        assert!(
            text.contains("next.next: the Option<&List> does not point"),
            "{text}"
        );
    });
}

#[test]
fn kinds_in_turn() {
    on_a_small_stack(|| {
        let evens = Arena::with_capacity(100_000);
        let odds = Arena::with_capacity(100_000);
        let mut even: &Even<'_> = evens.alloc(Even {
            next: None,
            side: &["end"],
        });
        for _ in 0..100_000 {
            let odd = odds.alloc(Odd {
                next: Some(even),
                ok: true,
            });
            even = evens.alloc(Even {
                next: Some(odd),
                side: &["a", "b"],
            });
        }
        let filled = unlimited().write_to(even, &Pool::default()).unwrap();
        let received = bottomless().read::<Even<'static>>(filled).unwrap();
        let mut at = Some(received.get());
        let mut count = 0;
        while let Some(even) = at {
            count += even.side.len();
            at = even
                .next
                .and_then(|odd| if odd.ok { odd.next } else { None });
        }
        assert_eq!(count, 200_001);
    });
}

/// An object that several paths may lead to, with a tail that only one path leads to.
#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Station {
    next: Vec<Rc<Station>>,
    tail: Option<Box<Tail>>,
}

#[derive(Transportable)]
#[transportable(derive(Debug))]
struct Tail {
    next: Option<Box<Tail>>,
}

fn tail(len: usize) -> Option<Box<Tail>> {
    (0..len).fold(None, |next, _| Some(Box::new(Tail { next })))
}

/// Writes the stations and reads them with this depth limit.
fn read_stations(all: &Vec<Rc<Station>>, depth: Option<u32>) -> Result<(), String> {
    let filled = unlimited().write(all, EmptyBuffer::heap(1 << 20)).unwrap();
    let mut limits = Limits::default();
    limits.depth = depth;
    let read = Reader::new(limits).read::<Vec<Rc<Station>>>(filled);
    read.map(|_| ()).map_err(|failure| failure.to_string())
}

/// A row of stations: each leads to the one before, and the root leads to all.
fn row(len: usize) -> Vec<Rc<Station>> {
    let mut all: Vec<Rc<Station>> = Vec::new();
    for _ in 0..len {
        let next = all.last().cloned().into_iter().collect();
        all.push(Rc::new(Station { next, tail: None }));
    }
    all
}

#[test]
fn the_longest_way_counts() {
    let mut all = row(400);
    // The levels are the root's slice, 400 stations, and the slices of all but the last station.
    assert_eq!(read_stations(&all, Some(800)), Ok(()));
    let text = read_stations(&all, Some(799)).unwrap_err();
    assert!(
        text.contains("is deeper than Limits::depth allows on another way"),
        "{text}"
    );
    assert!(text.starts_with("Vec<Rc<Station>>["), "{text}");
    assert_eq!(read_stations(&all, None), Ok(()));
    all.reverse();
    assert_eq!(read_stations(&all, Some(800)), Ok(()));
    assert!(read_stations(&all, Some(799)).is_err());
}

#[test]
fn what_was_restored_is_no_deeper_than_said() {
    let restored = |len| {
        let filled = unlimited()
            .write(&row(len), EmptyBuffer::heap(1 << 20))
            .unwrap();
        let received = Reader::default().read::<Vec<Rc<Station>>>(filled).unwrap();
        jstream::restore::<Vec<Rc<Station>>>(received.get()).map(|all| all.len())
    };
    // The depth is one for the vector and two for each station.
    assert_eq!(restored(63), Ok(63));
    assert_eq!(restored(64), Err(RestoreError::Depth(128)));
}

/// Returns the number of pointers on the longest path from a station.
fn height(of: &Station, heights: &mut HashMap<*const Station, usize>) -> usize {
    if let Some(known) = heights.get(&ptr::from_ref(of)) {
        return *known;
    }
    let next = of.next.iter().map(|next| 1 + height(next, heights));
    let tail = iter::successors(of.tail.as_ref(), |tail| tail.next.as_ref()).count();
    let height = tail.max(next.max().map_or(0, |next| 1 + next));
    heights.insert(of, height);
    height
}

/// For each station, the earlier stations that it leads to and the length of its tail; then the
/// stations of the root.
type Graph = (
    Vec<(Vec<prop::sample::Index>, usize)>,
    Vec<prop::sample::Index>,
);

fn graph() -> impl Strategy<Value = Graph> {
    let next = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
    let root = prop::collection::vec(any::<prop::sample::Index>(), 1..6);
    (prop::collection::vec((next, 0..12usize), 1..20), root)
}

proptest! {
    #[test]
    fn the_depth_of_any_graph((stations, root) in graph()) {
        let mut all: Vec<Rc<Station>> = Vec::new();
        for (next, len) in stations {
            let before = next.iter().filter(|_| !all.is_empty());
            let next = before.map(|i| all[i.index(all.len())].clone()).collect();
            all.push(Rc::new(Station { next, tail: tail(len) }));
        }
        let root: Vec<_> = root.iter().map(|i| all[i.index(all.len())].clone()).collect();
        let heights = &mut HashMap::new();
        let depth = 2 + root.iter().map(|of| height(of, heights)).max().unwrap();
        let depth = u32::try_from(depth).unwrap();
        prop_assert_eq!(read_stations(&root, Some(depth)), Ok(()));
        prop_assert!(read_stations(&root, Some(depth - 1)).is_err());
    }
}

/// The number of elements of flat values that have padding and are larger than the stack of the
/// test.
const LARGE: usize = 1 << 17;

#[derive(Transportable)]
struct Large<'b> {
    one: &'b [(u8, u32); LARGE],
    several: &'b [[(u8, u32); LARGE]],
}

#[test]
fn large_values_are_written_and_read_on_a_small_stack() {
    on_a_small_stack(|| {
        let pairs: Vec<(u8, u32)> = (0..).map(|n| (7, n)).take(LARGE).collect();
        let one: Box<[(u8, u32); LARGE]> = pairs.try_into().unwrap();
        let several = std::slice::from_ref(&*one);
        let value = Large { one: &one, several };
        let mut writer = unlimited();
        let mut written = Vec::new();
        writer.write_vec(&value, &mut written).unwrap();
        let message = writer.write(&value, EmptyBuffer::heap(4 << 20)).unwrap();
        assert!(written == message.as_bytes());
        let received = Reader::default().read::<Large<'_>>(message).unwrap();
        assert!(received.get().one == &*one && received.get().several == several);
        let mut message = writer.forward(received).unwrap().message;
        for _ in 0..2 {
            assert!(written == message.as_bytes());
            let mut received = Reader::default().read::<Large<'_>>(message).unwrap();
            received.with_mut(|_| ());
            message = writer.forward(received).unwrap().message;
        }
        let message = writer.write(&*one, EmptyBuffer::heap(4 << 20)).unwrap();
        let received = Reader::default().read::<[(u8, u32); LARGE]>(message);
        assert!(received.unwrap().get() == &*one);
    });
}
