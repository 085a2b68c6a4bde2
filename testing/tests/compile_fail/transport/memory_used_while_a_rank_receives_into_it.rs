//! While a scope of a rank lends memory to a receive, nobody looks at it.

use jstream_transport::rank::Rank;

fn receive(rank: &Rank, memory: &mut [u32]) {
    rank.scope(|scope| {
        let receiving = scope.irecv(1, 7, memory);
        assert_eq!(memory[0], 0);
        receiving.wait().unwrap();
    });
}

fn main() {
    let _ = receive;
}
