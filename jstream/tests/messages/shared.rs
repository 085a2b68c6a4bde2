//! Shared targets and cycles arrive as they were sent, and forged ones are refused.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use jstream::{Covariant, EmptyBuffer, Limits, Reader, Received, Shared, Transportable, Writer};
use typed_arena::Arena;

/// Returns the message of a value as bytes.
fn bytes_of<T: Transportable>(value: &T) -> Vec<u8> {
    let filled = Writer::new()
        .write(value, EmptyBuffer::heap(1 << 20))
        .unwrap();
    filled.as_bytes().to_vec()
}

fn received<T: Transportable + 'static>(bytes: &[u8]) -> Received<T> {
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    Reader::default().read::<T>(filled).unwrap()
}

fn refused<T: Transportable + 'static>(bytes: &[u8]) -> String {
    let filled = EmptyBuffer::heap(bytes.len()).copy_from(bytes).unwrap();
    match Reader::default().read::<T>(filled) {
        Ok(_) => panic!("it was read"),
        Err(failure) => failure.to_string(),
    }
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Team {
    members: Vec<Rc<Member>>,
    lead: Option<Rc<Member>>,
    motto: Arc<str>,
    also: Arc<str>,
    numbers: (Arc<[u64]>, Arc<[u64]>, Rc<u64>),
}

#[derive(Transportable)]
#[transportable(derive(Debug, PartialEq))]
struct Member {
    name: String,
    boss: Option<Rc<Member>>,
}

fn team() -> Team {
    let boss = Rc::new(Member {
        name: "Ada".to_owned(),
        boss: None,
    });
    let other = Rc::new(Member {
        name: "Grace".to_owned(),
        boss: Some(boss.clone()),
    });
    let motto: Arc<str> = "onward".into();
    let numbers: Arc<[u64]> = vec![1, 2, 3].into();
    Team {
        members: vec![other.clone(), boss.clone(), other.clone()],
        lead: Some(boss),
        motto: motto.clone(),
        also: motto,
        numbers: (numbers.clone(), numbers, Rc::new(7)),
    }
}

#[test]
fn identity_is_kept() {
    let sent = team();
    let received = received::<Team>(&bytes_of(&sent));
    let team: &TeamRef<'_> = received.get();
    assert_eq!(team.members[0].name, "Grace");
    assert!(team.members[0].ptr_eq(team.members[2]));
    assert!(!team.members[0].ptr_eq(team.members[1]));
    assert!(team.members[1].ptr_eq(team.lead.unwrap()));
    assert!(team.members[0].boss.unwrap().ptr_eq(team.members[1]));
    assert!(team.motto.ptr_eq(team.also) && &*team.also == "onward");
    assert!(team.numbers.0.ptr_eq(team.numbers.1));
    assert_eq!((&*team.numbers.1, *team.numbers.2), (&[1, 2, 3][..], 7));
}

#[test]
fn what_was_received_is_sent_and_restored_with_the_same_sharing() {
    let first = bytes_of(&team());
    let once = received::<Team>(&first);
    assert_eq!(bytes_of(once.get()), first);
    let again: Team = once.get().to_owned().unwrap();
    assert!(Rc::ptr_eq(&again.members[0], &again.members[2]));
    assert!(Rc::ptr_eq(&again.members[1], again.lead.as_ref().unwrap()));
    assert!(Arc::ptr_eq(&again.motto, &again.also));
    assert!(Arc::ptr_eq(&again.numbers.0, &again.numbers.1));
    assert_eq!(bytes_of(&again), first);
}

#[test]
fn sharing_that_was_not_there_is_not_made() {
    let distinct = vec![Rc::new(5u64), Rc::new(5), Rc::new(5)];
    let received = received::<Vec<Rc<u64>>>(&bytes_of(&distinct));
    let [a, b, c] = received.get() else { panic!() };
    assert!(!a.ptr_eq(*b) && !b.ptr_eq(*c) && !a.ptr_eq(*c));
}

/// Plain references with preserved identity.
#[derive(Transportable, Debug)]
struct Net<'b> {
    nodes: &'b [Place<'b>],
    #[transportable(shared)]
    start: &'b Place<'b>,
    #[transportable(shared)]
    end: Option<&'b Place<'b>>,
    #[transportable(shared)]
    all: &'b [&'b Place<'b>],
    #[transportable(shared)]
    two: [&'b Place<'b>; 2],
}

#[derive(Transportable, Debug)]
struct Place<'b> {
    name: &'b str,
    #[transportable(shared)]
    near: Option<&'b Place<'b>>,
}

#[test]
fn plain_references_can_be_shared() {
    let a = Place {
        name: "a",
        near: None,
    };
    let b = Place {
        name: "b",
        near: Some(&a),
    };
    let net = Net {
        nodes: &[],
        start: &b,
        end: Some(&a),
        all: &[&a, &b, &a],
        two: [&b, &b],
    };
    let received = received::<Net<'_>>(&bytes_of(&net));
    let net = received.get();
    assert!(std::ptr::eq(net.start.near.unwrap(), net.end.unwrap()));
    assert!(std::ptr::eq(net.all[0], net.all[2]) && std::ptr::eq(net.all[0], net.end.unwrap()));
    assert!(std::ptr::eq(net.two[0], net.start) && std::ptr::eq(net.two[1], net.all[1]));
    assert_eq!((net.start.name, net.all[0].name), ("b", "a"));
}

/// A link of a doubly linked list.
#[derive(Transportable)]
struct Link<'b> {
    value: u32,
    next: Cell<Option<&'b Link<'b>>>,
    previous: Cell<Option<&'b Link<'b>>>,
}

fn ring<'a>(len: u32, arena: &'a Arena<Link<'a>>) -> &'a Link<'a> {
    let links: Vec<&Link<'_>> = (0..len)
        .map(|value| {
            &*arena.alloc(Link {
                value,
                next: Cell::default(),
                previous: Cell::default(),
            })
        })
        .collect();
    for (i, link) in links.iter().enumerate() {
        let next = links[(i + 1) % links.len()];
        link.next.set(Some(next));
        next.previous.set(Some(link));
    }
    links[0]
}

#[test]
fn circles_through_cells() {
    let arena = Arena::new();
    for len in [1, 2, 3, 50_000] {
        let mut limits = Limits::default();
        limits.depth = None;
        let first = ring(len, &arena);
        let filled = crate::common::unlimited()
            .write(&Shared::new(first), EmptyBuffer::heap(8 << 20))
            .unwrap();
        let received = Reader::new(limits)
            .read::<Shared<'_, Link<'_>>>(filled)
            .unwrap();
        received.with(|first| {
            let mut at = first.get();
            for i in 0..len {
                assert_eq!(at.value, i);
                let next = at.next.get().unwrap();
                assert!(std::ptr::eq(next.previous.get().unwrap(), at));
                at = next;
            }
            assert!(std::ptr::eq(at, first.get()));
            // The received graph has ordinary cells, which can be changed.
            at.next.set(Some(at));
            assert!(std::ptr::eq(at.next.get().unwrap(), at));
        });
    }
}

#[test]
fn the_root_itself_may_be_on_a_circle() {
    let arena = Arena::new();
    let received = received::<Link<'_>>(&bytes_of(ring(2, &arena)));
    received.with(|root| {
        let second = root.next.get().unwrap();
        assert_eq!((root.value, second.value), (0, 1));
        assert!(std::ptr::eq(second.next.get().unwrap(), root));
        assert!(std::ptr::eq(root.previous.get().unwrap(), second));
    });
}

/// Returns the offsets of the further pointers to shared targets in a message.
fn repeats(bytes: &[u8]) -> Vec<usize> {
    (40..bytes.len() - 7)
        .step_by(8)
        .filter(|at| bytes[at + 7] == 0x80 && bytes[at + 1..at + 7] == [0; 6])
        .collect()
}

#[test]
fn a_number_that_names_no_target_of_the_type() {
    let bytes = bytes_of(&team());
    let at = repeats(&bytes);
    assert!(at.len() >= 4, "{at:?}");
    for at in at {
        let own = bytes[at];
        for number in 0..20u8 {
            let mut forged = bytes.clone();
            forged[at] = number;
            let filled = EmptyBuffer::heap(forged.len()).copy_from(&forged).unwrap();
            match Reader::default().read::<Team>(filled) {
                Ok(received) => assert!(format!("{received:?}").len() > 10),
                Err(failure) => {
                    assert_ne!(number, own);
                    let text = failure.to_string();
                    assert!(
                        text.contains("shared object") || text.contains("reached from itself"),
                        "{text}"
                    );
                }
            }
        }
    }
}

#[test]
fn one_object_under_two_lengths() {
    let slice: Arc<[u64]> = vec![1, 2, 3].into();
    let mut bytes = bytes_of(&(slice.clone(), slice));
    let at = repeats(&bytes)[0];
    bytes[at + 8] = 2;
    let text = refused::<(Arc<[u64]>, Arc<[u64]>)>(&bytes);
    assert!(
        text.contains(".1: the Shared<[u64]> names a shared object"),
        "{text}"
    );
}

#[derive(Transportable, Debug, PartialEq)]
struct Chain<'b> {
    value: u64,
    #[transportable(shared)]
    next: Option<&'b Chain<'b>>,
    #[transportable(shared)]
    other: Option<&'b Chain<'b>>,
}

#[test]
fn no_circle_without_a_cell() {
    let last = Chain {
        value: 3,
        next: None,
        other: None,
    };
    let middle = Chain {
        value: 2,
        next: Some(&last),
        other: Some(&last),
    };
    let first = Chain {
        value: 1,
        next: Some(&middle),
        other: Some(&last),
    };
    let bytes = bytes_of(&first);
    assert_eq!(received::<Chain<'_>>(&bytes).get(), &first);
    let at = repeats(&bytes);
    // The second pointer to the last object belongs to the middle one. It must not lead to the
    // middle or the first object, which would close a cycle.
    let to_last = *at.last().unwrap();
    for number in [0u8, 1, 2] {
        let mut forged = bytes.clone();
        forged[to_last] = number;
        let filled = EmptyBuffer::heap(forged.len()).copy_from(&forged).unwrap();
        let read = Reader::default().read::<Chain<'_>>(filled);
        match read {
            Ok(received) => {
                assert!(format!("{:?}", received.get()).len() < 1000);
            }
            Err(failure) => {
                let text = failure.to_string();
                assert!(text.contains("is reached from itself"), "{text}");
                assert!(text.starts_with("Chain"), "{text}");
            }
        }
    }
    let mut forged = bytes.clone();
    forged[to_last] = 0;
    let text = refused::<Chain<'_>>(&forged);
    assert!(
        text.contains("a Chain is reached from itself although no Cell"),
        "{text}"
    );
}

#[test]
fn a_graph_without_circles_may_lead_back_to_earlier_objects() {
    // Two objects lead to the third, and the second is read before the first.
    let last = Chain {
        value: 9,
        next: None,
        other: None,
    };
    let a = Chain {
        value: 1,
        next: Some(&last),
        other: None,
    };
    let b = Chain {
        value: 2,
        next: Some(&a),
        other: Some(&last),
    };
    let c = Chain {
        value: 3,
        next: Some(&a),
        other: Some(&b),
    };
    let d = Chain {
        value: 4,
        next: Some(&b),
        other: Some(&a),
    };
    let root = Chain {
        value: 5,
        next: Some(&c),
        other: Some(&d),
    };
    let received = received::<Chain<'_>>(&bytes_of(&root));
    let got = received.get();
    assert_eq!(got, &root);
    let (c, d) = (got.next.unwrap(), got.other.unwrap());
    assert!(std::ptr::eq(c.next.unwrap(), d.other.unwrap()));
    assert!(std::ptr::eq(c.other.unwrap(), d.next.unwrap()));
    assert!(std::ptr::eq(d.next.unwrap().next.unwrap(), c.next.unwrap()));
}

#[test]
fn every_byte_of_a_shared_graph_corrupted() {
    let bytes = bytes_of(&team());
    for at in 0..bytes.len() {
        for flip in [1u8, 2, 0x40, 0x80, 0xff] {
            let mut forged = bytes.clone();
            forged[at] ^= flip;
            let filled = EmptyBuffer::heap(forged.len()).copy_from(&forged).unwrap();
            if let Ok(received) = Reader::default().read::<Team>(filled) {
                assert!(!format!("{received:?}").is_empty());
                let _ = received.get().to_owned();
            }
        }
    }
}

#[test]
fn shared_objects_have_a_limit() {
    // One object with 99 further pointers, and 100 objects beside the root.
    let one = Rc::new(1u64);
    let further = vec![one; 100];
    let objects: Vec<_> = (0..100u64).map(Rc::new).collect();
    for (many, needed) in [(further, 99), (objects, 101)] {
        for (most, fits) in [(10, false), (needed - 1, false), (needed, true)] {
            let mut limits = Limits::default();
            limits.shared = most;
            let filled = Writer::new()
                .write(&many, EmptyBuffer::heap(1 << 16))
                .unwrap();
            let read = Reader::new(limits).read::<Vec<Rc<u64>>>(filled);
            assert_eq!(read.is_ok(), fits, "{most} of {needed}");
            if let Err(failure) = read {
                assert!(failure.to_string().contains("Limits::shared"), "{failure}");
            }
        }
    }
}

#[test]
fn a_million_shared_objects_each_met_twice() {
    let all: Vec<Rc<u64>> = (0..1_000_000).map(Rc::new).collect();
    let twice = (all.clone(), all);
    let filled = Writer::new()
        .write(&twice, EmptyBuffer::heap(64 << 20))
        .unwrap();
    let received = Reader::default()
        .read::<(Vec<Rc<u64>>, Vec<Rc<u64>>)>(filled)
        .unwrap();
    let (first, second) = received.get();
    assert!(first.iter().zip(*second).all(|(a, b)| a.ptr_eq(*b)));
    assert!((0..).zip(*first).all(|(i, a)| **a == i));
}

fn covariant<T: Covariant>() {}

#[test]
fn shared_references_are_covariant() {
    covariant::<Team>();
    covariant::<Chain<'static>>();
    covariant::<Vec<Rc<str>>>();
}
