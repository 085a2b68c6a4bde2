#[derive(Transportable)]
pub struct Leg {
    price: f64,
    quantity: u32,
    open: bool,
}

#[derive(Transportable)]
struct Unit;

#[derive(Transportable)]
struct Pair(u8, [u16; 3]);
