//! So may a future.

use jstream_transport::{Endpoint, Header};

async fn send(endpoint: &Endpoint, memory: &[u8]) {
    let _ = endpoint.post_send(Header::default(), memory).await;
}

fn main() {
    let _ = send;
}
