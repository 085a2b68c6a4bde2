//! Exchanges of several messages at once, and the borders of distributed arrays.

use std::panic::{AssertUnwindSafe, catch_unwind};

use jstream_transport::rank::{
    self, Cartesian, Dimension, Error, Exchange, Layout, LayoutError, Neighbours, Options, Rank,
};
use proptest::prelude::*;
use testing::transport::ranks::{each, group, two};
use testing::{LONG, SHORT};

/// Kinds of connections with different ways of a message.
const WAYS: [&str; 4] = ["threads", "inproc", "shm", "uds"];

/// The part of an array that a rank of a grid has, and what it should be after an exchange.
struct ArrayModel {
    dimensions: Vec<Dimension>,
    /// Length of a part in each dimension, without borders.
    own: Vec<usize>,
    width: usize,
    neighbours: Neighbours,
}

impl ArrayModel {
    fn shape(&self) -> Vec<usize> {
        self.own.iter().map(|own| own + 2 * self.width).collect()
    }

    /// Returns the indices of an element in each dimension of a part.
    fn indices(&self, mut at: usize) -> Vec<usize> {
        let mut indices: Vec<_> = self
            .shape()
            .iter()
            .rev()
            .map(|length| {
                let index = at % length;
                at /= length;
                index
            })
            .collect();
        indices.reverse();
        indices
    }

    /// Returns the value of an element after an exchange: a number of its place in the whole array,
    /// or `before` if no neighbour has sent it.
    fn expected(&self, grid: &Cartesian, at: usize, before: u64) -> u64 {
        let mut borders = 0;
        let mut number = 1;
        for (dimension, index) in self.indices(at).into_iter().enumerate() {
            let (own, size) = (self.own[dimension], self.dimensions[dimension].size);
            let is_border = index < self.width || index >= own + self.width;
            borders += usize::from(is_border);
            let first = grid.coordinates()[dimension] as usize * own;
            let whole = own * size as usize;
            let mut place = (first + index) as i64 - self.width as i64;
            if is_border && self.dimensions[dimension].is_periodic {
                place = place.rem_euclid(whole as i64);
            }
            if !(0..whole as i64).contains(&place) {
                return before;
            }
            number = number * 1000 + place as u64;
        }
        match self.neighbours {
            Neighbours::Faces if borders > 1 => before,
            _ => number,
        }
    }

    /// Returns the values of a part before an exchange.
    fn part(&self, grid: &Cartesian) -> Vec<u64> {
        let length = self.shape().iter().product();
        let is_own = |at| {
            let indices = self.indices(at).into_iter().zip(&self.own);
            indices
                .into_iter()
                .all(|(index, own)| (self.width..own + self.width).contains(&index))
        };
        (0..length)
            .map(|at| match is_own(at) {
                true => self.expected(grid, at, 0),
                false => BEFORE,
            })
            .collect()
    }

    fn check(&self, rank: &Rank) {
        let Some(grid) = Cartesian::new(rank, &self.dimensions).unwrap() else {
            return;
        };
        let halos = grid.halos(&self.shape(), self.width, self.neighbours);
        let halos = halos.unwrap();
        let mut part = self.part(&grid);
        for _ in 0..2 {
            halos.exchange(&mut part).unwrap();
            for (at, value) in part.iter().enumerate() {
                let indices = self.indices(at);
                assert_eq!(*value, self.expected(&grid, at, BEFORE), "{indices:?}");
            }
        }
    }
}

/// The value of an element of a border to which nothing was sent.
const BEFORE: u64 = u64::MAX;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn borders_have_the_elements_of_the_neighbours(
        grid in prop_oneof![
            prop::collection::vec((1u32..4, any::<bool>(), 0usize..3), 1..3),
            prop::collection::vec((1u32..3, any::<bool>(), 0usize..2), 3),
        ],
        width in 0usize..3,
        has_corners in any::<bool>(),
    ) {
        let model = ArrayModel {
            dimensions: grid
                .iter()
                .map(|(size, is_periodic, _)| Dimension {
                    size: *size,
                    is_periodic: *is_periodic,
                })
                .collect(),
            own: grid.iter().map(|(_, _, more)| width + more).collect(),
            width,
            neighbours: if has_corners { Neighbours::All } else { Neighbours::Faces },
        };
        let size = grid.iter().map(|(size, ..)| size).product();
        let ranks = rank::threads(size, &Options::default());
        each(&ranks, |rank| model.check(rank));
    }
}

#[test]
fn borders_are_exchanged_over_all_connections() {
    for way in WAYS {
        // The second one has borders that are longer than an eager message.
        for (own, width) in [([3, 4], 1), ([40, 20_000], 3)] {
            println!("{way} {own:?}");
            let model = ArrayModel {
                dimensions: vec![Dimension::open(2), Dimension::periodic(2)],
                own: own.to_vec(),
                width,
                neighbours: Neighbours::All,
            };
            each(&group(way, 4, &Options::default()), |rank| {
                if own[1] < 1000 {
                    return model.check(rank);
                }
                let grid = Cartesian::new(rank, &model.dimensions).unwrap().unwrap();
                let own = u64::from(grid.rank());
                let mut part = vec![own; model.shape().iter().product()];
                let halos = grid.halos(&model.shape(), width, Neighbours::All);
                halos.unwrap().exchange(&mut part).unwrap();
                for (at, value) in part.iter().enumerate() {
                    let indices = model.indices(at);
                    let steps = [0, 1].map(|dimension| {
                        let behind = model.own[dimension] + width;
                        i64::from(indices[dimension] >= behind)
                            - i64::from(indices[dimension] < width)
                    });
                    let point = [0, 1].map(|at| i64::from(grid.coordinates()[at]) + steps[at]);
                    let sender = grid.rank_at(&point).map_or(own, u64::from);
                    assert_eq!(*value, sender, "{indices:?}");
                }
            });
        }
    }
}

#[test]
fn ranks_that_exchange_long_columns_do_not_wait_in_a_circle() {
    const ROWS: usize = 100_000;
    for way in WAYS {
        println!("{way}");
        each(&group(way, 3, &Options::default()), |rank| {
            let column = |at| Layout::indexed([(at, 1)]).unwrap().repeat(ROWS, 4).unwrap();
            let (own, size) = (rank.rank(), rank.size());
            let (left, right) = ((own + size - 1) % size, (own + 1) % size);
            let exchange = Exchange::new().send(left, 1, &column(1)).unwrap();
            let exchange = exchange.send(right, 2, &column(2)).unwrap();
            let exchange = exchange.receive(right, 1, &column(3)).unwrap();
            let exchange = exchange.receive(left, 2, &column(0)).unwrap();
            let mut matrix: Vec<_> = (0..ROWS as u32 * 4).map(|at| at * 8 + own).collect();
            rank.layouts().exchange(&exchange, &mut matrix).unwrap();
            for (row, elements) in (0..).step_by(4).zip(matrix.chunks(4)) {
                let expected = [(2, left), (1, own), (2, own), (1, right)];
                assert_eq!(elements, expected.map(|(at, of)| (row + at) * 8 + of));
            }
        });
    }
}

#[test]
fn what_is_computed_during_an_exchange_is_kept() {
    let (here, there) = two("threads");
    let exchange = Exchange::new().send(1, 1, &Layout::indexed([(0, 2)]).unwrap());
    let exchange = exchange
        .unwrap()
        .receive(1, 2, &Layout::indexed([(2, 1)]).unwrap());
    let exchange = exchange.unwrap();
    let mut elements = [1u16, 2, 3, 4];
    let mut posted = here.layouts().begin_exchange(&exchange, &elements).unwrap();
    // The message has the values of before.
    elements = [10, 20, 30, 40];
    assert!(posted.wait_timeout(&mut elements, SHORT).is_none());
    let mut received = [0u16; 2];
    there.recv(0, 1, &mut received).unwrap();
    assert_eq!(received, [1, 2]);
    there.send(0, 2, &[5u16]).unwrap();
    posted.wait_timeout(&mut elements, LONG).unwrap().unwrap();
    assert_eq!(elements, [10, 20, 5, 40]);
    let again = catch_unwind(AssertUnwindSafe(|| posted.wait(&mut elements)));
    assert!(again.is_err(), "the outcome was returned twice");
}

#[test]
fn a_failed_exchange_changes_no_element() {
    let two_of = |rank: u32| {
        let exchange = Exchange::<u32>::new().receive(rank, 1, &Layout::contiguous(2).unwrap());
        let behind = Layout::indexed([(2, 2)]).unwrap();
        exchange.unwrap().receive(rank, 2, &behind).unwrap()
    };
    let exchange = two_of(1);
    let attempt = |messages: fn(Rank) -> Option<Rank>| {
        let (here, there) = two("shm");
        let _there = messages(there);
        let mut elements = [7u32; 4];
        let error = here
            .layouts()
            .exchange(&exchange, &mut elements)
            .unwrap_err();
        assert_eq!(elements, [7; 4], "{error}");
        error
    };
    let error = attempt(|there| {
        there.send(0, 1, &[1u32, 2]).unwrap();
        there.send(0, 2, &[1u32]).unwrap();
        Some(there)
    });
    assert!(
        matches!(
            error,
            Error::TooShort {
                length: 4,
                size: 8,
                rank: 1,
                tag: 2
            }
        ),
        "{error}"
    );
    let error = attempt(|there| {
        there.send(0, 2, &[1u32; 3]).unwrap();
        Some(there)
    });
    assert!(
        matches!(
            error,
            Error::Truncated {
                length: 12,
                capacity: 8,
                rank: 1,
                tag: 2
            }
        ),
        "{error}"
    );
    let error = attempt(|there| {
        there.send(0, 1, &[1i32; 2]).unwrap();
        Some(there)
    });
    assert!(matches!(error, Error::WrongElements { .. }), "{error}");
    let error = attempt(|there| {
        there.send(0, 1, &[1u32; 2]).unwrap();
        None
    });
    assert!(matches!(error, Error::PeerGone { rank: 1, .. }), "{error}");

    // The failed send is reported although the receive waits.
    let waits = Exchange::new().receive(1, 1, &Layout::contiguous(2).unwrap());
    let waits = waits.unwrap().send(9, 1, &Layout::contiguous(1).unwrap());
    let (here, _there) = two("threads");
    let failed = here.layouts().exchange(&waits.unwrap(), &mut [0u32; 2]);
    let failed = failed.unwrap_err();
    assert!(
        matches!(failed, Error::NoRank { rank: 9, size: 2 }),
        "{failed}"
    );

    let short = here.layouts().exchange(&exchange, &mut [0; 3]).unwrap_err();
    let bounds = LayoutError::OutOfBounds { span: 4, length: 3 };
    assert!(
        matches!(short, Error::Layout(error) if error == bounds),
        "{short}"
    );
    let nobody = two_of(9);
    let missing = here.layouts().exchange(&nobody, &mut [0; 4]).unwrap_err();
    assert!(
        matches!(missing, Error::NoRank { rank: 9, size: 2 }),
        "{missing}"
    );
}

#[test]
fn arrays_without_room_for_borders_are_refused() {
    let ranks = rank::threads(1, &Options::default());
    let grid = Cartesian::new(&ranks[0], &[Dimension::periodic(1); 2]);
    let grid = grid.unwrap().unwrap();
    let refused = grid.halos::<u8>(&[6, 5], 2, Neighbours::Faces).unwrap_err();
    let narrow = LayoutError::TooNarrow {
        dimension: 1,
        length: 5,
        width: 2,
        needed: 6,
    };
    assert!(
        matches!(refused, Error::Layout(error) if error == narrow),
        "{refused}"
    );
    for (length, width) in [(usize::MAX, 1), (usize::MAX, usize::MAX)] {
        let refused = grid.halos::<u8>(&[length; 2], width, Neighbours::All);
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, Error::Layout(LayoutError::TooLarge)),
            "{refused}"
        );
    }
    let outside = Layout::subarray([(4, 0..4), (4, 2..5)]).unwrap_err();
    assert_eq!(
        outside,
        LayoutError::OutsideArray {
            dimension: 1,
            end: 5,
            length: 4
        }
    );
    assert!(Layout::subarray([(4, 1..1), (4, 0..4)]).unwrap().is_empty());
    assert_eq!(Layout::subarray([]).unwrap().len(), 1);
}

#[test]
fn what_is_left_of_an_exchange_is_not_taken_for_the_next_one() {
    for way in WAYS {
        println!("{way}");
        each(&group(way, 3, &Options::default()), |rank| {
            let grid = Cartesian::new(rank, &[Dimension::periodic(3)]);
            let grid = grid.unwrap().unwrap();
            let halos = grid.halos(&[4], 1, Neighbours::Faces).unwrap();
            let own = grid.rank();
            for round in 0..6u32 {
                let number = |of: u32| 10 * of + round;
                let mut part = [99, number(own), number(own) + 1, 99];
                let posted = halos.begin(&part).unwrap();
                // Some exchanges are given up by one of the ranks, before or after the messages
                // of the others have arrived.
                if round % 2 == 0 && own == round / 2 {
                    if round == 2 {
                        std::thread::sleep(SHORT);
                    }
                    drop(posted);
                    continue;
                }
                posted.wait(&mut part).unwrap();
                let (left, right) = ((own + 2) % 3, (own + 1) % 3);
                assert_eq!((part[0], part[3]), (number(left) + 1, number(right)));
            }
        });
    }
}

#[test]
fn revoking_a_grid_ends_its_exchanges() {
    for way in ["threads", "shm"] {
        each(&group(way, 3, &Options::default()), |rank| {
            let grid = Cartesian::new(rank, &[Dimension::periodic(3)]);
            let grid = grid.unwrap().unwrap();
            let halos = grid.halos(&[3], 1, Neighbours::Faces).unwrap();
            if grid.rank() == 1 {
                grid.recovery().revoke();
            } else {
                let error = halos.exchange(&mut [0u8; 3]).unwrap_err();
                assert!(matches!(error, Error::Revoked { rank: 1, .. }), "{error}");
            }
            let left = grid.recovery().shrink().unwrap();
            assert_eq!(left.size(), 3);
        });
    }
}
