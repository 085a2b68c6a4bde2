#[derive(Transportable)]
pub struct Order<'b> {
    id: u64,
    symbol: &'b str,
    legs: &'b [Leg],
    parent: Option<&'b Order<'b>>,
}
