//! Only traits are interfaces.

use jstream_rmi::remote;

#[remote]
struct Store;

fn main() {}
