//! A received object borrows from its buffer and must not outlive it.

use jstream_transport::channel::Receiver;

fn longest(receiver: &Receiver<Vec<String>>) -> &str {
    let received = receiver.recv().unwrap();
    let lines = received.get();
    lines.iter().max_by_key(|line| line.len()).unwrap()
}

fn main() {
    let _ = longest;
}
