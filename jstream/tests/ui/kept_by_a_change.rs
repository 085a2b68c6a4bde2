//! Who may change an object can't store in it a reference to what may be changed.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Column<'b> {
    count: u64,
    link: &'b u64,
    seen: &'b [f64],
    values: &'b mut [f64],
}

fn keep(received: &mut Received<Column<'static>>) {
    received.with_mut(|column| column.link = &column.count);
    received.with_mut(|column| column.seen = &*column.values);
}

fn main() {
    let _ = keep;
}
