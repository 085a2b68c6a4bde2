//! A visitor of an object cannot modify it.

use jstream::{Received, Transportable};

#[derive(Transportable)]
struct Column<'b> {
    values: &'b mut [f64],
}

fn change(received: &Received<Column<'static>>) {
    received.with(|column| column.values[0] = 1.0);
}

fn main() {
    let _ = change;
}
