//! Partition refinement: finds the nodes of a graph that have the same structure.

use std::collections::{BTreeMap, BTreeSet};

/// Partitions nodes into equivalence classes. Two nodes are in the same class if and only if they
/// have equal labels and their links lead, in order, to nodes of the same classes.
///
/// Hopcroft's algorithm ("An n log n algorithm for minimizing states in a finite automaton", 1971).
/// When a class is split, its larger part keeps its number, so that a link is examined again only
/// if the class of its target has at most half of its former size. Nodes with equal labels must
/// have the same number of links. Classes are numbered arbitrarily, below the number of nodes.
pub(super) fn classes(labels: Vec<usize>, links: &[Vec<usize>]) -> Vec<usize> {
    let mut class_of = labels;
    let count = class_of.iter().max().map_or(0, |max| max.wrapping_add(1));
    let mut members = vec![BTreeSet::new(); count];
    for (node, class) in class_of.iter().enumerate() {
        if let Some(members) = members.get_mut(*class) {
            members.insert(node);
        }
    }
    let mut sources = vec![Vec::new(); class_of.len()];
    for (node, links) in links.iter().enumerate() {
        for (place, to) in links.iter().enumerate() {
            if let Some(sources) = sources.get_mut(*to) {
                sources.push((place, node));
            }
        }
    }

    let mut pending: Vec<usize> = (0..count).collect();
    while let Some(splitter) = pending.pop() {
        // Nodes with a link into the splitter, grouped by the position of the link.
        let mut reaching: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in members.get(splitter).into_iter().flatten() {
            for (place, source) in sources.get(*node).into_iter().flatten() {
                reaching.entry(*place).or_default().push(*source);
            }
        }
        for sources in reaching.into_values() {
            let mut parts: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
            for source in sources {
                if let Some(class) = class_of.get(source) {
                    parts.entry(*class).or_default().insert(source);
                }
            }
            for (class, mut part) in parts {
                let Some(whole) = members.get_mut(class) else {
                    continue;
                };
                if part.len() == whole.len() {
                    continue;
                }
                for node in &part {
                    whole.remove(node);
                }
                if part.len() > whole.len() {
                    std::mem::swap(whole, &mut part);
                }
                let new = members.len();
                for node in &part {
                    if let Some(class) = class_of.get_mut(*node) {
                        *class = new;
                    }
                }
                members.push(part);
                pending.push(new);
            }
        }
    }
    class_of
}
