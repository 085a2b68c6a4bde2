#[derive(Transportable)]
#[repr(u16)]
enum Side {
    Buy,
    Sell = 300,
}
