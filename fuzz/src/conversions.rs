//! Messages of other versions, under untrusted schemas and rules.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroU16;
use std::rc::Rc;

use jstream::schema::Schema;
use jstream::{EmptyBuffer, Limits, Reader, Transportable, Writer};
use xxhash_rust::xxh3::xxh3_64;

/// The old version of an [`Order`].
#[derive(Transportable)]
pub struct OldOrder {
    pub id: u32,
    pub sym: String,
    pub gone: Vec<Option<String>>,
    pub legs: Vec<OldLeg>,
    pub parent: Option<Box<OldOrder>>,
    pub notes: BTreeMap<u16, Rc<String>>,
    pub names: HashMap<String, u8>,
    pub first: Rc<String>,
    pub outcome: Result<u8, String>,
    pub codes: [u8; 4],
}

/// The old version of a [`Leg`].
#[derive(Transportable)]
pub struct OldLeg {
    pub side: OldSide,
    pub price: f32,
    pub lot: Option<NonZeroU16>,
    pub flag: Option<bool>,
}

/// The old version of a [`Side`].
#[derive(Transportable, Clone, Copy)]
pub enum OldSide {
    Sell,
    Buy,
    Hold,
}

#[derive(Transportable)]
#[transportable(derive(Debug))]
pub struct Order {
    pub first: Rc<String>,
    #[transportable(narrow)]
    pub id: u16,
    #[transportable(renamed_from = "sym")]
    pub symbol: Option<String>,
    pub legs: Vec<Leg>,
    pub parent: Option<Box<Order>>,
    pub names: HashMap<String, u32>,
    pub notes: BTreeMap<i64, Rc<String>>,
    #[transportable(default = vec!["tag".to_owned()])]
    pub tags: Vec<String>,
    pub outcome: Result<u16, String>,
    pub codes: Vec<u16>,
}

#[derive(Transportable, Debug)]
pub struct Leg {
    pub price: f64,
    #[transportable(default)]
    pub lot: u16,
    pub side: Side,
    pub flag: Option<bool>,
}

#[derive(Transportable, Clone, Copy, Debug)]
pub enum Side {
    Buy,
    #[transportable(other)]
    Other,
}

/// Reads a message as an [`Order`], after the reader has learnt a snapshot. The first two bytes are
/// the length of the snapshot without its check, which a fuzzer can't compute. The descriptor in
/// the message is replaced by that of the snapshot.
pub fn run(input: &[u8]) {
    let Some((len, rest)) = input.split_first_chunk() else {
        return;
    };
    let (snapshot, message) = rest.split_at(rest.len().min(u16::from_le_bytes(*len).into()));
    let mut checked = snapshot.to_vec();
    checked.extend_from_slice(&xxh3_64(snapshot).to_le_bytes());
    let mut limits = Limits::default();
    limits.bytes = 1 << 20;
    let mut reader = Reader::new(limits);
    let learnt = reader
        .learn_bytes(snapshot)
        .or_else(|_| reader.learn_bytes(&checked));
    let Ok(descriptor) = learnt else {
        return;
    };
    let mut message = message.to_vec();
    if let Some(place) = message.get_mut(8..16) {
        place.copy_from_slice(&descriptor.to_le_bytes());
    }
    // The second message uses the plan of the first one.
    for _ in 0..2 {
        let Ok(buffer) = EmptyBuffer::heap(message.len()).copy_from(&message) else {
            return;
        };
        match reader.read::<Order>(buffer) {
            Ok(received) => {
                assert!(!format!("{:?}", received.get()).is_empty());
                written_again(&received);
            }
            Err(failure) => assert!(!failure.to_string().is_empty()),
        }
    }
    other_direction(snapshot);
}

/// A converted object is written like any other.
fn written_again(received: &jstream::Received<Order>) {
    let message = Writer::new().write(received.get(), EmptyBuffer::heap(2 << 20));
    let message = message.expect("it was read");
    assert!(Reader::default().read::<Order>(message).is_ok());
}

/// Plans the conversion of orders to the untrusted schema.
fn other_direction(snapshot: &[u8]) {
    let Ok((schema, root)) = Schema::from_snapshot(snapshot) else {
        return;
    };
    let (own, own_root) = Schema::of::<Order>();
    if let Ok(found) = jstream::evolve::compatibility((&own, own_root), (&schema, root)) {
        assert!(found.findings().len() <= 1100);
        assert!(found.is_compatible() || !found.to_string().is_empty());
    }
}

/// Returns an input: a snapshot and a message of the old version.
pub fn seed(depth: u32) -> Vec<u8> {
    let (schema, root) = Schema::of::<OldOrder>();
    let snapshot = schema.to_snapshot(root).expect("it is short");
    let message = jstream::to_vec(&old_order(depth)).expect("it can be written");
    let len = u16::try_from(snapshot.len()).expect("it is short");
    [&len.to_le_bytes()[..], &snapshot, &message].concat()
}

fn old_order(depth: u32) -> OldOrder {
    let note = Rc::new(format!("note {depth}"));
    let leg = |side| OldLeg {
        side,
        price: 1.5,
        lot: NonZeroU16::new(depth as u16),
        flag: Some(depth % 2 == 0),
    };
    let sides = [OldSide::Buy, OldSide::Hold, OldSide::Sell];
    OldOrder {
        id: depth,
        sym: "ACMÉ".to_owned(),
        gone: vec![None, Some("gone".to_owned())],
        legs: sides.into_iter().take(depth as usize).map(leg).collect(),
        parent: depth.checked_sub(1).map(|depth| Box::new(old_order(depth))),
        notes: (0..depth as u16).map(|key| (key, note.clone())).collect(),
        names: (0..depth * 4).map(|name| (name.to_string(), 1)).collect(),
        first: note,
        outcome: if depth % 2 == 0 {
            Ok(7)
        } else {
            Err("error".to_owned())
        },
        codes: [1, 2, 3, 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_converted() {
        for depth in 0..4 {
            let seed = seed(depth);
            let len = usize::from(u16::from_le_bytes([seed[0], seed[1]]));
            let mut reader = Reader::default();
            reader.learn_bytes(&seed[2..2 + len]).unwrap();
            let message = EmptyBuffer::heap(seed.len())
                .copy_from(&seed[2 + len..])
                .unwrap();
            let received = reader.read::<Order>(message).unwrap();
            let order = received.get();
            assert_eq!(u32::from(order.id), depth);
            assert_eq!(order.tags, ["tag"]);
            run(&seed);
        }
    }
}
