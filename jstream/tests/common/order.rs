// Included by tests of several crates; the descriptor of `Order` is the same in each of them.

#[derive(Transportable)]
#[repr(C)]
pub(crate) struct Order<'b> {
    id: u64,
    symbol: &'b str,
    legs: &'b [Leg],
    parent: Option<&'b Order<'b>>,
}

#[derive(Transportable)]
#[repr(C)]
pub(crate) struct Leg {
    price: f64,
    quantity: u32,
    side: Side,
}

#[derive(Transportable)]
#[repr(u8)]
pub(crate) enum Side {
    Buy,
    Sell,
}

/// The descriptor of `Order`. A change of it is a change of the message format.
pub(crate) const DESCRIPTOR: u64 = 0xf0b8_e599_21d5_b625;
