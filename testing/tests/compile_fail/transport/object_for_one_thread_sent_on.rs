//! An object that may not go to another thread is not sent on as it is: it could move there.

use std::cell::Cell;

use jstream::{Received, Transportable};
use jstream_transport::Endpoint;

#[derive(Transportable)]
struct Link<'b> {
    next: Cell<Option<&'b Link<'b>>>,
}

fn send_on(endpoint: &Endpoint, received: Received<Link<'static>>) {
    let _ = endpoint.send_received(0, received);
}

fn main() {
    let _ = send_on;
}
