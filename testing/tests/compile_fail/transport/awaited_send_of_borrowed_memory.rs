//! So may a future.

use jstream_transport::{Endpoint, Header};

async fn send(endpoint: &Endpoint, memory: &[u8]) {
    let _ = endpoint.send_message_async(Header::default(), memory).await;
}

fn main() {
    let _ = send;
}
