#[derive(Transportable)]
#[transportable(verify = in_order, verify = rules::not_empty)]
struct Range {
    #[transportable(verify = positive)]
    from: u64,
    to: u64,
}
