//! Memory that a scope of a rank borrows must outlive the scope.

use jstream_transport::rank::Rank;

fn receive(rank: &Rank) {
    rank.scope(|scope| {
        let mut memory = [0u32; 4];
        std::mem::forget(scope.irecv(1, 7, &mut memory));
    });
}

fn main() {
    let _ = receive;
}
