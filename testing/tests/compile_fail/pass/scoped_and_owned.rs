//! Memory that is lent in a scope, and what is sent on or owned outside of one.

use std::io::IoSlice;

use jstream::{MessageBuffer, Received};
use jstream_transport::{Endpoint, Header};

fn lend(endpoint: &Endpoint, memory: &mut [u8]) -> usize {
    let local = vec![1; 10];
    let sent = endpoint.scope(|scope| {
        let segments = [IoSlice::new(memory), IoSlice::new(&local)];
        let one = scope.post_send(Header::default(), &segments);
        let two = scope.post_send(Header::default(), &[]);
        usize::from(one.wait().is_ok()) + usize::from(two.is_done())
    });
    memory.fill(0);
    sent
}

fn own(endpoint: &Endpoint, message: MessageBuffer, received: Received<&'static str>) {
    std::mem::forget(endpoint.post_send(Header::default(), message));
    let _ = endpoint.send_received(0, received);
}

async fn wait(endpoint: &Endpoint) -> u64 {
    endpoint.post_send_object(0, &7u64).unwrap().await.unwrap();
    *endpoint.post_recv_object::<u64>().await.unwrap().get()
}

fn main() {
    let _ = (lend, own, wait);
}
