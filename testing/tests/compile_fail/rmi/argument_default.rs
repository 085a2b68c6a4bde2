//! The default of an argument has its type.

use jstream_rmi::remote;

#[derive(jstream::Transportable, Clone, Copy)]
struct Empty(u8);

#[remote]
trait Store {
    fn text(&self, #[remote(default = 7)] text: &str);
    fn none(&self, #[remote(default)] of: Empty);
}

fn main() {}
