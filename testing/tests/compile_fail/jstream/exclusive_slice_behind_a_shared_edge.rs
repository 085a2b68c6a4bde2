//! An exclusive slice cannot lie behind a shared reference.

use jstream::{Received, Shared, Transportable};

#[derive(Transportable)]
struct Column<'b> {
    values: &'b mut [f64],
}

#[derive(Transportable)]
struct Table<'b> {
    first: Shared<'b, Column<'b>>,
    second: Shared<'b, Column<'b>>,
}

fn change(received: &mut Received<Table<'static>>) {
    received.with_mut(|table| table.first.get().values[0] = 1.0);
}

fn main() {
    let _ = change;
}
