//! No receive leaves the scope that waits for it.

use jstream_transport::rank::Rank;

fn receive(rank: &Rank, memory: &mut [u32]) {
    let receiving = rank.scope(|scope| scope.irecv(1, 7, memory));
    receiving.wait().unwrap();
}

fn main() {
    let _ = receive;
}
