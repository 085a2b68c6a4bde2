//! Scans: in each round, a rank combines what the rank at twice the distance has combined.

use super::accumulator::Accumulator;
use crate::schedule::{Builder, Order, Position};

pub(super) fn inclusive(builder: &mut Builder, at: Position) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    let mut sum = Accumulator::new(input, output);
    let mut distance = 1;
    while distance < size {
        let from = rank.checked_sub(distance);
        let received = from.map(|from| {
            let target = sum.target(builder, 0, input.len);
            builder.receive(from, target);
            target
        });
        if rank + distance < size {
            builder.send(rank + distance, sum.held());
        }
        builder.wait();
        if let Some(received) = received {
            sum.combine(builder, received, 0, true);
        }
        distance *= 2;
    }
    sum.finish(builder);
}

pub(super) fn exclusive(builder: &mut Builder, at: Position) {
    let Position { rank, size } = at;
    let (input, output) = (builder.input(), builder.output());
    let result = builder.scratch(input.len);
    let mut sum = Accumulator::new(input, result);
    let mut distance = 1;
    while distance < size {
        let from = rank.checked_sub(distance);
        let received = from.map(|from| {
            let target = sum.target(builder, 0, input.len);
            builder.receive(from, target);
            target
        });
        if rank + distance < size {
            builder.send(rank + distance, sum.held());
        }
        builder.wait();
        if let Some(received) = received {
            if distance == 1 {
                builder.copy(received, output);
            } else {
                builder.combine(received, output, Order::WithFirst);
            }
            sum.combine(builder, received, 0, true);
        }
        distance *= 2;
    }
}
