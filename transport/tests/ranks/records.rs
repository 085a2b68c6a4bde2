//! Layouts with fields of different types: the order of the types counts, and not the structs.

use std::mem::offset_of;
use std::thread;

use jstream_transport::rank::{
    self, Error, Field, FieldLayout, Layout, LayoutError, Options, Packed,
};
use proptest::prelude::*;
use testing::transport::ranks::{each, group, two};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Kinds of connections with different ways of a message.
const WAYS: [&str; 4] = ["threads", "inproc", "shm", "uds"];

/// Numbers of structs that are sent on the stack, eagerly and by rendezvous.
const COUNTS: [usize; 4] = [1, 100, 1_000, 30_000];

#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Particle {
    mass: f64,
    position: [f32; 3],
    charge: i32,
    flags: [u8; 6],
    kind: u16,
}

/// Another struct with three of the fields, in another order.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Dot {
    kind: u16,
    color: u16,
    position: [f32; 3],
    mass: f64,
}

/// A struct of these three fields alone.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C, packed)]
struct Plain {
    position: [f32; 3],
    kind: u16,
    mass: f64,
}

type Item = Packed<Packed<[f32; 3], u16>, f64>;

fn of_particle(layout: &Layout) -> FieldLayout<Particle, Item> {
    let position = Field::of(|p: &Particle| &p.position).unwrap();
    let kind = Field::of(|p: &Particle| &p.kind).unwrap();
    let mass = Field::at(offset_of!(Particle, mass)).unwrap();
    layout.record(&position.and(kind).and(mass))
}

fn of_dot(layout: &Layout) -> FieldLayout<Dot, Item> {
    let position = Field::of(|d: &Dot| &d.position).unwrap();
    let kind = Field::of(|d: &Dot| &d.kind).unwrap();
    let mass = Field::of(|d: &Dot| &d.mass).unwrap();
    layout.record(&position.and(kind).and(mass))
}

fn of_plain(layout: &Layout) -> FieldLayout<Plain, Item> {
    let position = Field::at(offset_of!(Plain, position)).unwrap();
    let kind = Field::at(offset_of!(Plain, kind)).unwrap();
    let mass = Field::at(offset_of!(Plain, mass)).unwrap();
    layout.record(&position.and(kind).and(mass))
}

fn particle(at: usize) -> Particle {
    Particle {
        mass: at as f64,
        position: [at as f32 + 0.5; 3],
        charge: -1,
        flags: [0xee; 6],
        kind: at as u16,
    }
}

fn particles(count: usize) -> Vec<Particle> {
    (0..count).map(particle).collect()
}

fn parts(item: Item) -> ([f32; 3], u16, f64) {
    let (first, mass) = item.into_parts();
    let (position, kind) = first.into_parts();
    (position, kind, mass)
}

fn expected(at: usize) -> ([f32; 3], u16, f64) {
    let Particle {
        position,
        kind,
        mass,
        ..
    } = particle(at);
    (position, kind, mass)
}

#[test]
fn records_of_different_structs_agree() {
    for way in WAYS {
        for count in COUNTS {
            let (zero, one) = two(way);
            // Every second struct at the sender.
            let sent = of_particle(&Layout::strided(count, 1, 2).unwrap());
            assert_eq!((sent.len(), sent.span()), (count, 2 * count - 1));
            let all = Layout::contiguous(count).unwrap();
            thread::scope(|scope| {
                scope.spawn(|| {
                    let particles = particles(2 * count);
                    for tag in 0..4 {
                        zero.layouts().send(1, tag, &particles, &sent).unwrap();
                    }
                    zero.scope(|scope| scope.isend_layout(1, 4, &particles, &sent).wait())
                        .unwrap();
                });
                // Without a struct.
                let (items, _) = one.recv_vec::<Item>(0, 0).unwrap();
                assert_eq!(items.len(), count);
                for (at, item) in items.into_iter().enumerate() {
                    assert_eq!(parts(item), expected(2 * at), "{way}");
                }
                let dot = Dot {
                    color: 7,
                    ..Dot::new_zeroed()
                };
                let mut dots = vec![dot; count];
                let status = one.layouts().recv(0, 1, &mut dots, &of_dot(&all)).unwrap();
                assert_eq!(status.len::<Item>(), count);
                for (at, dot) in dots.iter().enumerate() {
                    let found = (dot.position, dot.kind, dot.mass);
                    assert_eq!((found, dot.color), (expected(2 * at), 7), "{way}");
                }
                // Into all bytes of a struct, in place.
                let mut plain = vec![Plain::new_zeroed(); count];
                let layout = of_plain(&all);
                one.layouts().recv(0, 2, &mut plain, &layout).unwrap();
                for (at, plain) in plain.iter().enumerate() {
                    let found = (plain.position, plain.kind, plain.mass);
                    assert_eq!(found, expected(2 * at), "{way}");
                }
                // Into the same fields of the same struct. The other fields are unchanged.
                for tag in [3, 4] {
                    let mut copies = vec![Particle::new_zeroed(); 2 * count];
                    one.scope(|scope| scope.irecv_layout(0, tag, &mut copies, &sent).wait())
                        .unwrap();
                    for (at, copy) in copies.into_iter().enumerate() {
                        let mut right = Particle::new_zeroed();
                        if at % 2 == 0 {
                            (right.position, right.kind, right.mass) = expected(at);
                        }
                        assert_eq!(copy, right, "{way}");
                    }
                }
            });
        }
    }
}

#[test]
fn other_types_or_another_order_are_errors() {
    for way in WAYS {
        for count in COUNTS {
            let (zero, one) = two(way);
            let all = Layout::contiguous(count).unwrap();
            let sent = of_particle(&all);
            let position = Field::of(|d: &Dot| &d.position).unwrap();
            let kind = Field::of(|d: &Dot| &d.kind).unwrap();
            let mass = Field::of(|d: &Dot| &d.mass).unwrap();
            let mixed = all.record(&position.and(mass).and(kind));
            // The same sizes in the same order.
            let signed = Field::<Dot, i16>::at(offset_of!(Dot, kind)).unwrap();
            let similar = all.record(&position.and(signed).and(mass));
            thread::scope(|scope| {
                scope.spawn(|| {
                    let particles = particles(count);
                    for tag in 0..4 {
                        zero.layouts().send(1, tag, &particles, &sent).unwrap();
                    }
                });
                let mut dots = vec![Dot::new_zeroed(); count];
                let wrong = [
                    one.layouts().recv(0, 0, &mut dots, &mixed),
                    one.layouts().recv(0, 1, &mut dots, &similar),
                    one.recv(0, 2, &mut vec![0f64; 8 * count]),
                ];
                for received in wrong {
                    let error = received.unwrap_err();
                    assert!(
                        matches!(error, Error::WrongElements { rank: 0, .. }),
                        "{error}"
                    );
                }
                assert!(dots.iter().all(|dot| *dot == Dot::new_zeroed()), "{way}");
                one.layouts().recv(0, 3, &mut dots, &of_dot(&all)).unwrap();
            });
        }
    }
}

#[test]
fn a_message_of_another_length_is_cut_or_refused() {
    for way in WAYS {
        for count in COUNTS {
            let (zero, one) = two(way);
            let layout = of_dot(&Layout::contiguous(count).unwrap());
            thread::scope(|scope| {
                scope.spawn(|| {
                    let more = of_particle(&Layout::contiguous(count + 1).unwrap());
                    zero.layouts()
                        .send(1, 0, &particles(count + 1), &more)
                        .unwrap();
                    // Untyped bytes that end within the second field.
                    zero.send(1, 1, &[7u8; 13]).unwrap();
                    zero.send::<u8>(1, 2, &[]).unwrap();
                });
                let mut dots = vec![Dot::new_zeroed(); count];
                let error = one.layouts().recv(0, 0, &mut dots, &layout).unwrap_err();
                assert!(matches!(error, Error::Truncated { rank: 0, .. }), "{error}");
                assert!(dots.iter().all(|dot| *dot == Dot::new_zeroed()), "{way}");
                let status = one.layouts().recv(0, 1, &mut dots, &layout).unwrap();
                assert_eq!(status.bytes, 13);
                let right = Dot {
                    position: [f32::from_ne_bytes([7; 4]); 3],
                    kind: u16::from_le_bytes([7, 0]),
                    ..Dot::new_zeroed()
                };
                assert_eq!(dots[0], right);
                assert!(
                    dots[1..].iter().all(|dot| *dot == Dot::new_zeroed()),
                    "{way}"
                );
                let status = one.layouts().recv(0, 2, &mut dots, &layout).unwrap();
                assert_eq!((status.bytes, dots[0]), (0, right));
            });
        }
    }
}

#[test]
fn fields_outside_the_struct_are_errors() {
    let size = size_of::<Particle>();
    for offset in [size - 7, size, size + 1, usize::MAX - 7, usize::MAX] {
        let error = Field::<Particle, f64>::at(offset).unwrap_err();
        let expected = LayoutError::OutsideStruct {
            offset,
            length: 8,
            size,
        };
        assert_eq!(error, expected);
        assert!(error.to_string().contains(&offset.to_string()), "{error}");
    }
    Field::<Particle, f64>::at(size - 8).unwrap();
    Field::<Particle, Particle>::at(0).unwrap();
    Field::<Particle, [u64; 5]>::at(0).unwrap_err();
    Field::<Particle, [u8; 0]>::at(size).unwrap();
}

#[test]
fn overlapping_fields_can_only_be_sent() {
    let ranks = rank::threads(1, &Options::default());
    let charge = Field::of(|p: &Particle| &p.charge).unwrap();
    // The last two bytes of the charge and the first two of the flags.
    let between = Field::<Particle, u32>::at(offset_of!(Particle, charge) + 2).unwrap();
    let both = Layout::contiguous(2).unwrap().record(&charge.and(between));
    ranks[0].layouts().send(0, 1, &particles(2), &both).unwrap();
    let mut received = particles(2);
    let error = ranks[0]
        .layouts()
        .recv(0, 1, &mut received, &both)
        .unwrap_err();
    assert!(matches!(error, Error::Layout(LayoutError::Overlap)));
    let (items, _) = ranks[0].recv_vec::<Packed<i32, u32>>(0, 1).unwrap();
    assert_eq!(
        items[1].into_parts(),
        (-1, u32::from_ne_bytes([0xff, 0xff, 0xee, 0xee]))
    );
}

#[test]
fn records_without_bytes_are_empty_messages() {
    let ranks = rank::threads(1, &Options::default());
    let nothing = Field::<Particle, [u8; 0]>::at(0).unwrap();
    let layout = Layout::contiguous(3).unwrap().record(&nothing.and(nothing));
    ranks[0]
        .layouts()
        .send(0, 1, &particles(3), &layout)
        .unwrap();
    let status = ranks[0]
        .layouts()
        .recv(0, 1, &mut particles(3), &layout)
        .unwrap();
    assert_eq!(status.bytes, 0);
    // A slice of values without a size may have any length.
    let nothing = Field::<[u8; 0], [u16; 0]>::at(0).unwrap();
    let all = Layout::contiguous(usize::MAX)
        .unwrap()
        .record(&nothing.and(nothing));
    let mut nothings = [[0u8; 0]; usize::MAX];
    ranks[0].layouts().send(0, 2, &nothings, &all).unwrap();
    let status = ranks[0].layouts().recv(0, 2, &mut nothings, &all).unwrap();
    assert_eq!(status.bytes, 0);
}

#[test]
fn collectives_move_records() {
    for way in ["threads", "shm"] {
        let ranks = group(way, 3, &Options::default());
        let own = |rank: u32| Layout::indexed([(rank as usize, 1)]).unwrap();
        each(&ranks, |rank| {
            let number = rank.rank() as usize;
            let pair = of_dot(&Layout::contiguous(2).unwrap());
            let mut dots = if number == 1 {
                [1, 2].map(|at| Dot {
                    position: [at as f32; 3],
                    ..Dot::new_zeroed()
                })
            } else {
                [Dot::new_zeroed(); 2]
            };
            rank.layouts().broadcast(1, &mut dots, &pair).unwrap();
            assert_eq!(dots.map(|dot| dot.position), [[1.0; 3], [2.0; 3]]);

            // Each rank gets the particle of its number, and gives back the next one.
            let layouts: Vec<_> = (0..3).map(|rank| of_particle(&own(rank))).collect();
            let first = of_particle(&own(0));
            let mut mine = [Particle::new_zeroed()];
            rank.layouts()
                .scatter(0, &particles(3), &layouts, &mut mine, &first)
                .unwrap();
            let found = (mine[0].position, mine[0].kind, mine[0].mass);
            assert_eq!((found, mine[0].charge), (expected(number), 0));
            let mut gathered = [Particle::new_zeroed(); 3];
            let next = [particle(number + 1)];
            rank.layouts()
                .gather(2, &next, &first, &mut gathered, &layouts)
                .unwrap();
            if number == 2 {
                for (at, particle) in gathered.iter().enumerate() {
                    let found = (particle.position, particle.kind, particle.mass);
                    assert_eq!((found, particle.charge), (expected(at + 1), 0));
                }
            }

            // One rank has the fields in another order.
            let error = if number == 1 {
                let position = Field::of(|d: &Dot| &d.position).unwrap();
                let kind = Field::of(|d: &Dot| &d.kind).unwrap();
                let mass = Field::of(|d: &Dot| &d.mass).unwrap();
                let mixed = Layout::contiguous(2).unwrap();
                let mixed = mixed.record(&mass.and(position).and(kind));
                rank.layouts().broadcast(0, &mut dots, &mixed)
            } else {
                rank.layouts().broadcast(0, &mut dots, &pair)
            };
            if number == 1 {
                let error = error.unwrap_err();
                assert!(
                    matches!(error, Error::Disagreement { rank: 0, .. }),
                    "{error}"
                );
            }
        });
    }
}

/// Bytes of any value, to be selected by fields of different types.
#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Bytes([u8; 24]);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_record_selects_what_the_model_does(
        count in 1usize..40,
        offsets in (0usize..20, 0usize..20, 0usize..22, 0usize..24),
    ) {
        let (first, second, third, fourth) = offsets;
        let record = Field::<Bytes, u32>::at(first).unwrap()
            .and(Field::<Bytes, f32>::at(second).unwrap())
            .and(Field::<Bytes, i16>::at(third).unwrap())
            .and(Field::<Bytes, u8>::at(fourth).unwrap());
        let layout = Layout::contiguous(count).unwrap().record(&record);
        let parts = [(first, 4), (second, 4), (third, 2), (fourth, 1)];
        let indices: Vec<usize> = parts.iter().flat_map(|(at, len)| *at..at + len).collect();
        let element = |at: usize| Bytes(std::array::from_fn(|byte| (24 * at + byte) as u8));
        let elements: Vec<_> = (0..count).map(element).collect();
        let ranks = rank::threads(2, &Options::default());
        ranks[1].layouts().send(0, 1, &elements, &layout).unwrap();
        let (bytes, status) = ranks[0].recv_vec::<u8>(1, 1).unwrap();
        prop_assert_eq!(status.bytes as usize, 11 * count);
        let expected = elements.iter().flat_map(|one| indices.iter().map(|at| one.0[*at]));
        prop_assert!(expected.eq(bytes.iter().copied()));

        let mut received = vec![Bytes([0xee; 24]); count];
        ranks[1].layouts().send(0, 2, &elements, &layout).unwrap();
        let result = ranks[0].layouts().recv(1, 2, &mut received, &layout);
        let mut sorted = indices.clone();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            let is_right = matches!(result, Err(Error::Layout(LayoutError::Overlap)));
            prop_assert!(is_right);
            return Ok(());
        }
        result.unwrap();
        for (received, sent) in received.iter().zip(&elements) {
            for (at, byte) in received.0.iter().enumerate() {
                let right = if indices.contains(&at) { sent.0[at] } else { 0xee };
                prop_assert_eq!(*byte, right);
            }
        }
    }
}
