//! Compatible and incompatible versions.

use super::{convert, refusal};
use jstream::Transportable;

mod old {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        pub(super) id: u32,
        pub(super) symbol: String,
        pub(super) legs: Vec<Leg>,
        pub(super) trader: Box<Trader>,
    }

    #[derive(Transportable, Clone)]
    pub(super) struct Leg {
        pub(super) price: f32,
        pub(super) side: Side,
        pub(super) note: String,
    }

    #[derive(Transportable, Clone, Copy)]
    pub(super) enum Side {
        Sell,
        Buy,
        Hold,
    }

    #[derive(Transportable)]
    pub(super) struct Trader {
        pub(super) name: String,
        pub(super) desk: Option<u16>,
    }
}

#[derive(Transportable)]
struct Order {
    legs: Vec<Leg>,
    trader: Box<Trader>,
    id: u64,
    tags: Option<Vec<String>>,
    symbol: Option<String>,
}

#[derive(Transportable)]
struct Leg {
    side: Side,
    price: f64,
}

#[derive(Transportable, Clone, Copy, Debug, PartialEq)]
enum Side {
    Buy,
    Sell,
}

#[derive(Transportable)]
struct Trader {
    desk: Option<u32>,
    name: String,
}

fn order(sides: &[old::Side]) -> old::Order {
    let leg = |(index, side): (usize, &old::Side)| old::Leg {
        price: 1.5 + index as f32,
        side: *side,
        note: format!("note {index}"),
    };
    old::Order {
        id: 7,
        symbol: "ACMÉ".to_owned(),
        legs: sides.iter().enumerate().map(leg).collect(),
        trader: Box::new(old::Trader {
            name: "Ada".to_owned(),
            desk: Some(9),
        }),
    }
}

#[test]
fn fields_are_matched_by_name_and_widened() {
    let received = convert::<old::Order, Order>(&order(&[old::Side::Buy, old::Side::Sell]));
    let received = received.unwrap();
    let order = received.get();
    assert_eq!(
        (order.id, order.symbol, order.tags),
        (7, Some("ACMÉ"), None)
    );
    let legs: Vec<_> = order.legs.iter().map(|leg| (leg.side, leg.price)).collect();
    assert_eq!(legs, [(Side::Buy, 1.5), (Side::Sell, 2.5)]);
    assert_eq!((order.trader.name, order.trader.desk), ("Ada", Some(9)));
}

#[test]
fn an_unknown_variant_refuses_only_messages_that_have_it() {
    let error = refusal::<old::Order, Order>(&order(&[old::Side::Buy, old::Side::Hold]));
    assert!(error.contains("Order.legs[].side"), "{error}");
    assert!(error.contains("no variant `Hold`"), "{error}");
}

#[test]
fn a_missing_field_is_named_with_the_cure() {
    #[derive(Transportable)]
    struct Order {
        id: u32,
        price: f64,
    }
    let error = refusal::<old::Order, Order>(&order(&[]));
    assert!(error.contains("Order.price"), "{error}");
    assert!(error.contains("#[transportable(default)]"), "{error}");
    let _ = |order: Order| (order.id, order.price);
}

#[test]
fn numbers_are_not_narrowed_by_themselves() {
    let error = refusal::<u64, u32>(&7);
    assert!(error.contains("`u64` can't become `u32`"), "{error}");
    assert!(error.contains("narrow"), "{error}");
    let error = refusal::<u32, i32>(&7);
    assert!(error.contains("`u32` can't become `i32`"), "{error}");
    let error = refusal::<u32, f64>(&7);
    assert!(error.contains("`u32` can't become `f64`"), "{error}");
}

#[test]
fn kinds_do_not_change() {
    assert!(refusal::<u32, String>(&7).contains("`u32` can't become `&str`"));
    assert!(refusal::<Vec<u8>, String>(&vec![7]).contains("`&[u8]` can't become `&str`"));
    assert!(refusal::<Option<u32>, u32>(&Some(7)).contains("default"));
}

mod ruled {
    use jstream::Transportable;

    #[derive(Transportable)]
    pub(super) struct Order {
        #[transportable(renamed_from = "symbol")]
        pub(super) ticker: String,
        #[transportable(default = 3)]
        pub(super) quantity: u16,
        #[transportable(default = vec!["none".to_owned()])]
        pub(super) tags: Vec<String>,
        #[transportable(default)]
        pub(super) price: f64,
        pub(super) trader: Box<Trader>,
        pub(super) legs: Vec<Leg>,
        #[transportable(narrow)]
        pub(super) id: u8,
    }

    #[derive(Transportable)]
    pub(super) struct Trader {
        #[transportable(default = 40)]
        pub(super) desk: u16,
    }

    #[derive(Transportable)]
    pub(super) struct Leg {
        pub(super) side: Side,
    }

    #[derive(Transportable, Clone, Copy, Debug, PartialEq)]
    pub(super) enum Side {
        #[transportable(renamed_from = "Buy")]
        Bid,
        #[transportable(other)]
        Unknown,
    }
}

#[test]
fn rules_of_the_new_version_apply() {
    let sides = [old::Side::Buy, old::Side::Hold, old::Side::Sell];
    let received = convert::<old::Order, ruled::Order>(&order(&sides)).unwrap();
    let order = received.get();
    assert_eq!(
        (order.ticker, order.quantity, order.price),
        ("ACMÉ", 3, 0.0)
    );
    assert_eq!((order.tags, order.id), (&["none"][..], 7));
    let sides: Vec<_> = order.legs.iter().map(|leg| leg.side).collect();
    assert_eq!(
        sides,
        [ruled::Side::Bid, ruled::Side::Unknown, ruled::Side::Unknown]
    );
    assert_eq!(order.trader.desk, 9);
    assert!(received.is_converted());
}

#[test]
fn a_default_replaces_none() {
    let mut old = order(&[]);
    old.trader.desk = None;
    let received = convert::<old::Order, ruled::Order>(&old).unwrap();
    assert_eq!(received.get().trader.desk, 40);
}

#[test]
fn a_number_that_does_not_fit_is_refused_with_its_value() {
    let mut old = order(&[]);
    old.id = 256;
    let error = refusal::<old::Order, ruled::Order>(&old);
    assert!(
        error.contains("Order.id: the new type has no value 256"),
        "{error}"
    );
}

#[test]
fn what_must_be_understood_is_not_left_out() {
    mod sent {
        #[derive(jstream::Transportable)]
        pub(super) struct Order {
            pub(super) id: u32,
            pub(super) terms: Vec<Term>,
        }

        #[derive(jstream::Transportable)]
        pub(super) struct Term {
            pub(super) text: String,
            #[transportable(must_understand)]
            pub(super) cap: Option<u32>,
        }
    }
    mod without_cap {
        #[derive(jstream::Transportable)]
        pub(super) struct Order {
            pub(super) id: u32,
            pub(super) terms: Vec<Term>,
        }

        #[derive(jstream::Transportable)]
        pub(super) struct Term {
            pub(super) text: String,
        }
    }
    #[derive(Transportable)]
    struct WithoutTerms {
        id: u64,
    }
    let order = sent::Order {
        id: 1,
        terms: vec![sent::Term {
            text: "t".to_owned(),
            cap: None,
        }],
    };
    let error = refusal::<sent::Order, without_cap::Order>(&order);
    assert!(error.contains("Order.terms[].cap"), "{error}");
    let error = refusal::<sent::Order, WithoutTerms>(&order);
    assert!(
        error.contains(".terms: the new version lacks the field"),
        "{error}"
    );
    let _ = |order: without_cap::Order| (order.id, order.terms.len());
    let _ = |order: WithoutTerms| order.id;
    let _ = |term: without_cap::Term| term.text;
}

#[test]
fn a_default_that_panics_refuses_the_versions() {
    fn panicking() -> u32 {
        panic!("no value today")
    }
    #[derive(Transportable)]
    struct Order {
        id: u32,
        #[transportable(default = panicking())]
        extra: u32,
    }
    let error = refusal::<old::Order, Order>(&order(&[]));
    assert!(error.contains("Order.extra: the default"), "{error}");
    assert!(error.contains("panicked"), "{error}");
    let _ = |order: Order| (order.id, order.extra);
}
