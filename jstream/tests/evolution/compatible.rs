//! Which versions are compatible.

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
