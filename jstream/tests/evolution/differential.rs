//! Random values, converted by the library and by functions of this file.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::num::{NonZeroI32, NonZeroU8, NonZeroU16, NonZeroU64};
use std::ops::{Bound, RangeInclusive};
use std::rc::Rc;

use proptest::collection::{btree_map, btree_set, hash_map, hash_set, vec};
use proptest::option;
use proptest::prelude::*;

use super::convert;
use jstream::{ReadError, Restore, Transportable};

/// Converts a value, and copies the result to the heap.
fn library<Old, New>(old: &Old) -> Result<New, ReadError>
where
    Old: Transportable + 'static,
    New: Transportable + Restore + 'static,
{
    Ok(convert::<Old, New>(old)?.to_owned().unwrap())
}

#[track_caller]
fn assert_same<Old, New>(old: &Old, by_hand: &New)
where
    Old: Transportable + 'static,
    New: Transportable + Restore + PartialEq + Debug + 'static,
{
    assert_eq!(&library::<Old, New>(old).unwrap(), by_hand);
}

/// As `assert_same`, for conversions that may be refused.
#[track_caller]
fn assert_same_result<Old, New>(old: &Old, by_hand: Option<&New>)
where
    Old: Transportable + 'static,
    New: Transportable + Restore + PartialEq + Debug + 'static,
{
    match (library::<Old, New>(old), by_hand) {
        (Ok(converted), Some(by_hand)) => assert_eq!(&converted, by_hand),
        (Err(ReadError::Conversion { .. }), None) => {}
        (converted, by_hand) => panic!("{converted:?} instead of {by_hand:?}"),
    }
}

mod orders {
    use super::*;

    pub(super) mod old {
        use jstream::Transportable;

        #[derive(Transportable, Debug, Clone)]
        pub(crate) struct Order {
            pub(crate) id: u32,
            pub(crate) symbol: String,
            pub(crate) legs: Vec<Leg>,
            pub(crate) desk: Option<u16>,
            pub(crate) note: Option<String>,
            pub(crate) flags: [bool; 3],
        }

        #[derive(Transportable, Debug, Clone)]
        pub(crate) struct Leg {
            pub(crate) side: Side,
            pub(crate) price: f32,
            pub(crate) label: String,
            pub(crate) amount: i16,
        }

        #[derive(Transportable, Debug, Clone, Copy)]
        pub(crate) enum Side {
            Buy,
            Sell,
            Hold,
        }
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct Order {
        flags: Vec<bool>,
        legs: Vec<Leg>,
        #[transportable(renamed_from = "symbol")]
        ticker: Option<String>,
        #[transportable(default = 9)]
        desk: u64,
        #[transportable(default = vec!["none".to_owned(), String::new()])]
        tags: Vec<String>,
        id: u64,
        extra: Option<Box<Leg>>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct Leg {
        amount: i64,
        #[transportable(default = 0.5)]
        rate: f64,
        label: String,
        side: Side,
        price: f64,
    }

    #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
    enum Side {
        #[transportable(other)]
        Unknown,
        Sell,
        #[transportable(renamed_from = "Buy")]
        Bid,
    }

    fn by_hand(old: &old::Order) -> Order {
        let leg = |leg: &old::Leg| Leg {
            amount: leg.amount.into(),
            rate: 0.5,
            label: leg.label.clone(),
            side: match leg.side {
                old::Side::Buy => Side::Bid,
                old::Side::Sell => Side::Sell,
                old::Side::Hold => Side::Unknown,
            },
            price: leg.price.into(),
        };
        Order {
            flags: old.flags.to_vec(),
            legs: old.legs.iter().map(leg).collect(),
            ticker: Some(old.symbol.clone()),
            desk: old.desk.map_or(9, u64::from),
            tags: vec!["none".to_owned(), String::new()],
            id: old.id.into(),
            extra: None,
        }
    }

    prop_compose! {
        fn leg()(
            side in prop_oneof![Just(old::Side::Buy), Just(old::Side::Sell), Just(old::Side::Hold)],
            price in -1e30f32..1e30,
            label in ".{0,6}",
            amount: i16,
        ) -> old::Leg {
            old::Leg { side, price, label, amount }
        }
    }

    prop_compose! {
        fn order()(
            id: u32,
            symbol in ".{0,9}",
            legs in vec(leg(), 0..6),
            desk: Option<u16>,
            note in option::of(".{0,9}"),
            flags: [bool; 3],
        ) -> old::Order {
            old::Order { id, symbol, legs, desk, note, flags }
        }
    }

    proptest! {
        #[test]
        fn are_converted(old in order()) {
            assert_same(&old, &by_hand(&old));
        }

        #[test]
        fn are_converted_in_lists(old in vec(order(), 0..5)) {
            let new: Vec<Order> = old.iter().map(by_hand).collect();
            assert_same(&old, &new);
        }
    }
}

mod trees {
    use super::*;

    #[derive(Transportable, Debug, Clone)]
    struct Old {
        value: i32,
        children: Vec<Old>,
        favourite: Option<Box<Old>>,
        name: Option<String>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct New {
        name: Option<String>,
        depth: Option<u8>,
        favourite: Option<Box<New>>,
        value: i64,
        #[transportable(renamed_from = "children")]
        parts: Vec<New>,
    }

    fn by_hand(old: &Old) -> New {
        New {
            name: old.name.clone(),
            depth: None,
            favourite: old.favourite.as_deref().map(|old| Box::new(by_hand(old))),
            value: old.value.into(),
            parts: old.children.iter().map(by_hand).collect(),
        }
    }

    fn tree() -> impl Strategy<Value = Old> {
        let leaf = (any::<i32>(), option::of(".{0,4}"));
        let leaf = leaf.prop_map(|(value, name)| Old {
            value,
            children: Vec::new(),
            favourite: None,
            name,
        });
        leaf.prop_recursive(5, 40, 4, |inner| {
            let parts = (any::<i32>(), option::of(".{0,4}"), vec(inner.clone(), 0..4));
            (parts, option::of(inner)).prop_map(|((value, name, children), favourite)| Old {
                value,
                children,
                favourite: favourite.map(Box::new),
                name,
            })
        })
    }

    proptest! {
        #[test]
        fn are_converted(old in tree()) {
            assert_same(&old, &by_hand(&old));
        }
    }
}

mod tags {
    use super::*;

    /// Options and results with and without a place for their tags.
    #[derive(Transportable, Debug, Clone)]
    struct Old {
        options: Vec<Option<Option<Option<u8>>>>,
        texts: Vec<Option<Option<String>>>,
        results: Vec<Result<u32, String>>,
        #[allow(clippy::type_complexity, reason = "it is the case")]
        nested: Vec<Result<Result<u16, Option<String>>, Vec<u16>>>,
        arrays: [Result<String, Vec<u8>>; 3],
        numbers: Option<NonZeroU8>,
        flags: Vec<Option<Option<bool>>>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct New {
        numbers: Option<NonZeroU64>,
        arrays: Vec<Result<String, Vec<u8>>>,
        #[allow(clippy::type_complexity, reason = "it is the case")]
        nested: Vec<Result<Result<u64, Option<String>>, Vec<u32>>>,
        options: Vec<Option<Option<Option<u16>>>>,
        results: Vec<Option<Result<u64, String>>>,
        texts: Vec<Option<Option<String>>>,
        added: Option<Option<String>>,
        flags: Vec<Option<Option<Option<bool>>>>,
    }

    fn by_hand(old: &Old) -> New {
        let options = old.options.iter();
        let options = options.map(|of| of.map(|of| of.map(|of| of.map(u16::from))));
        let results = old.results.iter().cloned();
        let results = results.map(|of| Some(of.map(u64::from)));
        let nested = old.nested.iter().cloned().map(|of| {
            let of = of.map(|of| of.map(u64::from));
            of.map_err(|list| list.into_iter().map(u32::from).collect())
        });
        let flags = old.flags.iter().map(|of| of.map(|of| of.map(Some)));
        New {
            numbers: old.numbers.map(NonZeroU64::from),
            arrays: old.arrays.to_vec(),
            nested: nested.collect(),
            options: options.collect(),
            results: results.collect(),
            texts: old.texts.clone(),
            added: None,
            flags: flags.collect(),
        }
    }

    fn result<T: Debug + Clone, E: Debug + Clone>(
        ok: impl Strategy<Value = T>,
        err: impl Strategy<Value = E>,
    ) -> impl Strategy<Value = Result<T, E>> {
        proptest::result::maybe_ok(ok, err)
    }

    prop_compose! {
        fn old()(
            options in vec(any::<Option<Option<Option<u8>>>>(), 0..6),
            texts in vec(option::of(option::of(".{0,4}")), 0..6),
            results in vec(result(any::<u32>(), ".{0,4}"), 0..6),
            nested in vec(result(result(any::<u16>(), option::of(".{0,4}")), vec(any::<u16>(), 0..3)), 0..6),
            arrays in proptest::array::uniform3(result(".{0,4}", vec(any::<u8>(), 0..3))),
            numbers in option::of((1..=u8::MAX).prop_map(|n| NonZeroU8::new(n).unwrap())),
            flags: Vec<Option<Option<bool>>>,
        ) -> Old {
            Old { options, texts, results, nested, arrays, numbers, flags }
        }
    }

    proptest! {
        #[test]
        fn are_converted(old in old()) {
            assert_same(&old, &by_hand(&old));
        }
    }
}

mod maps {
    use super::*;

    #[derive(Transportable, Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
    enum OldKey {
        Number(u16),
        Pair { a: i8, b: String },
        None,
    }

    /// The key has the same name as the older one.
    mod new {
        use super::Transportable;

        #[derive(Transportable, Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub(super) enum OldKey {
            Number(u32),
            Pair {
                #[transportable(renamed_from = "a")]
                first: i64,
                b: String,
            },
            None,
        }
    }

    #[derive(Transportable, Debug, Clone)]
    struct Old {
        sorted: BTreeMap<i16, String>,
        hashed: HashMap<i8, u16>,
        unsigned: HashMap<u8, String>,
        set: HashSet<NonZeroU16>,
        ordered: BTreeSet<(u8, Option<i8>)>,
        pairs: HashMap<(char, [u8; 2]), Vec<u8>>,
        keys: HashMap<OldKey, OldKey>,
        sorted_keys: BTreeMap<Box<OldKey>, u8>,
        texts: HashMap<String, Option<bool>>,
        results: HashSet<Result<u8, bool>>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct New {
        keys: HashMap<new::OldKey, new::OldKey>,
        sorted: BTreeMap<i64, String>,
        hashed: HashMap<i64, u32>,
        unsigned: HashMap<i32, String>,
        set: HashSet<NonZeroU64>,
        ordered: BTreeSet<(u64, Option<i16>)>,
        pairs: HashMap<(char, [u8; 2]), Vec<u8>>,
        sorted_keys: BTreeMap<Box<new::OldKey>, u32>,
        added: Option<u8>,
        texts: HashMap<String, Option<bool>>,
        results: HashSet<Result<u32, bool>>,
    }

    fn key(old: &OldKey) -> new::OldKey {
        match old {
            OldKey::Number(number) => new::OldKey::Number((*number).into()),
            OldKey::Pair { a, b } => new::OldKey::Pair {
                first: (*a).into(),
                b: b.clone(),
            },
            OldKey::None => new::OldKey::None,
        }
    }

    fn by_hand(old: &Old) -> New {
        let sorted = old.sorted.iter();
        let hashed = old.hashed.iter();
        let unsigned = old.unsigned.iter();
        let ordered = old.ordered.iter();
        let sorted_keys = old.sorted_keys.iter();
        New {
            keys: old.keys.iter().map(|(a, b)| (key(a), key(b))).collect(),
            sorted: sorted
                .map(|(key, text)| ((*key).into(), text.clone()))
                .collect(),
            hashed: hashed
                .map(|(key, value)| ((*key).into(), (*value).into()))
                .collect(),
            unsigned: unsigned
                .map(|(key, text)| ((*key).into(), text.clone()))
                .collect(),
            set: old.set.iter().map(|key| (*key).into()).collect(),
            ordered: ordered
                .map(|(a, b)| ((*a).into(), b.map(i16::from)))
                .collect(),
            pairs: old.pairs.clone(),
            sorted_keys: sorted_keys
                .map(|(old, value)| (Box::new(key(old)), (*value).into()))
                .collect(),
            added: None,
            texts: old.texts.clone(),
            results: old.results.iter().map(|key| key.map(u32::from)).collect(),
        }
    }

    fn a_key() -> impl Strategy<Value = OldKey> {
        prop_oneof![
            any::<u16>().prop_map(OldKey::Number),
            (any::<i8>(), ".{0,3}").prop_map(|(a, b)| OldKey::Pair { a, b }),
            Just(OldKey::None),
        ]
    }

    prop_compose! {
        fn old()(
            sorted in btree_map(any::<i16>(), ".{0,3}", 0..20),
            hashed: HashMap<i8, u16>,
            unsigned in hash_map(any::<u8>(), ".{0,3}", 0..20),
            set in hash_set((1..=u16::MAX).prop_map(|n| NonZeroU16::new(n).unwrap()), 0..20),
            ordered in btree_set(any::<(u8, Option<i8>)>(), 0..20),
            pairs: HashMap<(char, [u8; 2]), Vec<u8>>,
            keys in hash_map(a_key(), a_key(), 0..20),
            sorted_keys in btree_map(a_key().prop_map(Box::new), any::<u8>(), 0..20),
            texts in hash_map(".{0,3}", any::<Option<bool>>(), 0..20),
            results in hash_set(any::<Result<u8, bool>>(), 0..20),
        ) -> Old {
            Old {
                sorted, hashed, unsigned, set, ordered, pairs, keys, sorted_keys, texts, results,
            }
        }
    }

    proptest! {
        /// A map that is read finds each key where its order or hash says.
        #[test]
        fn are_converted(old in old()) {
            let new = by_hand(&old);
            assert_same(&old, &new);
            let received = convert::<Old, New>(&old).unwrap();
            received.with(|form| {
                for (key, text) in &new.sorted {
                    assert_eq!(form.sorted.get(key), Some(&&**text));
                }
                for (key, value) in &new.hashed {
                    assert_eq!(form.hashed.get(key), Some(value));
                }
                for (key, text) in &new.unsigned {
                    assert_eq!(form.unsigned.get(key), Some(&&**text));
                }
                assert!(new.set.iter().all(|key| form.set.contains(key)));
                assert!(new.ordered.iter().all(|key| form.ordered.contains(key)));
                assert!(new.results.iter().all(|key| form.results.contains(key)));
                for (key, value) in &new.pairs {
                    assert_eq!(form.pairs.get(key), Some(&&**value));
                }
                for (key, value) in &new.texts {
                    assert_eq!(form.texts.get(&**key), Some(value));
                }
            });
        }
    }
}

mod numbers {
    use super::*;

    #[derive(Transportable, Debug, Clone)]
    struct Old {
        a: i128,
        b: u128,
        c: f64,
        d: u32,
        e: i64,
        f: Vec<i32>,
        g: Option<u64>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct New {
        #[transportable(narrow)]
        a: i64,
        #[transportable(narrow)]
        b: i128,
        #[transportable(narrow)]
        c: f32,
        #[transportable(narrow)]
        d: NonZeroU16,
        #[transportable(narrow)]
        e: u128,
        #[transportable(narrow)]
        f: Vec<Option<NonZeroI32>>,
        #[transportable(narrow, default = -5)]
        g: i8,
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the nearest number is expected"
    )]
    fn by_hand(old: &Old) -> Option<New> {
        let near = old.c as f32;
        let list = old
            .f
            .iter()
            .map(|number| Some(Some(NonZeroI32::new(*number)?)));
        Some(New {
            a: old.a.try_into().ok()?,
            b: old.b.try_into().ok()?,
            c: (near.is_finite() || !old.c.is_finite()).then_some(near)?,
            d: NonZeroU16::new(old.d.try_into().ok()?)?,
            e: old.e.try_into().ok()?,
            f: list.collect::<Option<_>>()?,
            g: match old.g {
                Some(number) => number.try_into().ok()?,
                None => -5,
            },
        })
    }

    fn float() -> impl Strategy<Value = f64> {
        let edges = [
            f64::MAX,
            f64::MIN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            1e-320,
            3.5e38,
            f64::from(f32::MAX),
            -f64::from(f32::MAX),
            3.402_823_567_797_336_6e38,
        ];
        prop_oneof![proptest::sample::select(edges.to_vec()), -1e39..1e39]
    }

    prop_compose! {
        fn old()(
            a in prop_oneof![
                8 => any::<i64>().prop_map(i128::from),
                1 => proptest::sample::select(vec![
                    i128::MIN, i128::MAX, i64::MAX as i128 + 1, i64::MIN as i128 - 1,
                ]),
            ],
            b in prop_oneof![
                8 => any::<u64>().prop_map(u128::from),
                1 => proptest::sample::select(vec![
                    u128::MAX, i128::MAX as u128, i128::MAX as u128 + 1,
                ]),
            ],
            c in float(),
            d in prop_oneof![8 => 0..100u32, 1 => 65_534..65_538u32],
            e in prop_oneof![8 => 0..100i64, 1 => Just(i64::MIN), 1 => Just(-1), 1 => Just(i64::MAX)],
            f in vec(prop_oneof![30 => any::<i32>(), 1 => Just(0)], 0..4),
            g in option::of(prop_oneof![8 => 0..128u64, 1 => 120..300u64]),
        ) -> Old {
            Old { a, b, c, d, e, f, g }
        }
    }

    proptest! {
        #[test]
        fn are_narrowed_if_they_fit(old in old()) {
            assert_same_result(&old, by_hand(&old).as_ref());
        }

        #[test]
        fn keep_all_bits_of_a_float(bits: u32) {
            #[derive(Transportable)]
            struct Old {
                a: f32,
            }
            #[derive(Transportable)]
            struct New {
                a: f64,
            }
            let value = f32::from_bits(bits);
            let received = convert::<Old, New>(&Old { a: value }).unwrap();
            let (expected, found) = (f64::from(value), received.get().a);
            assert!(found.is_nan() && expected.is_nan() || found.to_bits() == expected.to_bits());
        }
    }
}

mod shared {
    use super::*;

    #[derive(Transportable, Debug, Clone)]
    struct Old {
        dropped: Vec<Rc<String>>,
        list: Vec<Rc<Part>>,
        again: Vec<Option<Rc<Part>>>,
    }

    #[derive(Transportable, Debug)]
    struct Part {
        number: u8,
        text: Rc<String>,
    }

    #[derive(Transportable, Debug)]
    struct New {
        again: Vec<Option<Rc<NewPart>>>,
        list: Vec<Rc<NewPart>>,
        added: Option<u8>,
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct NewPart {
        text: Rc<String>,
        number: u16,
    }

    proptest! {
        /// Objects that were shared are, and others are not.
        #[test]
        fn are_converted(
            texts in vec(".{0,4}", 1..4),
            parts in vec((any::<u8>(), any::<prop::sample::Index>()), 1..6),
            dropped in vec(any::<prop::sample::Index>(), 0..4),
            list in vec(any::<prop::sample::Index>(), 0..9),
            again in vec(option::of(any::<prop::sample::Index>()), 0..9),
        ) {
            let texts: Vec<Rc<String>> = texts.into_iter().map(Rc::new).collect();
            let parts: Vec<Rc<Part>> = parts.into_iter().map(|(number, text)| {
                Rc::new(Part { number, text: text.get(&texts).clone() })
            }).collect();
            let old = Old {
                dropped: dropped.iter().map(|index| index.get(&texts).clone()).collect(),
                list: list.iter().map(|index| index.get(&parts).clone()).collect(),
                again: again.iter().map(|of| of.map(|index| index.get(&parts).clone())).collect(),
            };
            let new = library::<Old, New>(&old).unwrap();
            let before: Vec<&Rc<Part>> = old.list.iter().chain(old.again.iter().flatten()).collect();
            let after: Vec<&Rc<NewPart>> = new.list.iter().chain(new.again.iter().flatten()).collect();
            assert_eq!(before.len(), after.len());
            for (old, new) in before.iter().zip(&after) {
                assert_eq!((&old.text, u16::from(old.number)), (&new.text, new.number));
                for (other, of_other) in before.iter().zip(&after) {
                    assert_eq!(Rc::ptr_eq(old, other), Rc::ptr_eq(new, of_other));
                    let same = Rc::ptr_eq(&old.text, &other.text);
                    assert_eq!(same, Rc::ptr_eq(&new.text, &of_other.text));
                }
            }
            let is_some = |of: &Vec<Option<Rc<Part>>>| of.iter().map(Option::is_some).collect::<Vec<_>>();
            let found: Vec<bool> = new.again.iter().map(Option::is_some).collect();
            assert_eq!(is_some(&old.again), found);
        }
    }
}

mod ranges {
    use super::*;

    #[derive(Transportable, Debug, Clone)]
    struct Old {
        range: RangeInclusive<u8>,
        bounds: Vec<(Bound<i16>, Bound<String>)>,
        event: Event,
    }

    #[derive(Transportable, Debug, Clone)]
    enum Event {
        Moved { x: i8, y: i8 },
        Named(String, u8),
        Gone,
        Many([Option<u8>; 2], Vec<Event>),
    }

    #[derive(Transportable, Debug, PartialEq)]
    struct New {
        bounds: Vec<(Bound<i64>, Bound<String>)>,
        event: Option<NewEvent>,
        range: RangeInclusive<u32>,
        #[transportable(default)]
        added: (u8, String),
    }

    #[derive(Transportable, Debug, PartialEq)]
    enum NewEvent {
        Added(u64),
        Many(Vec<Option<u16>>, Vec<NewEvent>),
        Named(String, u64, Option<String>),
        Moved {
            y: i64,
            #[transportable(default = 4)]
            z: i64,
            x: i64,
        },
    }

    fn event(old: &Event) -> Option<NewEvent> {
        Some(match old {
            Event::Moved { x, y } => NewEvent::Moved {
                y: (*y).into(),
                z: 4,
                x: (*x).into(),
            },
            Event::Named(name, number) => NewEvent::Named(name.clone(), (*number).into(), None),
            Event::Gone => return None,
            Event::Many(numbers, events) => NewEvent::Many(
                numbers.iter().map(|of| of.map(u16::from)).collect(),
                events.iter().map(event).collect::<Option<_>>()?,
            ),
        })
    }

    fn by_hand(old: &Old) -> Option<New> {
        let bounds = old.bounds.iter().cloned();
        Some(New {
            bounds: bounds.map(|(a, b)| (a.map(i64::from), b)).collect(),
            event: Some(event(&old.event)?),
            range: (*old.range.start()).into()..=(*old.range.end()).into(),
            added: (0, String::new()),
        })
    }

    fn bound<T: Debug + Clone + 'static>(
        of: impl Strategy<Value = T> + 'static,
    ) -> impl Strategy<Value = Bound<T>> {
        let of = of.boxed();
        prop_oneof![
            of.clone().prop_map(Bound::Included),
            of.prop_map(Bound::Excluded),
            Just(Bound::Unbounded),
        ]
    }

    fn an_event() -> impl Strategy<Value = Event> {
        let leaf = prop_oneof![
            6 => any::<(i8, i8)>().prop_map(|(x, y)| Event::Moved { x, y }),
            6 => (".{0,4}", any::<u8>()).prop_map(|(name, number)| Event::Named(name, number)),
            1 => Just(Event::Gone),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            let parts = (any::<[Option<u8>; 2]>(), vec(inner, 0..3));
            parts.prop_map(|(numbers, events)| Event::Many(numbers, events))
        })
    }

    prop_compose! {
        fn old()(
            start: u8,
            end: u8,
            bounds in vec((bound(any::<i16>()), bound(".{0,4}")), 0..4),
            event in an_event(),
        ) -> Old {
            Old { range: start..=end, bounds, event }
        }
    }

    proptest! {
        #[test]
        fn and_events_are_converted(old in old()) {
            assert_same_result(&old, by_hand(&old).as_ref());
        }
    }
}
