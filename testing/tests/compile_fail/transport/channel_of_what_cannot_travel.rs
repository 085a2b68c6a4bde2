//! A channel carries objects that can be sent, which a pointer can't.

use jstream_transport::channel;

struct Place {
    at: *const u8,
}

fn open(place: &Place) {
    let _ = place.at;
    let _ = channel::<Place>("inproc://places");
}

fn main() {
    let _ = open;
}
