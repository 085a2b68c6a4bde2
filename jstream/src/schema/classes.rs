//! Partition refinement: finds the nodes of a graph that have the same structure.

/// Partitions nodes into equivalence classes. Two nodes are in the same class if and only if they
/// have equal labels and their links lead, in order, to nodes of the same classes.
///
/// Hopcroft's algorithm ("An n log n algorithm for minimizing states in a finite automaton", 1971).
/// When a class is split, its larger part keeps its number, so that a link is examined again only
/// if the class of its target has at most half of its former size. Nodes with equal labels must
/// have the same number of links. Classes are numbered arbitrarily, below the number of nodes.
pub(super) fn classes(labels: Vec<usize>, links: &[Vec<usize>]) -> Vec<usize> {
    let mut sources = vec![Vec::new(); labels.len()];
    for (node, links) in links.iter().enumerate() {
        for (place, to) in links.iter().enumerate() {
            if let Some(sources) = sources.get_mut(*to) {
                sources.push((place, node));
            }
        }
    }
    let mut partition = Partition::new(labels);
    let mut pending: Vec<usize> = (0..partition.classes.len()).collect();
    while let Some(splitter) = pending.pop() {
        // Nodes with a link into the splitter, grouped by the position of the link.
        let members = partition.members(splitter).iter();
        let reaching = members.filter_map(|node| sources.get(*node)).flatten();
        let mut reaching: Vec<(usize, usize)> = reaching.copied().collect();
        reaching.sort_unstable();
        for group in reaching.chunk_by(|(one, _), (other, _)| one == other) {
            for (_, source) in group {
                partition.mark(*source);
            }
            partition.split(&mut pending);
        }
    }
    partition.class_of
}

/// Nodes in classes, some of which are marked.
struct Partition {
    class_of: Vec<usize>,
    /// All nodes, each class together. In a class, marked nodes come first.
    order: Vec<usize>,
    /// The index of each node in `order`.
    place_of: Vec<usize>,
    classes: Vec<ClassRange>,
    /// The classes with marked nodes.
    marked: Vec<usize>,
}

/// A class, as a range of the order of nodes.
#[derive(Clone, Copy, Default)]
struct ClassRange {
    start: usize,
    /// End of the marked nodes.
    marked_end: usize,
    end: usize,
}

impl Partition {
    fn new(class_of: Vec<usize>) -> Self {
        let nodes = class_of.iter().enumerate();
        let mut by_class: Vec<(usize, usize)> = nodes.map(|(node, class)| (*class, node)).collect();
        by_class.sort_unstable();
        let order: Vec<usize> = by_class.into_iter().map(|(_, node)| node).collect();
        let mut place_of = vec![0; order.len()];
        let count = class_of.iter().max().map_or(0, |max| max.wrapping_add(1));
        let mut classes = vec![ClassRange::default(); count];
        for (place, node) in order.iter().enumerate() {
            if let Some(of_node) = place_of.get_mut(*node) {
                *of_node = place;
            }
            let class = class_of.get(*node).and_then(|of| classes.get_mut(*of));
            if let Some(class) = class {
                if class.end == 0 {
                    (class.start, class.marked_end) = (place, place);
                }
                class.end = place.wrapping_add(1);
            }
        }
        Self {
            class_of,
            order,
            place_of,
            classes,
            marked: Vec::new(),
        }
    }

    fn members(&self, class: usize) -> &[usize] {
        let range = self.classes.get(class).map(|of| of.start..of.end);
        range
            .and_then(|range| self.order.get(range))
            .unwrap_or_default()
    }

    /// Marks a node.
    fn mark(&mut self, node: usize) {
        let (Some(of), Some(&place)) = (self.class_of.get(node), self.place_of.get(node)) else {
            return;
        };
        let Some(class) = self.classes.get_mut(*of) else {
            return;
        };
        let first_unmarked = class.marked_end;
        if place < first_unmarked {
            return;
        }
        if class.marked_end == class.start {
            self.marked.push(*of);
        }
        class.marked_end = first_unmarked.wrapping_add(1);
        self.order.swap(place, first_unmarked);
        for moved in [place, first_unmarked] {
            let node = self.order.get(moved);
            if let Some(place) = node.and_then(|node| self.place_of.get_mut(*node)) {
                *place = moved;
            }
        }
    }

    /// Splits the classes of which a part is marked, and removes all marks. The smaller parts are
    /// new classes, which are added to `pending`.
    fn split(&mut self, pending: &mut Vec<usize>) {
        for of in self.marked.drain(..) {
            let Some(class) = self.classes.get_mut(of) else {
                continue;
            };
            let ClassRange {
                start,
                marked_end: middle,
                end,
            } = *class;
            class.marked_end = start;
            if middle == end {
                continue;
            }
            let is_first_smaller = middle.wrapping_sub(start) < end.wrapping_sub(middle);
            let (smaller, larger) = match is_first_smaller {
                true => ((start, middle), (middle, end)),
                false => ((middle, end), (start, middle)),
            };
            let range = |(start, end)| ClassRange {
                start,
                marked_end: start,
                end,
            };
            *class = range(larger);
            let new = self.classes.len();
            for node in self.order.get(smaller.0..smaller.1).unwrap_or_default() {
                if let Some(class) = self.class_of.get_mut(*node) {
                    *class = new;
                }
            }
            self.classes.push(range(smaller));
            pending.push(new);
        }
    }
}

#[cfg(test)]
#[expect(clippy::arithmetic_side_effects, reason = "small numbers")]
mod tests {
    use super::classes;

    /// Splits classes until no link tells two members of a class apart.
    fn naive(labels: &[usize], links: &[Vec<usize>]) -> Vec<usize> {
        let mut class_of = labels.to_vec();
        loop {
            let mut known = Vec::new();
            let refined: Vec<usize> = (0..labels.len())
                .map(|node| {
                    let to: Vec<_> = links[node].iter().map(|to| class_of[*to]).collect();
                    let key = (class_of[node], to);
                    let place = known.iter().position(|known| *known == key);
                    place.unwrap_or_else(|| {
                        known.push(key);
                        known.len() - 1
                    })
                })
                .collect();
            if refined.iter().max() == class_of.iter().max() && is_same(&refined, &class_of) {
                return refined;
            }
            class_of = refined;
        }
    }

    fn is_same(one: &[usize], other: &[usize]) -> bool {
        let nodes = 0..one.len();
        let mut pairs = nodes
            .clone()
            .flat_map(|a| nodes.clone().map(move |b| (a, b)));
        pairs.all(|(a, b)| (one[a] == one[b]) == (other[a] == other[b]))
    }

    #[test]
    fn nodes_are_in_one_class_if_nothing_tells_them_apart() {
        let mut state = 1u64;
        let mut draw = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).unwrap() % below
        };
        for _ in 0..500 {
            let count = 1 + draw(12);
            let kinds = 1 + draw(3);
            let labels: Vec<usize> = (0..count).map(|_| draw(kinds)).collect();
            // The number of links is that of the label.
            let links: Vec<Vec<usize>> = labels
                .iter()
                .map(|label| (0..*label).map(|_| draw(count)).collect())
                .collect();
            let found = classes(labels.clone(), &links);
            assert!(
                is_same(&found, &naive(&labels, &links)),
                "{labels:?} {links:?}"
            );
            // Labels that no node has are classes, too.
            assert!(found.iter().all(|class| *class < count + kinds));
        }
    }
}
