//! The cities, and the search for the shortest tour.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

/// Largest number of cities, because a set of cities is a word of 32 bits.
const MOST: usize = 32;

/// Distances between cities. All tours begin and end at city 0.
#[derive(Debug)]
pub(in crate::apps) struct Cities {
    count: usize,
    /// Distances by pairs of cities.
    distances: Vec<u32>,
    /// All other cities of each city, the closest first.
    closest: Vec<Vec<u8>>,
}

impl Cities {
    /// Creates cities at random places of a square. The same `seed` gives the same places.
    pub(in crate::apps) fn new(count: usize, seed: u64) -> Self {
        assert!((2..=MOST).contains(&count), "{count} cities");
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let places: Vec<(f64, f64)> = (0..count)
            .map(|_| (random.gen_range(0.0..1e4), random.gen_range(0.0..1e4)))
            .collect();
        let mut distances = Vec::with_capacity(count * count);
        for from in &places {
            distances.extend(
                places
                    .iter()
                    .map(|to| (from.0 - to.0).hypot(from.1 - to.1) as u32),
            );
        }
        let closest = (0..count)
            .map(|from| {
                let mut others: Vec<_> = (0..count as u8)
                    .filter(|to| usize::from(*to) != from)
                    .collect();
                others.sort_by_key(|to| distances[from * count + usize::from(*to)]);
                others
            })
            .collect();
        Self {
            count,
            distances,
            closest,
        }
    }

    fn distance(&self, from: u8, to: u8) -> u32 {
        self.distances[usize::from(from) * self.count + usize::from(to)]
    }

    /// Returns all routes that begin with city 0 and have `length` cities.
    pub(in crate::apps) fn routes(&self, length: usize) -> Vec<Vec<u8>> {
        self.routes_below(length, u32::MAX)
    }

    /// Returns all routes that begin with city 0, have `length` cities, and are shorter than
    /// `bound`.
    pub(in crate::apps) fn routes_below(&self, length: usize, bound: u32) -> Vec<Vec<u8>> {
        let mut routes = vec![(vec![0u8], 0)];
        for _ in 1..length.min(self.count) {
            let longer = routes.iter().flat_map(|(route, length)| {
                let last = route.last().copied().unwrap_or_default();
                let next = self.closest[usize::from(last)].iter();
                let next = next.filter(|city| !route.contains(city));
                let next = next.map(move |city| (*city, length + self.distance(last, *city)));
                let next = next.filter(|(_, length)| *length < bound);
                next.map(|(city, length)| ([&route[..], &[city]].concat(), length))
            });
            routes = longer.collect();
        }
        routes.into_iter().map(|(route, _)| route).collect()
    }

    /// Returns the length of the shortest tour, by dynamic programming over sets of cities, which
    /// shares nothing with the search.
    pub(in crate::apps) fn shortest_tour(&self) -> u32 {
        // City 0 is in no set. `lengths[set][last]` is the shortest way through all cities of the
        // set that ends at `last`.
        let others = self.count - 1;
        let mut lengths = vec![u32::MAX; (1 << others) * others];
        for last in 0..others {
            lengths[(1 << last) * others + last] = self.distance(0, last as u8 + 1);
        }
        for set in 1usize..1 << others {
            for last in (0..others).filter(|last| set & (1 << last) != 0) {
                let length = lengths[set * others + last];
                for next in (0..others).filter(|next| set & (1 << next) == 0) {
                    let longer =
                        length.saturating_add(self.distance(last as u8 + 1, next as u8 + 1));
                    let found = &mut lengths[(set | 1 << next) * others + next];
                    *found = longer.min(*found);
                }
            }
        }
        let full = ((1 << others) - 1) * others;
        let tours = (0..others).map(|last| lengths[full + last] + self.distance(last as u8 + 1, 0));
        tours.min().unwrap_or_default()
    }
}

/// A depth-first search that goes to the closest city first, and leaves a route that is not
/// shorter than the shortest known tour.
pub(in crate::apps) struct Search<'a, F> {
    pub(in crate::apps) cities: &'a Cities,
    /// Length of the shortest known tour. Other threads may lower it during the search.
    pub(in crate::apps) bound: &'a AtomicU32,
    /// Called with the length of each tour that is shorter than all before.
    pub(in crate::apps) improved: F,
    /// Number of routes that were extended.
    pub(in crate::apps) expanded: u64,
}

impl<F: FnMut(u32)> Search<'_, F> {
    /// Searches all tours that begin with `route`.
    pub(in crate::apps) fn run(&mut self, route: &[u8]) {
        let pairs = route.iter().zip(route.iter().skip(1));
        let length = pairs.map(|(from, to)| self.cities.distance(*from, *to));
        let length = length.sum();
        let visited = route.iter().fold(0, |visited, city| visited | 1 << city);
        if let Some(last) = route.last() {
            if length < self.bound.load(Ordering::Relaxed) {
                self.extend(*last, visited, route.len(), length);
            }
        }
    }

    fn extend(&mut self, last: u8, visited: u32, visits: usize, length: u32) {
        self.expanded += 1;
        if visits == self.cities.count {
            let tour = length + self.cities.distance(last, 0);
            if self.bound.fetch_min(tour, Ordering::Relaxed) > tour {
                (self.improved)(tour);
            }
            return;
        }
        let cities = self.cities;
        for city in &cities.closest[usize::from(last)] {
            if visited & (1 << city) == 0 {
                let longer = length + cities.distance(last, *city);
                if longer >= self.bound.load(Ordering::Relaxed) {
                    // The others are farther.
                    return;
                }
                self.extend(*city, visited | 1 << city, visits + 1, longer);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(cities: &Cities, routes: &[Vec<u8>], bound: u32) -> (u32, u64) {
        let bound = AtomicU32::new(bound);
        let mut search = Search {
            cities,
            bound: &bound,
            improved: drop,
            expanded: 0,
        };
        for route in routes {
            search.run(route);
        }
        let expanded = search.expanded;
        (bound.into_inner(), expanded)
    }

    #[test]
    fn the_search_finds_what_dynamic_programming_finds() {
        for seed in 0..8 {
            let cities = Cities::new(8, seed);
            let shortest = cities.shortest_tour();
            for length in 1..5 {
                let (found, _) = search(&cities, &cities.routes(length), u32::MAX);
                assert_eq!(found, shortest, "seed {seed}, routes of {length} cities");
            }
        }
    }

    #[test]
    fn routes_that_cannot_be_shorter_than_the_bound_are_left_out() {
        let cities = Cities::new(8, 4);
        let shortest = cities.shortest_tour();
        let length = |route: &[u8]| {
            let pairs = route.iter().zip(route.iter().skip(1));
            pairs
                .map(|(from, to)| cities.distance(*from, *to))
                .sum::<u32>()
        };
        let mut all = cities.routes(5);
        assert_eq!(all.len(), 7 * 6 * 5 * 4);
        all.retain(|route| length(route) < shortest);
        assert_eq!(cities.routes_below(5, shortest), all);
        assert!(all.len() < 7 * 6 * 5 * 4);
    }

    #[test]
    fn the_count_with_a_preset_bound_does_not_depend_on_the_order() {
        let cities = Cities::new(9, 1);
        let (mut routes, shortest) = (cities.routes(3), cities.shortest_tour());
        assert_eq!(routes.len(), 8 * 7);
        let forward = search(&cities, &routes, shortest);
        routes.reverse();
        assert_eq!(search(&cities, &routes, shortest), forward);
        assert_eq!(forward.0, shortest);
        assert!(forward.1 > 1);
    }
}
