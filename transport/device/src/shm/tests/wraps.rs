//! Positions, laps and data places that wrap around.

use std::sync::atomic::Ordering;

use super::super::mapping::{Control, DATA, Mapping, SLOTS};
use super::super::ring::{Consumer, Kind, Producer, SlotMark, Stretch, lap};

/// Returns a ring as if this many slots and bytes of data had been used before.
fn ring_at(at: u64, data_at: u64) -> (Producer, Consumer) {
    let (mapping, _) = Mapping::create().unwrap();
    let [lane, _] = mapping.lanes();
    for before in 1..=SLOTS as u64 {
        let position = at.wrapping_sub(before);
        let mark = lap(position) << 32 | (Kind::Data as u64) << 28;
        lane.slot(position)[0].store(mark, Ordering::Relaxed);
    }
    lane.control(Control::Consumed).store(at, Ordering::Relaxed);
    let producer = Producer::new(lane.clone()).starting_at(at, data_at);
    let consumer = Consumer::new(lane).starting_at(at, data_at);
    (producer, consumer)
}

/// Fills and empties the ring several times.
fn go_on(mut producer: Producer, mut consumer: Consumer, n: usize) {
    for round in 0..10 {
        let mut places = Vec::new();
        assert!(consumer.next().unwrap().is_none(), "round {round}");
        while producer.has_room(n, Stretch::preferred(n)).unwrap() {
            places.push(producer.data_at());
            let _ = producer.publish(SlotMark::new(Kind::Data, n));
        }
        assert_eq!(places.len(), SLOTS.min(DATA / n.next_multiple_of(64)));
        for place in places {
            let mark = consumer.next().unwrap().unwrap();
            assert_eq!((mark.n, consumer.data_at(mark)), (n, place));
            let _ = consumer.release(mark);
        }
        assert!(producer.is_all_consumed().unwrap());
    }
}

#[test]
fn positions_and_places_wrap() {
    let slots = SLOTS as u64;
    // The whole position wraps, or the lap in a slot.
    for wraps in [0, (1 << 32) * slots] {
        for before in [0, 1, slots - 1, slots, slots + 1, 3 * slots] {
            for data_before in [0, 64, DATA as u64 - 64, DATA as u64, 3 * DATA as u64 + 64] {
                for n in [100, 9000] {
                    let at = u64::wrapping_sub(wraps, before);
                    let (producer, consumer) = ring_at(at, 0u64.wrapping_sub(data_before));
                    go_on(producer, consumer, n);
                }
            }
        }
    }
}
