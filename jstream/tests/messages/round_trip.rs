//! Written objects are read back equal, in place.

use std::num::{NonZeroU16, NonZeroU64, Wrapping};

use crate::common;

use common::{Arenas, Leg, Node, Shape, Side, message, plant, seeds, walk};
use jstream::{EmptyBuffer, Plain, Pool, Reader, Transportable, WriteError, Writer};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_graph_comes_back_equal(seed in seeds()) {
        let arenas = Arenas::default();
        let sent = plant(&seed, &arenas);
        let pool = Pool::default();
        let mut writer = Writer::new();
        let mut reader = Reader::default();

        let gathered = writer.write_to(&sent, &pool).unwrap();
        let written = writer.write(&sent, EmptyBuffer::heap(gathered.len())).unwrap();
        prop_assert_eq!(gathered.as_bytes(), written.as_bytes(), "the writers disagree");
        for filled in [gathered, written] {
            let received = reader.read::<Node<'static>>(filled).unwrap();
            prop_assert_eq!(received.get(), &sent);
            prop_assert_eq!(walk(received.get()), walk(&sent));
        }
    }

    #[test]
    fn a_jbuf_too_small_is_given_back(seed in seeds(), part in 0.0..1.0f64) {
        let arenas = Arenas::default();
        let sent = plant(&seed, &arenas);
        let whole = message(&sent);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below the length")]
        let capacity = (whole.len() as f64 * part) as usize;
        let unwritten = Writer::new().write(&sent, EmptyBuffer::heap(capacity)).unwrap_err();
        prop_assert_eq!(unwritten.buffer.capacity(), capacity);
        let end_of_stream = matches!(unwritten.error, WriteError::EndOfStream { .. });
        prop_assert!(end_of_stream);
    }
}

fn round_trip<T>(value: &T, check: impl for<'x> FnOnce(&'x T::InPlace<'x>))
where
    T: Transportable + 'static,
{
    let received = Reader::default().read::<T>(message(value)).unwrap();
    received.with(check);
}

#[test]
fn owned_containers_arrive_as_references() {
    let sent = (
        String::from("x"),
        vec![String::from("y"), String::new()],
        Some(Box::new(vec![1u8, 2])),
        None::<Box<str>>,
    );
    round_trip(&sent, |got| {
        assert_eq!(*got, ("x", &["y", ""][..], Some(&&[1u8, 2][..]), None));
    });
}

#[test]
fn extremes_survive() {
    round_trip(
        &(u128::MAX, i128::MIN, f64::MIN_POSITIVE, char::MAX),
        |got| {
            assert_eq!(*got, (u128::MAX, i128::MIN, f64::MIN_POSITIVE, char::MAX));
        },
    );
    round_trip(&[(); 0], |got| assert!(got.is_empty()));
    round_trip(&vec![(); 1000], |got| assert_eq!(got.len(), 1000));
    round_trip(&vec![Some(Some(false)), Some(None), None], |got| {
        assert_eq!(*got, [Some(Some(false)), Some(None), None]);
    });
    round_trip(&(), |()| ());
    round_trip(&([const { [] as [String; 0] }; 3], 1u8), |got| {
        assert_eq!(got.1, 1)
    });
}

/// Nested options beside text, with and without room for their tags in the slot.
#[test]
fn options_of_every_layout() {
    type Deep = Option<Option<Option<(bool, String)>>>;
    type Value = (Deep, Option<u32>, Option<char>, Option<[u16; 3]>);
    let values: Vec<Value> = vec![
        (None, None, None, None),
        (Some(None), Some(0), Some('ß'), Some([1, 2, 3])),
        (Some(Some(None)), Some(u32::MAX), Some('\0'), None),
        (
            Some(Some(Some((true, "text".into())))),
            None,
            None,
            Some([0; 3]),
        ),
    ];
    round_trip(&values, |got| {
        for (got, sent) in got.iter().zip(&values) {
            let inner = |of: &Deep| of.clone().flatten().flatten();
            assert_eq!(got.0.is_some(), sent.0.is_some());
            assert_eq!(
                got.0.flatten().flatten().map(|(b, s)| (b, s.to_owned())),
                inner(&sent.0)
            );
            assert_eq!((got.1, got.2, got.3), (sent.1, sent.2, sent.3));
        }
    });
}

/// Options of numbers and of one byte are plain bytes, alone and in slices.
#[test]
fn options_without_a_tag() {
    type Value = (
        Vec<Option<NonZeroU16>>,
        Vec<Option<bool>>,
        Vec<Option<Option<Color>>>,
        Vec<Option<Wrapping<bool>>>,
    );
    let value: Value = (
        vec![None, NonZeroU16::new(1), NonZeroU16::new(u16::MAX)],
        vec![None, Some(false), Some(true)],
        vec![
            None,
            Some(None),
            Some(Some(Color::Red)),
            Some(Some(Color::Blue)),
        ],
        vec![None, Some(Wrapping(false)), Some(Wrapping(true))],
    );
    let mut bytes = [&[0, 0, 1, 0, 0xff, 0xff][..], &[2, 0, 1], &[3, 2, 0, 1]].concat();
    bytes.extend([2, 0, 1]);
    assert!(message(&value).as_bytes().ends_with(&bytes));
    round_trip(&value, |got| {
        let (numbers, flags, colors, wrapped) = &value;
        let expected = (&**numbers, &**flags, &**colors, &**wrapped);
        assert_eq!(*got, expected);
    });
    for number in [None, NonZeroU64::new(7)] {
        let plain = Plain::of(&number).unwrap();
        let received = plain.place(EmptyBuffer::heap(8)).unwrap();
        assert_eq!(received.get(), &number);
    }
    assert!(Plain::of(&Some(true)).is_none());
}

#[derive(Transportable, Debug, Clone, Copy, PartialEq)]
enum Color {
    Red,
    Blue,
}

#[test]
fn results_of_every_layout() {
    type Value = (
        Result<u32, String>,
        Result<bool, ()>,
        Result<Box<u64>, char>,
        Result<(), Result<Vec<String>, u8>>,
        Option<Result<f64, Option<bool>>>,
    );
    let values: Vec<Value> = vec![
        (Ok(1), Ok(true), Ok(Box::new(7)), Ok(()), None),
        (
            Err("why".into()),
            Err(()),
            Err('ß'),
            Err(Err(9)),
            Some(Ok(1.5)),
        ),
        (
            Ok(0),
            Ok(false),
            Ok(Box::new(0)),
            Err(Ok(vec!["a".into()])),
            Some(Err(None)),
        ),
        (
            Err(String::new()),
            Err(()),
            Err('x'),
            Ok(()),
            Some(Err(Some(true))),
        ),
    ];
    round_trip(&values, |got| {
        for (got, sent) in got.iter().zip(&values) {
            assert_eq!(got.0, sent.0.as_ref().map(|n| *n).map_err(String::as_str));
            assert_eq!((got.1, got.4), (sent.1, sent.4));
            assert_eq!(got.2.copied(), sent.2.as_deref().copied().map_err(|c| *c));
            let expected = sent.3.as_ref().map_err(|e| e.as_deref().map_err(|n| *n));
            match (got.3, expected) {
                (Ok(()), Ok(())) => {}
                (Err(Ok(got)), Err(Ok(sent))) => assert_eq!(got, sent),
                (Err(Err(got)), Err(Err(sent))) => assert_eq!(got, sent),
                _ => panic!("the variant has changed"),
            }
        }
    });
}

#[test]
fn large_plain_arrays_are_lent_where_they_are() {
    let numbers: Vec<f64> = (0..100_000u32).map(f64::from).collect();
    let value = (1u8, &numbers[..], "text");
    let mut writer = Writer::new();
    let lent = writer
        .gather(&value, |segments| {
            segments
                .iter()
                .any(|segment| std::ptr::eq(segment.as_ptr(), numbers.as_ptr().cast()))
        })
        .unwrap();
    assert!(lent, "the array's own memory is one of the segments");
    let received = Reader::default()
        .read::<(u8, &'static [f64], &'static str)>(message(&value))
        .unwrap();
    assert_eq!(received.get().1, numbers);
    assert_eq!(received.get().2, "text");
}

#[test]
fn received_objects_are_ordinary_ones() {
    fn legs_of(node: &Node<'_>) -> usize {
        node.legs.len()
    }
    let legs = [Leg {
        price: 1.5,
        quantity: 3,
        side: Side::Sell,
    }; 2];
    let node = Node {
        id: 1,
        name: "n",
        side: Side::Buy,
        letter: 'x',
        legs: &legs,
        tags: &["a"],
        flags: &[true],
        flag: None,
        count: None,
        pair: Some((1, "one")),
        shape: Shape::Circle { radius: 0.5 },
        matrix: [[0; 2]; 3],
        children: &[],
        next: None,
    };
    let received = Reader::default()
        .read::<Node<'static>>(message(&node))
        .unwrap();
    let copy = *received.get();
    assert_eq!(legs_of(&copy), 2);
    // A received object can be sent again, alone or as part of another object.
    let wrapped = Node {
        next: Some(received.get()),
        ..node
    };
    let again = Reader::default()
        .read::<Node<'static>>(message(&wrapped))
        .unwrap();
    assert_eq!(again.get().next, Some(&node));
    let text = format!("{again:?}");
    assert!(text.starts_with("Received(Node"));
}

#[test]
fn contexts_serve_many_types_in_turn() {
    let pool = Pool::default();
    let mut writer = Writer::new();
    let mut reader = Reader::default();
    for i in 0..100u64 {
        let text = format!("message {i}");
        let filled = writer.write_to(&(i, text.as_str()), &pool).unwrap();
        let received = reader.read::<(u64, &'static str)>(filled).unwrap();
        assert_eq!(*received.get(), (i, text.as_str()));
        let filled = writer.write_to(&vec![i; 3], &pool).unwrap();
        assert_eq!(reader.read::<Vec<u64>>(filled).unwrap().get(), &[i; 3]);
    }
    assert_eq!(pool.stats().in_use, 0);
}
