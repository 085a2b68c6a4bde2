// Included by tests of several crates, in which it has one descriptor.

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

/// The descriptor of `Order`: whoever changes it changes the format of messages.
pub(crate) const DESCRIPTOR: u64 = 0xf0b8_e599_21d5_b625;
