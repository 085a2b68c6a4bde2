//! Values of all kinds keep their meaning.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU16;
use std::rc::Rc;

use super::{convert, convert_bytes};
use jstream::{Transportable, to_vec};

/// A value beside which a field was added, so that its type is converted.
#[derive(Transportable)]
struct With<T> {
    value: T,
    added: Option<u8>,
}

#[derive(Transportable)]
struct Without<T> {
    value: T,
}

macro_rules! check {
    ($old:ty => $new:ty: $value:expr => $expected:expr) => {
        let received = convert::<Without<$old>, With<$new>>(&Without { value: $value });
        let received = received.unwrap();
        received.with(|with| {
            assert_eq!(with.value, $expected);
            assert_eq!(with.added, None);
        });
    };
    ($same:ty: $value:expr => $expected:expr) => {
        check!($same => $same: $value => $expected)
    };
}

#[test]
fn numbers() {
    check!(u8 => u128: 200 => 200u128);
    check!(u8 => i16: 200 => 200i16);
    check!(i8 => i64: -3 => -3i64);
    check!(i64 => i128: i64::MIN => i128::from(i64::MIN));
    check!(f32 => f64: 0.25 => 0.25f64);
    check!(NonZeroU16 => u32: NonZeroU16::new(9).unwrap() => 9u32);
    check!(char: 'é' => 'é');
    check!(bool: true => true);
    check!(u128: 5 => 5);
}

#[test]
fn options_of_every_form() {
    for value in [None, Some(7)] {
        check!(Option<u32>: value => value);
        check!(Option<u32> => Option<u64>: value => value.map(u64::from));
    }
    for value in [None, Some(true), Some(false)] {
        check!(Option<bool>: value => value);
        check!(Option<Option<bool>>: Some(value) => Some(value));
    }
    for value in [None, NonZeroU16::new(3)] {
        check!(Option<NonZeroU16>: value => value);
        check!(Option<NonZeroU16> => Option<u16>: value => value.map(u16::from));
    }
    for value in [None, Some("text".to_owned())] {
        check!(Option<String>: value.clone() => value.as_deref());
        check!(Option<(String, u8)>: value.clone().map(|t| (t, 3)) => value.as_deref().map(|t| (t, 3)));
    }
    check!(u32 => Option<u32>: 5 => Some(5));
    check!(String => Option<String>: "a".to_owned() => Some("a"));
}

#[test]
fn results() {
    for value in [Ok("a".to_owned()), Err(3u16)] {
        let expected = value.as_ref().map(|text| &**text).map_err(|code| *code);
        check!(Result<String, u16>: value.clone() => expected);
        check!(Result<String, u16> => Result<String, u32>: value.clone() => expected.map_err(u32::from));
    }
}

/// Options whose tags lie in the text, in another order than that of the old fields.
#[test]
fn tags_in_the_text_are_found_in_another_order() {
    #[derive(Transportable, Clone, Debug, PartialEq)]
    struct Pair {
        text: String,
        other: Option<String>,
    }
    #[derive(Transportable)]
    struct Old {
        first: Option<Pair>,
        second: Vec<Option<Pair>>,
        third: Option<Pair>,
    }
    #[derive(Transportable)]
    struct New {
        third: Option<Pair>,
        second: Vec<Option<Pair>>,
        first: Option<Pair>,
    }
    let pair = |text: &str| Pair {
        text: text.to_owned(),
        other: None,
    };
    let old = Old {
        first: Some(pair("one")),
        second: vec![None, Some(pair("two")), None],
        third: None,
    };
    let received = convert::<Old, New>(&old).unwrap();
    let new = received.get();
    let text = |pair: &Option<PairRef<'_>>| pair.as_ref().map(|pair| pair.text.to_owned());
    assert_eq!(text(&new.first).as_deref(), Some("one"));
    assert!(new.third.is_none());
    let second: Vec<_> = new.second.iter().map(text).collect();
    assert_eq!(second, [None, Some("two".to_owned()), None]);
}

#[test]
fn arrays_and_slices() {
    check!([u16; 3] => [u32; 3]: [1, 2, 3] => [1, 2, 3]);
    check!([u16; 3] => Vec<u32>: [1, 2, 3] => [1, 2, 3]);
    check!(Vec<u8> => Vec<u64>: (0..100).collect::<Vec<_>>() => (0..100).collect::<Vec<u64>>());
    check!(Vec<f32> => Vec<f64>: vec![0.5; 40] => [0.5; 40]);
    check!(Vec<bool>: vec![true, false, true] => [true, false, true]);
    check!(Vec<Vec<String>>: vec![vec!["a".to_owned()], vec![]] => [&["a"][..], &[]]);
    check!(Vec<()>: vec![(); 5] => [(); 5]);
    check!([String; 2]: ["x".to_owned(), "y".to_owned()] => ["x", "y"]);
}

#[test]
fn maps_and_sets() {
    let names: Vec<String> = (0..1000).map(|n| format!("name {n}")).collect();
    let hashed: HashMap<String, u16> = names.iter().cloned().zip(0..).collect();
    let old = Without {
        value: hashed.clone(),
    };
    let received = convert::<_, With<HashMap<String, u32>>>(&old).unwrap();
    let map = &received.get().value;
    assert_eq!(map.len(), 1000);
    for (name, number) in &hashed {
        assert_eq!(map.get(&**name), Some(&u32::from(*number)));
    }
    let old = Without {
        value: (0..500u16).collect::<HashSet<_>>(),
    };
    let received = convert::<_, With<HashSet<u64>>>(&old).unwrap();
    let set = &received.get().value;
    assert!((0..500).all(|n| set.contains(&n)) && !set.contains(&500));
    let old = Without {
        value: (0..500i16).map(|n| (n, n)).collect::<BTreeMap<_, _>>(),
    };
    let received = convert::<_, With<BTreeMap<i32, i64>>>(&old).unwrap();
    let map = &received.get().value;
    assert!((0..500).all(|n| map.get(&n) == Some(&i64::from(n))));
}

#[test]
fn keys_that_would_be_ordered_otherwise_are_refused() {
    let old = Without {
        value: HashMap::from([(vec![1u16], 1u8)]),
    };
    let error = super::refusal::<_, With<HashMap<Vec<u32>, u8>>>(&old);
    assert!(error.contains("keys"), "{error}");
}

#[test]
fn shared_objects_stay_shared() {
    #[derive(Transportable)]
    struct Old {
        dropped: Rc<String>,
        first: Rc<String>,
        list: Vec<Rc<String>>,
    }
    #[derive(Transportable)]
    struct New {
        list: Vec<Rc<String>>,
        first: Rc<String>,
    }
    let (one, other) = (Rc::new("one".to_owned()), Rc::new("other".to_owned()));
    let old = Old {
        dropped: one.clone(),
        first: other.clone(),
        list: vec![other, one.clone(), one],
    };
    let received = convert::<Old, New>(&old).unwrap();
    let new = received.get();
    let texts: Vec<&str> = new.list.iter().map(|text| &***text).collect();
    assert_eq!(texts, ["other", "one", "one"]);
    assert!(std::ptr::eq(*new.list[1], *new.list[2]));
    assert!(std::ptr::eq(*new.list[0], *new.first));
}

#[test]
fn cycles_stay_cycles() {
    #[derive(Transportable)]
    struct Old<'b> {
        number: u16,
        next: Cell<Option<&'b Old<'b>>>,
    }
    #[derive(Transportable)]
    struct New<'b> {
        next: Cell<Option<&'b New<'b>>>,
        number: u32,
    }
    let (a, b) = (
        Old {
            number: 1,
            next: Cell::new(None),
        },
        Old {
            number: 2,
            next: Cell::new(None),
        },
    );
    a.next.set(Some(&b));
    b.next.set(Some(&a));
    let bytes = to_vec(&a).unwrap();
    let received = convert_bytes::<Old<'static>, New<'static>>(&bytes).unwrap();
    received.with(|new| {
        let next = new.next.get().unwrap();
        assert_eq!((new.number, next.number), (1, 2));
        assert!(std::ptr::eq(next.next.get().unwrap(), new));
    });
}

#[test]
fn enums_with_fields() {
    #[derive(Transportable)]
    enum Old {
        Circle { radius: f32, name: String },
        Square(u16),
        Nothing,
    }
    #[derive(Transportable)]
    #[transportable(derive(Debug, PartialEq))]
    enum New {
        Nothing,
        Square(u64),
        Circle { name: String, radius: f64 },
        Added(String),
    }
    let old = vec![
        Old::Circle {
            radius: 0.5,
            name: "c".to_owned(),
        },
        Old::Square(3),
        Old::Nothing,
    ];
    let received = convert::<Vec<Old>, Vec<New>>(&old).unwrap();
    let expected = [
        NewRef::Circle {
            name: "c",
            radius: 0.5,
        },
        NewRef::Square(3),
        NewRef::Nothing,
    ];
    assert_eq!(*received.get(), expected);
}

pub(super) mod first {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(crate) trait Shape {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(crate) struct Square {
        pub(crate) side: u32,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            u64::from(self.side)
        }
    }

    #[derive(Transportable)]
    pub(crate) struct Drawing {
        pub(crate) shapes: Vec<Box<dyn Shape>>,
    }
}

pub(super) mod second {
    use jstream::{Transportable, transportable};

    #[transportable]
    pub(crate) trait Shape {
        fn area(&self) -> u64;
    }

    #[derive(Transportable)]
    #[transportable(implements(Shape))]
    pub(crate) struct Square {
        pub(crate) name: Option<u8>,
        pub(crate) side: u64,
    }

    impl Shape for Square {
        fn area(&self) -> u64 {
            self.side.pow(2)
        }
    }

    #[derive(Transportable)]
    pub(crate) struct Drawing {
        pub(crate) title: Option<String>,
        pub(crate) shapes: Vec<Box<dyn Shape>>,
    }
}

#[test]
fn trait_objects_become_those_of_the_class_of_the_same_name() {
    let old = first::Drawing {
        shapes: vec![
            Box::new(first::Square { side: 3 }),
            Box::new(first::Square { side: 5 }),
        ],
    };
    assert_eq!(old.shapes[0].area(), 3);
    let received = convert::<first::Drawing, second::Drawing>(&old).unwrap();
    received.with(|drawing| {
        let areas: Vec<u64> = drawing.shapes.iter().map(|shape| shape.area()).collect();
        assert_eq!(areas, [9, 25]);
        assert!(drawing.title.is_none());
    });
}

#[test]
fn structs_of_widened_numbers_keep_their_fields() {
    #[derive(Transportable)]
    #[repr(C)]
    struct OldPoint {
        x: f32,
        y: f32,
        z: f32,
    }
    #[derive(Transportable)]
    struct Old {
        few: Vec<OldPoint>,
        many: Vec<[OldPoint; 2]>,
        one: OldPoint,
    }
    #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
    #[repr(C)]
    struct Wide {
        x: f64,
        y: f64,
        z: f64,
    }
    #[derive(Transportable)]
    struct New {
        few: Vec<Wide>,
        many: Vec<[Wide; 2]>,
        one: Wide,
    }
    /// Fields in another order, and a part of the old ones.
    #[derive(Transportable, Debug, PartialEq, Clone, Copy)]
    #[repr(C)]
    struct Swapped {
        z: f64,
        x: f64,
    }
    #[derive(Transportable)]
    struct NewSwapped {
        few: Vec<Swapped>,
        many: Vec<[Swapped; 2]>,
        one: Swapped,
    }
    let point = |number: u16| OldPoint {
        x: f32::from(number),
        y: f32::from(number) + 0.25,
        z: f32::from(number) + 0.5,
    };
    let old = Old {
        few: (0..3).map(point).collect(),
        many: (0..500).map(|n| [point(n), point(n + 1)]).collect(),
        one: point(9),
    };
    let wide = |number: u16| Wide {
        x: f64::from(number),
        y: f64::from(number) + 0.25,
        z: f64::from(number) + 0.5,
    };
    convert::<Old, New>(&old).unwrap().with(|new| {
        assert_eq!(new.few, [wide(0), wide(1), wide(2)]);
        let many: Vec<_> = (0..500).map(|n| [wide(n), wide(n + 1)]).collect();
        assert_eq!(new.many, many);
        assert_eq!(new.one, wide(9));
    });
    let swapped = |number: u16| Swapped {
        z: f64::from(number) + 0.5,
        x: f64::from(number),
    };
    convert::<Old, NewSwapped>(&old).unwrap().with(|new| {
        assert_eq!(new.few, [swapped(0), swapped(1), swapped(2)]);
        let many: Vec<_> = (0..500).map(|n| [swapped(n), swapped(n + 1)]).collect();
        assert_eq!(new.many, many);
        assert_eq!(new.one, swapped(9));
    });
}
