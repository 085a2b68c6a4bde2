//! Subgroups, duplicates and grids.

use std::thread;
use std::time::Duration;

use jstream_transport::rank::operation::Sum;
use jstream_transport::rank::{Cartesian, Dimension, Error, Group, Options, Rank, Source, Tag};
use jstream_transport::rank::{Destination, Status};
use testing::transport::ranks::{each, group, ways};

#[test]
fn members_of_a_subgroup_have_numbers_of_their_own() {
    for way in ways() {
        println!("{way}");
        let ranks = group(way, 4, &Options::default());
        each(&ranks, |rank| {
            // Rank 2 takes no part. The others are numbered in reverse: 3, 1, 0.
            let color = (rank.rank() != 2).then_some(7);
            let Some(part) = rank.split(color, 9 - rank.rank()).unwrap() else {
                assert_eq!(rank.rank(), 2);
                return;
            };
            let own = [2, 1, 9, 0][rank.rank() as usize];
            assert_eq!((part.rank(), part.size()), (own, 3));
            let (next, previous) = ((own + 1) % 3, (own + 2) % 3);
            check_messages(&part, next, previous);
            let mut sum = [0];
            part.all_reduce(&[rank.rank()], &mut sum, &Sum).unwrap();
            assert_eq!(sum, [4]);
            // A subgroup of the subgroup.
            let pair = part.split(Some(u32::from(own == 1)), 0).unwrap().unwrap();
            assert_eq!(pair.size(), if own == 1 { 1 } else { 2 });
            let mut members = vec![0; pair.size() as usize];
            pair.all_gather(&[rank.rank()], &mut members).unwrap();
            assert_eq!(members, if own == 1 { vec![1] } else { vec![3, 0] });
        });
    }
}

/// Sends messages around a ring by each kind of send and receive.
fn check_messages(part: &Rank, next: u32, previous: u32) {
    let own = part.rank();
    for (tag, length) in [(1, 1), (2, 100_000)] {
        let sent = vec![own; length];
        let mut received = vec![99; length];
        let status = part
            .sendrecv(next, tag, &sent, previous, tag, &mut received)
            .unwrap();
        assert_eq!((status.source, received[0]), (previous, previous));
        part.scope(|scope| {
            let receive = scope.irecv(Source::Any, tag, &mut received);
            scope.isend(next, tag, &sent).wait().unwrap();
            assert_eq!(receive.wait().unwrap().source, previous);
        });
        let send = part.buffers().isend(
            next,
            tag,
            jstream::EmptyBuffer::heap(64).copy_from(b"text").unwrap(),
        );
        let message = part.buffers().irecv(previous, tag).wait().unwrap();
        assert_eq!(
            (message.status.source, message.payload.as_bytes()),
            (previous, &b"text"[..])
        );
        send.wait().unwrap();
        part.objects().send(next, tag, &"object").unwrap();
        let (object, status) = part.objects().recv::<&str>(Source::Any, tag).unwrap();
        assert_eq!((*object.get(), status.source), ("object", previous));
    }
    part.send(next, 3, &[own]).unwrap();
    let probed = part.probe(Source::Any, Tag::Any).unwrap();
    assert_eq!(probed.status().source, previous);
    assert_eq!(probed.recv_vec::<u32>().unwrap().1.source, previous);
    // Errors name the number in the subgroup.
    part.send(next, 4, &[own, own]).unwrap();
    match part.recv(previous, 4, &mut [0u32]).unwrap_err() {
        Error::Truncated { rank, .. } => assert_eq!(rank, previous),
        error => panic!("{error}"),
    }
    for error in [
        part.send(3, 1, &[0u8]).unwrap_err(),
        part.recv(3, 1, &mut [0u8]).unwrap_err(),
        part.objects().send(3, 1, &1u8).unwrap_err(),
        part.buffers()
            .isend(3, 1, jstream::MessageBuffer::nothing())
            .wait()
            .unwrap_err()
            .error,
    ] {
        assert_eq!(
            error.to_string(),
            "this rank is not connected to a rank 3 (size of the group: 3)"
        );
    }
    part.barrier().unwrap();
}

#[test]
fn duplicates_of_many_threads_have_contexts_of_their_own() {
    let ranks = group("threads", 3, &Options::default());
    // Each thread of a rank uses a communicator, and creates others from it at the same time.
    let parts = each(&ranks, |rank| {
        (0..4)
            .map(|_| rank.duplicate().unwrap())
            .collect::<Vec<_>>()
    });
    let contexts = each(&ranks, |rank| {
        let own = &parts[rank.rank() as usize];
        thread::scope(|scope| {
            let threads = own.iter().map(|part| {
                scope.spawn(move || {
                    let made = (0..25u32).map(|round| {
                        let color = round % 2 * (part.rank() % 2);
                        let made = part.split(Some(color), 0).unwrap().unwrap();
                        made.barrier().unwrap();
                        (made.context(), color)
                    });
                    made.collect::<Vec<_>>()
                })
            });
            let threads: Vec<_> = threads.collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        })
    });
    // All ranks agree on the contexts of each thread, and no two contexts are the same.
    let of = |rank: usize| {
        contexts[rank]
            .iter()
            .map(|thread| {
                thread
                    .iter()
                    .map(|(context, _)| *context)
                    .collect::<Vec<_>>()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(of(0), of(1));
    assert_eq!(of(0), of(2));
    let mut all = of(0).concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 100);
}

#[test]
fn different_grids_are_detected() {
    let ranks = group("threads", 6, &Options::default());
    let grid = [Dimension::open(2), Dimension::open(3)];
    let others: [&[Dimension]; 4] = [
        &[Dimension::open(3), Dimension::open(2)],
        &[Dimension::open(2), Dimension::periodic(3)],
        &[Dimension::open(6)],
        &[Dimension::open(2), Dimension::open(3), Dimension::open(1)],
    ];
    each(&ranks, |rank| {
        for other in others {
            let dimensions = if rank.rank() == 4 { other } else { &grid };
            let named = if rank.rank() == 4 { 0 } else { 4 };
            match Cartesian::new(rank, dimensions) {
                Err(Error::OtherGrid { rank }) => assert_eq!(rank, named),
                other => panic!("expected an error, got {:?}", other.map(drop)),
            }
        }
        assert!(Cartesian::new(rank, &grid).unwrap().is_some());
    });
}

#[test]
fn grids_have_neighbours() {
    let ranks = group("threads", 7, &Options::default());
    each(&ranks, |rank| {
        let dimensions = [Dimension::open(2), Dimension::periodic(3)];
        let Some(grid) = Cartesian::new(rank, &dimensions).unwrap() else {
            assert_eq!(rank.rank(), 6);
            return;
        };
        let [row, column] = [grid.rank() / 3, grid.rank() % 3];
        assert_eq!(grid.coordinates(), [row, column]);
        assert_eq!(
            grid.rank_at(&[row.into(), column.into()]),
            Some(grid.rank())
        );
        assert_eq!(grid.rank_at(&[0, -1]), Some(2));
        assert_eq!(grid.rank_at(&[0, 7]), Some(1));
        assert_eq!(grid.rank_at(&[2, 0]), None);
        assert_eq!(grid.rank_at(&[-1, 0]), None);
        assert_eq!(grid.rank_at(&[0]), None);
        let neighbours: Vec<_> = grid.neighbours().collect();
        assert_eq!(
            neighbours[0],
            [
                row.checked_sub(1).map(|_| column),
                (row == 0).then_some(3 + column)
            ]
        );
        assert_eq!(
            neighbours[1],
            [(column + 2) % 3, (column + 1) % 3].map(|other| Some(row * 3 + other))
        );
        let (from, to) = grid.shift(0, 1);
        assert_eq!(from == Source::Null, row == 0);
        assert_eq!(to == Destination::Null, row == 1);
        let mut received = [100];
        let status = grid
            .sendrecv(to, 0, &[grid.rank()], from, 0, &mut received)
            .unwrap();
        if row == 0 {
            assert_eq!((received, status.source), ([100], Status::NOBODY));
        } else {
            assert_eq!((received, status.source), ([column], column));
        }
    });
    let ranks = group("threads", 1, &Options::default());
    let error = Cartesian::new(&ranks[0], &[Dimension::open(2)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a grid of 2 points needs as many ranks, but the communicator has 1"
    );
    assert!(Cartesian::new(&ranks[0], &[Dimension::open(0)]).is_err());
    assert!(
        Cartesian::new(&ranks[0], &[])
            .unwrap()
            .unwrap()
            .coordinates()
            .is_empty()
    );
}

#[test]
fn a_receive_from_any_member_ends_with_the_last_other_member() {
    for way in ["threads", "tcp"] {
        let mut ranks = group(way, 3, &Options::default());
        let mut parts = each(&ranks, |rank| {
            let color = u32::from(rank.rank() != 0);
            rank.split(Some(color), 0).unwrap().unwrap()
        });
        // Rank 0, which is not in the subgroup of 1 and 2, stays.
        let lost = (ranks.pop(), parts.pop());
        let part = &parts[1];
        let timeout = Duration::from_secs(20);
        thread::scope(|scope| {
            let receive = scope.spawn(|| part.recv_timeout(Source::Any, 1, &mut [0u8], timeout));
            thread::sleep(Duration::from_millis(50));
            drop(lost);
            let error = receive.join().unwrap().unwrap_err();
            assert!(matches!(error, Error::NobodyLeft), "{error}");
        });
        let later = part.recv_timeout(Source::Any, 1, &mut [0u8], timeout);
        assert!(matches!(later, Err(Error::NobodyLeft)), "{later:?}");
        let world = ranks[1].recv_timeout(Source::Any, 1, &mut [0u8], Duration::from_millis(10));
        assert!(matches!(world, Err(Error::TimedOut { .. })), "{world:?}");
    }
}

#[test]
fn a_lost_member_is_named_by_its_number_in_the_subgroup() {
    for way in ["threads", "tcp"] {
        let mut ranks = group(way, 3, &Options::default());
        let mut parts = each(&ranks, |rank| {
            rank.split(Some(0), 3 - rank.rank()).unwrap().unwrap()
        });
        // Rank 2, which is 0 in the subgroup, ends.
        drop((ranks.pop(), parts.pop()));
        let error = parts[0].recv(0, 1, &mut [0u8]).unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 0, .. }), "{error}");
        let timeout = Duration::from_secs(20);
        let error = parts[1]
            .recv_timeout(0, 1, &mut [0u8], timeout)
            .unwrap_err();
        assert!(matches!(error, Error::PeerGone { rank: 0, .. }), "{error}");
    }
}

#[test]
fn groups_are_ordered_sets() {
    let ranks = group("threads", 6, &Options::default());
    let all = Group::of(&ranks[0]);
    let of = |positions: &[u32]| all.include(positions.iter().copied()).unwrap();
    let (left, right) = (of(&[4, 1, 2]), of(&[2, 5, 4]));
    assert_eq!(left.union(&right), of(&[4, 1, 2, 5]));
    assert_eq!(left.intersection(&right), of(&[4, 2]));
    assert_eq!(left.difference(&right), of(&[1]));
    assert_eq!(right.difference(&right), of(&[]));
    assert!(of(&[]).is_empty());
    assert_ne!(left, of(&[1, 2, 4]));
    assert!(left.is_similar(&of(&[1, 2, 4])) && !left.is_similar(&right));
    assert_eq!(left.exclude([0, 2, 0]).unwrap(), of(&[1]));
    assert_eq!(left.translate(2, &right), Some(0));
    assert_eq!(left.translate(1, &right), None);
    assert_eq!(left.translate(3, &right), None);
    for wrong in [left.include([3]), left.exclude([3])] {
        let error = wrong.unwrap_err();
        assert!(
            matches!(error, Error::NoRank { rank: 3, size: 3 }),
            "{error}"
        );
    }
    let twice = left.include([1, 0, 1]).unwrap_err();
    assert!(matches!(twice, Error::RankTwice { rank: 1 }), "{twice}");
}

#[test]
fn communicators_have_the_ranks_of_their_group_in_its_order() {
    for way in ["threads", "shm"] {
        let ranks = group(way, 5, &Options::default());
        each(&ranks, |rank| {
            let all = Group::of(rank);
            let chosen = all.include([3, 0, 4]).unwrap();
            let inner = chosen.communicator(rank).unwrap();
            let place = [Some(1), None, None, Some(0), Some(2)][rank.rank() as usize];
            assert_eq!(inner.as_ref().map(Rank::rank), place);
            let nobody = all.include([]).unwrap();
            assert!(nobody.communicator(rank).unwrap().is_none());
            let Some(inner) = inner else {
                return;
            };
            assert_eq!(Group::of(&inner), chosen);
            // A group of members of a subgroup, made from the whole world.
            let pair = all.include([4, 3]).unwrap().communicator(&inner).unwrap();
            assert_eq!(
                pair.map(|pair| pair.rank()),
                [Some(1), None, Some(0)][inner.rank() as usize]
            );
            let foreign = all.include([4, 1]).unwrap().communicator(&inner);
            assert!(matches!(foreign, Err(Error::NotMember { rank: 1 })));
        });
    }
}

#[test]
fn different_groups_are_an_error_at_all_ranks() {
    let ranks = group("threads", 3, &Options::default());
    each(&ranks, |rank| {
        let all = Group::of(rank);
        let order = if rank.rank() == 2 { [1, 0] } else { [0, 1] };
        let named = if rank.rank() == 2 { 0 } else { 2 };
        let refused = all.include(order).unwrap().communicator(rank);
        assert!(matches!(refused, Err(Error::OtherGroup { rank }) if rank == named));
        // The communicator goes on.
        assert!(all.communicator(rank).unwrap().is_some());
    });
}

#[test]
fn subgrids_have_the_kept_dimensions() {
    let ranks = group("threads", 12, &Options::default());
    each(&ranks, |rank| {
        let dimensions = [
            Dimension::open(2),
            Dimension::periodic(2),
            Dimension::open(3),
        ];
        let grid = Cartesian::new(rank, &dimensions).unwrap().unwrap();
        let point = grid.coordinates().to_vec();
        for mask in 0..8u32 {
            let is_kept = [0, 1, 2].map(|at| mask >> at & 1 == 1);
            // Missing values are false.
            let given = &is_kept[..3 - is_kept.iter().rev().take_while(|kept| !**kept).count()];
            let part = grid.subgrid(given).unwrap();
            let kept: Vec<_> = (0..3).filter(|at| is_kept[*at]).collect();
            let expected: Vec<_> = kept.iter().map(|at| dimensions[*at]).collect();
            assert_eq!(part.dimensions(), expected);
            let expected: Vec<_> = kept.iter().map(|at| point[*at]).collect();
            assert_eq!(part.coordinates(), expected);
            let mut points = vec![[0; 3]; part.size() as usize];
            part.all_gather(&[[point[0], point[1], point[2]]], &mut points)
                .unwrap();
            let others = (0..3).filter(|at| !is_kept[*at]);
            others.for_each(|at| assert!(points.iter().all(|other| other[at] == point[at])));
        }
        let kept = [rank.rank() != 7, true, true];
        assert!(matches!(grid.subgrid(&kept), Err(Error::OtherGrid { .. })));
    });
}
