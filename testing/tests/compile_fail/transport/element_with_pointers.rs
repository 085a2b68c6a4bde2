//! The elements of a rank's messages are plain values. The error says what to do with others.

use jstream_transport::rank::Rank;

struct Named {
    name: String,
}

fn send(rank: &Rank) {
    rank.send(1, 7, &["text".to_owned()]).unwrap();
    let _ = rank.recv_value::<Named>(1, 7);
}

fn main() {
    let _ = send;
}
