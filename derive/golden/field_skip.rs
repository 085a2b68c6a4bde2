#[derive(Transportable)]
struct Order<'b> {
    symbol: &'b str,
    #[transportable(skip)]
    handle: usize,
}

#[derive(Transportable)]
struct Owner {
    name: String,
    #[transportable(skip, form = ())]
    lock: Mutex<u8>,
}
