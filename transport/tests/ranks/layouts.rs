//! Layouts: a message has the selected elements without gaps, whatever the other side uses.

use std::thread;

use jstream_transport::rank::{self, Error, Field, Layout, LayoutError, Options, Rank};
use proptest::collection::vec;
use proptest::prelude::*;
use testing::LONG;
use testing::transport::ranks::{each, group, two};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Kinds of connections with different ways of a message.
const WAYS: [&str; 4] = ["threads", "inproc", "shm", "uds"];

/// A layout, built by a list of repetitions, with the indices that it selects.
fn modelled(blocks: &[(usize, usize)], repeats: &[(usize, usize)]) -> (Layout, Vec<usize>) {
    let mut layout = Layout::indexed(blocks.iter().copied()).unwrap();
    let mut indices: Vec<_> = blocks.iter().flat_map(|(at, len)| *at..at + len).collect();
    for (count, extent) in repeats {
        layout = layout.repeat(*count, *extent).unwrap();
        let all = (0..*count).flat_map(|turn| indices.iter().map(move |at| at + turn * extent));
        indices = all.collect();
    }
    (layout, indices)
}

fn is_distinct(indices: &[usize]) -> bool {
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_layout_selects_what_the_model_does(
        blocks in vec((0usize..40, 0usize..12), 0..6),
        repeats in vec((0usize..5, 0usize..70), 0..4),
    ) {
        let (layout, indices) = modelled(&blocks, &repeats);
        prop_assert_eq!(layout.len(), indices.len());
        prop_assert_eq!(layout.span(), indices.iter().map(|at| at + 1).max().unwrap_or(0));
        prop_assert!(layout.blocks() <= indices.len().max(1));
        let ranks = rank::threads(2, &Options::default());
        let elements: Vec<u32> = (0..).take(layout.span()).collect();
        ranks[1].layouts().send(0, 1, &elements, &layout).unwrap();
        let (received, _) = ranks[0].recv_vec::<u32>(1, 1).unwrap();
        let expected: Vec<_> = indices.iter().map(|at| elements[*at]).collect();
        prop_assert_eq!(&received, &expected);

        let mut memory = vec![u32::MAX; layout.span() + 1];
        if is_distinct(&indices) {
            ranks[1].send(0, 2, &received).unwrap();
            let status = ranks[0].layouts().recv(1, 2, &mut memory, &layout).unwrap();
            prop_assert_eq!(status.len::<u32>(), layout.len());
            for (at, value) in memory.iter().enumerate() {
                let selected = indices.contains(&at).then_some(at as u32);
                prop_assert_eq!(*value, selected.unwrap_or(u32::MAX));
            }
        } else {
            let refused = ranks[0].layouts().recv(1, 2, &mut memory, &layout).unwrap_err();
            prop_assert!(matches!(refused, Error::Layout(LayoutError::Overlap)), "{}", refused);
        }
    }
}

/// The upper triangles of this many matrices of 8 x 8 elements.
fn triangles(count: usize) -> Layout {
    let one = Layout::indexed((0..8).map(|row| (9 * row, 8 - row))).unwrap();
    one.repeat(count, 64).unwrap()
}

/// Exchanges messages over each kind of connection: `check` gets both ranks and runs in the thread
/// of the first, `other` in that of the second.
fn with_two(zero: impl Fn(&Rank), one: impl Fn(&Rank) + Sync) {
    for way in WAYS {
        println!("{way}");
        let (here, there) = two(way);
        thread::scope(|scope| {
            let other = scope.spawn(|| one(&there));
            zero(&here);
            other.join().unwrap();
        });
    }
}

/// Numbers of matrices whose triangles are sent on the stack, eagerly and by rendezvous.
const COUNTS: [usize; 5] = [1, 10, 40, 400, 20_000];

#[test]
fn each_side_may_have_a_layout_or_none_and_another_one() {
    with_two(
        |rank| {
            for (tag, count) in (0..).zip(COUNTS) {
                let elements: Vec<f64> = (0..count * 64).map(|at| at as f64).collect();
                let layout = triangles(count);
                rank.layouts().send(1, tag, &elements, &layout).unwrap();
                rank.layouts().send(1, tag, &elements, &layout).unwrap();
                rank.layouts().send(1, tag, &elements, &layout).unwrap();
                let packed = rank.recv_vec::<f64>(1, tag).unwrap().0;
                rank.send(1, tag, &packed).unwrap();
            }
        },
        |rank| {
            for (tag, count) in (0..).zip(COUNTS) {
                let layout = triangles(count);
                // Without a layout.
                let mut packed = vec![0.0f64; layout.len()];
                rank.recv(0, tag, &mut packed).unwrap();
                // With the same one.
                let mut same = vec![-1.0f64; layout.span()];
                let status = rank.layouts().recv(0, tag, &mut same, &layout).unwrap();
                assert_eq!(status.len::<f64>(), layout.len());
                let is_selected = |at: usize| at % 8 >= at % 64 / 8;
                for (at, value) in same.iter().enumerate() {
                    let expected = if is_selected(at) { at as f64 } else { -1.0 };
                    assert!(value.total_cmp(&expected).is_eq(), "{count}: {at}");
                }
                let selected = same.iter().filter(|value| **value >= 0.0);
                assert!(selected.eq(&packed));
                // With another one: every second element.
                let second = Layout::strided(layout.len(), 1, 2).unwrap();
                let mut spread = vec![-1.0f64; second.span()];
                rank.scope(|scope| {
                    let receive = scope.irecv_layout(0, tag, &mut spread, &second);
                    receive.wait().unwrap();
                });
                assert!(spread.iter().step_by(2).eq(&packed));
                assert!(spread.iter().skip(1).step_by(2).all(|value| *value < 0.0));
                // Only the receiver has a layout.
                rank.send(0, tag, &packed).unwrap();
                same.fill(-1.0);
                let memory = &mut same[..];
                // The end of the scope completes the receive.
                let receive = |memory| {
                    rank.scope(|scope| drop(scope.irecv_layout(0, tag, memory, &layout)));
                };
                receive(memory);
                assert!(same.iter().filter(|value| **value >= 0.0).eq(&packed));
            }
        },
    );
}

#[test]
fn long_blocks_are_sent_by_both_forms() {
    // Eager and announced over all connections, and without packing over sockets.
    for length in [1500, 100_000] {
        let layout = Layout::strided(3, length, length + 7).unwrap();
        with_two(
            |rank| {
                let elements: Vec<u64> = (0..layout.span() as u64).collect();
                rank.layouts().send(1, 1, &elements, &layout).unwrap();
                rank.scope(|scope| scope.isend_layout(1, 2, &elements, &layout).wait())
                    .unwrap();
            },
            |rank| {
                let mut memory = vec![u64::MAX; layout.span()];
                for tag in [1, 2] {
                    memory.fill(u64::MAX);
                    rank.layouts()
                        .recv_timeout(0, tag, &mut memory, &layout, LONG)
                        .unwrap();
                    for (at, value) in (0..).zip(&memory) {
                        let is_selected = at as usize % (length + 7) < length;
                        assert_eq!(*value, if is_selected { at } else { u64::MAX });
                    }
                }
            },
        );
    }
}

#[test]
fn a_message_of_another_length_is_cut_or_refused() {
    for count in COUNTS {
        let layout = triangles(count);
        let length = layout.len();
        with_two(
            |rank| {
                let elements = vec![7.0f64; length + 1];
                rank.send(1, 1, &elements[..length - 1]).unwrap();
                // The receive fails, and the message is dropped.
                rank.send(1, 2, &elements).unwrap();
                rank.send(1, 3, &elements[..0]).unwrap();
                // Bytes that end within an element.
                rank.send(1, 4, &[7u8; 13]).unwrap();
                rank.send(1, 5, &vec![7u64; length]).unwrap();
                rank.send(1, 6, &elements[..length]).unwrap();
            },
            |rank| {
                let mut memory = vec![0.0f64; layout.span()];
                let status = rank.layouts().recv(0, 1, &mut memory, &layout).unwrap();
                assert_eq!(status.len::<f64>(), length - 1);
                let filled = |memory: &[f64]| memory.iter().filter(|value| **value > 6.0).count();
                assert_eq!(filled(&memory), length - 1);
                memory.fill(0.0);
                let error = rank.layouts().recv(0, 2, &mut memory, &layout).unwrap_err();
                assert!(matches!(error, Error::Truncated { rank: 0, .. }), "{error}");
                rank.layouts().recv(0, 3, &mut memory, &layout).unwrap();
                assert!(memory.iter().all(|value| value.to_bits() == 0));
                let status = rank.layouts().recv(0, 4, &mut memory, &layout).unwrap();
                assert_eq!(status.bytes, 13);
                let seven = u64::from_le_bytes([7; 8]);
                assert_eq!(memory[0].to_bits(), seven);
                assert_eq!(memory[1].to_bits(), seven & 0xff_ffff_ffff);
                let error = rank.layouts().recv(0, 5, &mut memory, &layout).unwrap_err();
                assert!(matches!(error, Error::WrongElements { .. }), "{error}");
                rank.layouts().recv(0, 6, &mut memory, &layout).unwrap();
                assert_eq!(filled(&memory), length);
            },
        );
    }
}

#[test]
fn wrong_layouts_are_values() {
    let is_large = |layout: Result<Layout, _>| layout.unwrap_err() == LayoutError::TooLarge;
    assert!(is_large(Layout::indexed([(usize::MAX, 1)])));
    assert!(is_large(Layout::strided(usize::MAX, 1, 2)));
    assert!(is_large(Layout::strided(3, usize::MAX / 2, 0)));
    assert!(Layout::strided(usize::MAX, 0, 2).unwrap().is_empty());
    assert!(
        Layout::contiguous(5)
            .unwrap()
            .repeat(0, 9)
            .unwrap()
            .is_empty()
    );

    let ranks = rank::threads(2, &Options::default());
    let (layout, mut short) = (Layout::contiguous(4).unwrap(), [0u8; 3]);
    let outside = |error: Error| {
        let expected = LayoutError::OutOfBounds { span: 4, length: 3 };
        assert!(matches!(error, Error::Layout(error) if error == expected));
    };
    outside(ranks[0].layouts().send(1, 1, &short, &layout).unwrap_err());
    outside(
        ranks[0]
            .layouts()
            .recv(1, 1, &mut short, &layout)
            .unwrap_err(),
    );
    ranks[0].scope(|scope| {
        outside(
            scope
                .isend_layout(1, 1, &[0u8; 3], &layout)
                .wait()
                .unwrap_err(),
        );
        outside(
            scope
                .irecv_layout(1, 1, &mut short, &layout)
                .wait()
                .unwrap_err(),
        );
    });
    // More bytes than any memory has, of elements that all overlap.
    let many = Layout::strided(usize::MAX / 2, 1, 0).unwrap();
    let error = ranks[0].layouts().send(1, 1, &[0u64], &many).unwrap_err();
    assert!(matches!(error, Error::Layout(LayoutError::TooLarge)));

    let twice = Layout::indexed([(0, 2), (1, 2)]).unwrap();
    assert_eq!(twice.check_receive(), Err(LayoutError::Overlap));
    // Interleaved blocks, too many to compare.
    let odd = Layout::indexed([(0, 1), (10, 1)])
        .unwrap()
        .repeat(1 << 20, 3);
    let error = odd.unwrap().check_receive().unwrap_err();
    assert!(matches!(error, LayoutError::Unchecked { .. }));
    // A transposed matrix is interleaved, but its loops are known to be apart.
    let transposed = Layout::strided(3000, 1, 3000)
        .unwrap()
        .repeat(3000, 1)
        .unwrap();
    transposed.check_receive().unwrap();
}

#[derive(Debug, Clone, Copy, PartialEq, FromBytes, IntoBytes, Immutable)]
#[repr(C)]
struct Particle {
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
}

#[test]
fn fields_of_structs_are_elements_of_their_type() {
    let position = Field::of(|p: &Particle| &p.position).unwrap();
    let velocity = Field::of(|p: &Particle| &p.velocity).unwrap();
    static ELSEWHERE: f64 = 0.0;
    assert!(matches!(
        Field::of(|_: &Particle| &ELSEWHERE),
        Err(LayoutError::NoField)
    ));
    for count in [4, 5000] {
        // Every second particle.
        let layout = Layout::strided(count, 1, 2).unwrap();
        let both = layout.fields(&[velocity, position]);
        assert_eq!((both.len(), both.span()), (2 * count, 2 * count - 1));
        with_two(
            |rank| {
                let particles = (0..2 * count).map(|at| Particle {
                    mass: -1.0,
                    position: [at as f64; 3],
                    velocity: [at as f64 + 0.5; 3],
                });
                let particles: Vec<_> = particles.collect();
                rank.layouts().send(1, 1, &particles, &both).unwrap();
                rank.layouts().send(1, 2, &particles, &both).unwrap();
            },
            |rank| {
                let (values, _) = rank.recv_vec::<[f64; 3]>(0, 1).unwrap();
                for (turn, pair) in values.chunks(2).enumerate() {
                    let at = 2.0 * turn as f64;
                    assert_eq!(pair, [[at + 0.5; 3], [at; 3]]);
                }
                let mut particles = vec![Particle::new_zeroed(); 2 * count];
                rank.layouts().recv(0, 2, &mut particles, &both).unwrap();
                for (at, particle) in particles.iter().enumerate() {
                    let place = if at % 2 == 0 { at as f64 } else { 0.0 };
                    assert_eq!((particle.mass, particle.position), (0.0, [place; 3]));
                }
            },
        );
    }
    let twice = Layout::contiguous(1).unwrap().fields(&[position, position]);
    let ranks = rank::threads(1, &Options::default());
    let mut one = [Particle::new_zeroed()];
    let error = ranks[0].layouts().recv(0, 1, &mut one, &twice).unwrap_err();
    assert!(matches!(error, Error::Layout(LayoutError::Overlap)));
}

#[test]
fn receives_with_layouts_end_with_their_time_and_without_a_sender() {
    for way in WAYS {
        for count in [1, 400] {
            let (zero, one) = two(way);
            let layout = triangles(count);
            let mut memory = vec![0u16; layout.span()];
            let moment = LONG / 1000;
            let late = zero
                .layouts()
                .recv_timeout(1, 1, &mut memory, &layout, moment);
            assert!(matches!(late, Err(Error::TimedOut { .. })));
            let null = zero
                .layouts()
                .recv(rank::Source::Null, 1, &mut memory, &layout);
            assert_eq!(null.unwrap().bytes, 0);
            zero.layouts()
                .send(rank::Destination::Null, 1, &memory, &layout)
                .unwrap();
            drop(one);
            let error = zero.layouts().recv(1, 1, &mut memory, &layout).unwrap_err();
            assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");
            // The message may be taken before the end of the other rank is known.
            let _ = zero.layouts().send(1, 1, &memory, &layout);
        }
    }
}

#[test]
fn collectives_pack_and_unpack() {
    for way in ["threads", "shm"] {
        let ranks = group(way, 3, &Options::default());
        let column = Layout::strided(3, 1, 3).unwrap();
        let columns: Vec<_> = (0..3)
            .map(|at| Layout::indexed((0..3).map(|row| (3 * row + at, 1))).unwrap())
            .collect();
        let matrix: Vec<u32> = (0..9).collect();
        let all = each(&ranks, |rank| {
            let mut own = [0u32; 3];
            let row = Layout::contiguous(3).unwrap();
            rank.layouts()
                .scatter(1, &matrix, &columns, &mut own, &row)
                .unwrap();
            let mut gathered = [0u32; 9];
            rank.layouts()
                .gather(2, &own, &row, &mut gathered, &columns)
                .unwrap();
            let mut shared = if rank.rank() == 0 {
                [own[1]; 9]
            } else {
                [0; 9]
            };
            rank.layouts().broadcast(0, &mut shared, &column).unwrap();
            // The elements of the root are too few, so the operation fails at all ranks.
            let length = if rank.rank() == 0 { 6 } else { 7 };
            let error = rank.layouts().broadcast(0, &mut vec![0u8; length], &column);
            assert!(error.is_err());
            (own, gathered, shared)
        });
        for (at, (own, gathered, shared)) in (0..).zip(all) {
            assert_eq!(own, [at, at + 3, at + 6]);
            if at == 2 {
                assert_eq!(gathered[..], matrix);
            }
            assert_eq!([shared[0], shared[3], shared[6]], [3; 3]);
        }
    }
}
