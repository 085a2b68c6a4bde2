//! A closure that modifies an object cannot store a reference to its parts in it.

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
