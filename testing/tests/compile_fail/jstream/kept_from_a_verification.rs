//! A verify function cannot keep references to the object.

use std::sync::Mutex;

use jstream::Transportable;

static SEEN: Mutex<Vec<&'static str>> = Mutex::new(Vec::new());

fn keep(order: &Order<'_>) -> Result<(), String> {
    SEEN.lock().unwrap().push(order.symbol);
    Ok(())
}

#[derive(Transportable)]
#[transportable(verify = keep)]
struct Order<'b> {
    symbol: &'b str,
}

fn main() {}
