//! The graph, the part of a node, and the kernel.

use std::ops::Range;

use super::super::parts::part_of;

/// Sizes of a graph with two fields of as many nodes each.
#[derive(Debug, Clone, Copy)]
pub(in crate::apps) struct Problem {
    /// Points of a field, a multiple of 8.
    pub(super) points: usize,
    /// Edges of a point, each of which leads to a point of the other field.
    pub(super) degree: usize,
    /// Percentage of edges that lead to a point in the other half of the field. These edges are
    /// remote for any even number of nodes up to 8, and no others are.
    pub(super) remote_percent: u64,
    pub(super) iterations: usize,
}

/// The fields.
pub(super) const FIELDS: usize = 2;

impl Problem {
    /// Returns a pseudo-random number of a point or an edge, the same at all nodes (splitmix64).
    fn random(self, field: usize, point: usize, edge: usize, what: u64) -> u64 {
        let place = ((point * FIELDS + field) * (self.degree + 1) + edge) as u64;
        let mut z = (place * 4 + what + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the point of the other field to which an edge leads.
    fn neighbour(self, field: usize, point: usize, edge: usize) -> usize {
        let random = self.random(field, point, edge, 0) as usize;
        if self.random(field, point, edge, 1) % 100 < self.remote_percent {
            let half = self.points / 2;
            let start = if point < half { half } else { 0 };
            start + random % half
        } else {
            let eighth = self.points / 8;
            point / eighth * eighth + random % eighth
        }
    }

    /// Returns a number from 0 to 1.
    fn fraction(self, field: usize, point: usize, edge: usize, what: u64) -> f64 {
        self.random(field, point, edge, what) as f64 / u64::MAX as f64
    }

    /// Returns the weight of an edge. The sum over the edges of a point is at most a half, so the
    /// values do not grow without limit.
    fn weight(self, field: usize, point: usize, edge: usize) -> f64 {
        self.fraction(field, point, edge, 2) / (2 * self.degree) as f64
    }

    /// Returns the value of a point before the first iteration.
    fn at_start(self, field: usize, point: usize) -> f64 {
        self.fraction(field, point, self.degree, 3)
    }

    fn owner(self, point: usize, nodes: usize) -> usize {
        // The parts have equal sizes, see `App::node`.
        point * nodes / self.points
    }

    /// Returns the points of a field that the part of `node` needs and does not have, in order.
    fn missing(self, field: usize, node: usize, nodes: usize) -> Vec<usize> {
        let own = part_of(self.points, node, nodes);
        let edges = own
            .clone()
            .flat_map(|point| (0..self.degree).map(move |edge| (point, edge)));
        let mut missing: Vec<_> = edges
            .map(|(point, edge)| self.neighbour(1 - field, point, edge))
            .filter(|point| !own.contains(point))
            .collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }
}

/// Points of one field at a node.
struct Field {
    /// Values of the own points, and of the ghosts behind them.
    values: Vec<f64>,
    /// Edges of the own points: the place of the neighbour among the values of the other field, and
    /// the weight.
    edges: Vec<(u32, f64)>,
    /// Points of other nodes that points of this node are connected to.
    ghosts: Vec<Ghost>,
}

/// A copy of a point of another node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ghost {
    pub(super) owner: usize,
    /// Place among the points of the owner.
    pub(super) place: usize,
}

/// The points of a node.
pub(in crate::apps) struct Part {
    /// Number of own points of each field.
    own: usize,
    degree: usize,
    fields: [Field; FIELDS],
}

impl Part {
    pub(super) fn new(problem: Problem, node: usize, nodes: usize) -> Self {
        let own = part_of(problem.points, node, nodes);
        let missing = [0, 1].map(|field| problem.missing(field, node, nodes));
        let fields = [0, 1].map(|field| {
            let others = &missing[1 - field];
            let place = |point: usize| {
                if own.contains(&point) {
                    point - own.start
                } else {
                    // A missing point is in the list of missing points.
                    own.len() + others.partition_point(|other| *other < point)
                }
            };
            let edges = own
                .clone()
                .flat_map(|point| (0..problem.degree).map(move |edge| (point, edge)));
            let points = own.clone().chain(missing[field].iter().copied());
            Field {
                values: points.map(|point| problem.at_start(field, point)).collect(),
                edges: edges
                    .map(|(point, edge)| {
                        let place = place(problem.neighbour(field, point, edge));
                        (place as u32, problem.weight(field, point, edge))
                    })
                    .collect(),
                ghosts: missing[field]
                    .iter()
                    .map(|point| {
                        let owner = problem.owner(*point, nodes);
                        let start = part_of(problem.points, owner, nodes).start;
                        Ghost {
                            owner,
                            place: point - start,
                        }
                    })
                    .collect(),
            }
        });
        Self {
            own: own.len(),
            degree: problem.degree,
            fields,
        }
    }

    /// Updates all own points of a field.
    pub(super) fn update(&mut self, field: usize) {
        let [electric, magnetic] = &mut self.fields;
        let (field, others) = if field == 0 {
            (electric, &*magnetic)
        } else {
            (magnetic, &*electric)
        };
        let edges = field.edges.chunks_exact(self.degree);
        for (value, edges) in field.values[..self.own].iter_mut().zip(edges) {
            let mut sum = 0.0;
            for (place, weight) in edges {
                sum += weight * others.values[*place as usize];
            }
            *value -= sum;
        }
    }

    /// Updates all own points of a field, with values of remote points from `fetch`.
    pub(super) fn update_with<E>(
        &mut self,
        field: usize,
        mut fetch: impl FnMut(Ghost) -> Result<f64, E>,
    ) -> Result<(), E> {
        let own = self.own;
        for point in 0..own {
            let mut sum = 0.0;
            for edge in point * self.degree..(point + 1) * self.degree {
                let (place, weight) = self.fields[field].edges[edge];
                let others = &self.fields[1 - field];
                let place = place as usize;
                sum += weight
                    * if place < own {
                        others.values[place]
                    } else {
                        fetch(others.ghosts[place - own])?
                    };
            }
            self.fields[field].values[point] -= sum;
        }
        Ok(())
    }

    /// Returns the values of the own points of a field.
    pub(super) fn own(&self, field: usize) -> &[f64] {
        &self.fields[field].values[..self.own]
    }

    /// Returns the ghosts of a field. They are sorted by owner and place.
    pub(super) fn ghosts(&self, field: usize) -> &[Ghost] {
        &self.fields[field].ghosts
    }

    /// Returns the values of the ghosts of a field.
    pub(super) fn ghost_values(&mut self, field: usize) -> &mut [f64] {
        &mut self.fields[field].values[self.own..]
    }
}

/// Exchange of ghosts with a node in the other half of the graph.
pub(super) struct Partner {
    pub(super) node: usize,
    /// Places of own points that the partner needs, by field.
    pub(super) needs: [Vec<usize>; FIELDS],
    /// Ghosts that the partner owns, by field.
    pub(super) ghosts: [Range<usize>; FIELDS],
}

impl Partner {
    /// Returns all partners of a node. If there are remote edges, all nodes in the other half are,
    /// so that the nodes exchange something in each phase and cannot be further apart.
    pub(super) fn all(problem: Problem, part: &Part, me: usize, nodes: usize) -> Vec<Self> {
        if problem.remote_percent == 0 {
            return Vec::new();
        }
        let in_first_half = |node: usize| node < nodes / 2;
        let partners = (0..nodes).filter(|node| in_first_half(*node) != in_first_half(me));
        let own = part_of(problem.points, me, nodes);
        partners
            .map(|node| Self {
                node,
                needs: [0, 1].map(|field| {
                    let missing = problem.missing(field, node, nodes).into_iter();
                    let mine = missing.filter(|point| own.contains(point));
                    mine.map(|point| point - own.start).collect()
                }),
                ghosts: [0, 1].map(|field| {
                    let ghosts = part.ghosts(field);
                    let start = ghosts.partition_point(|ghost| ghost.owner < node);
                    start..ghosts.partition_point(|ghost| ghost.owner <= node)
                }),
            })
            .collect()
    }
}
