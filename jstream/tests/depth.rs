//! Depth costs no stack: not when writing, not when reading, not when finding a fault.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::thread;

use jstream::{Limits, Pool, Reader, Spent, Transportable, Writer};
use typed_arena::Arena;

#[derive(Transportable, Debug, Clone, Copy)]
struct List<'b> {
    value: u64,
    next: Option<&'b List<'b>>,
}

/// Kinds in turn, so that no two neighbours are one run.
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

/// A list in an arena. `Box`es would recurse when dropped.
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

/// A reader that asks nothing of depth.
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
        let filled = Writer::new().write_to(&head, &Pool::default()).unwrap();
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
        let filled = Writer::new().write_to(&head, &Pool::default()).unwrap();
        let mut bytes = filled.as_bytes().to_vec();
        let last = bytes.len() - size_of::<List<'_>>() + std::mem::offset_of!(List<'_>, next);
        bytes[last] = 1;
        let filled = Spent::heap(bytes.len()).copy_from(&bytes).unwrap();
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
        let filled = Writer::new().write_to(even, &Pool::default()).unwrap();
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
