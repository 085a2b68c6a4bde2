//! Comparison of two structures.

use std::fmt;

use super::Schema;
use super::graph::{Graph, Node};
use super::kind::{FieldInfo, Kind, TypeInfo};
use super::link::{Step, TypeIndex};
use super::show::{Named, bytes};

/// The first difference of two structures: the one closest to their roots. Differences of
/// definitions come before differences of layout.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Path from the root to the type or field that differs: `Order.legs[].quantity`.
    pub path: String,
    /// Description of the difference: `u32 here, u64 there`.
    pub details: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.details)
    }
}

impl Schema {
    /// Returns the first difference between the types reachable from `root` in this schema and
    /// those reachable from `their_root` in `theirs`, or `None` if both have the same descriptor.
    /// Takes almost linear time.
    #[must_use]
    pub fn difference(
        &self,
        root: TypeIndex,
        theirs: &Self,
        their_root: TypeIndex,
    ) -> Option<Difference> {
        let mut pairs = Pairs::new(
            Named::new(Graph::new(self, root)),
            Named::new(Graph::new(theirs, their_root)),
        );
        pairs.definitions().or_else(|| pairs.layouts())
    }
}

/// Pairs of types of two graphs that must be equal if the roots are, in breadth-first order.
struct Pairs<'s> {
    local: Named<'s>,
    remote: Named<'s>,
    met: Vec<Pair<'s>>,
    /// Union-find forest of the types of both graphs: the index of another type of the same class,
    /// or of itself. The types of `remote` follow those of `local`. With this algorithm of Hopcroft
    /// and Karp ("A linear algorithm for testing equivalence of finite automata", 1971), fewer
    /// pairs are compared than there are types, regardless of how many pairs are reachable.
    same: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Pair<'s> {
    local: usize,
    remote: usize,
    /// Index of the pair from which this pair was reached, and the step.
    from: Option<(usize, Step<'s>)>,
}

impl<'s> Pairs<'s> {
    fn new(local: Named<'s>, remote: Named<'s>) -> Self {
        let types = local
            .graph
            .nodes
            .len()
            .saturating_add(remote.graph.nodes.len());
        let mut pairs = Self {
            local,
            remote,
            met: Vec::new(),
            same: (0..types).collect(),
        };
        pairs.add_pair(Pair {
            local: 0,
            remote: 0,
            from: None,
        });
        pairs
    }

    /// Adds a pair unless it follows from earlier pairs.
    fn add_pair(&mut self, pair: Pair<'s>) {
        let remote = self.local.graph.nodes.len().wrapping_add(pair.remote);
        let (a, b) = (self.representative(pair.local), self.representative(remote));
        if a == b {
            return;
        }
        if let Some(same) = self.same.get_mut(a) {
            *same = b;
        }
        self.met.push(pair);
    }

    /// Returns the representative of the class of `of`.
    fn representative(&mut self, mut of: usize) -> usize {
        while let Some(&next) = self.same.get(of) {
            let after = self.same.get(next).copied().unwrap_or(next);
            if next == after {
                return next;
            }
            // Path halving.
            if let Some(same) = self.same.get_mut(of) {
                *same = after;
            }
            of = after;
        }
        of
    }

    fn nodes(&self, pair: Pair<'s>) -> Option<(&Node<'s>, &Node<'s>)> {
        let local = self.local.graph.nodes.get(pair.local)?;
        Some((local, self.remote.graph.nodes.get(pair.remote)?))
    }

    /// Returns the pairs reachable in one step from a pair whose kinds agree.
    fn parts(&self, index: usize, pair: Pair<'s>) -> Vec<Pair<'s>> {
        let Some((local, remote)) = self.nodes(pair) else {
            return Vec::new();
        };
        let links = local.links.iter().zip(&remote.links);
        let parts = links.map(|(local, remote)| Pair {
            local: local.to,
            remote: remote.to,
            from: Some((index, local.step)),
        });
        parts.collect()
    }

    /// Returns the first difference between definitions.
    fn definitions(&mut self) -> Option<Difference> {
        let mut next = 0usize;
        while let Some(&pair) = self.met.get(next) {
            let (local, remote) = self.nodes(pair)?;
            match definition(local.info, remote.info) {
                Agreement::Full => {}
                Agreement::Except { within, details } => {
                    return Some(Difference {
                        path: self.path(pair) + &within,
                        details,
                    });
                }
                Agreement::None => return Some(self.other_type(pair)),
            }
            for part in self.parts(next, pair) {
                self.add_pair(part);
            }
            next = next.wrapping_add(1);
        }
        None
    }

    /// Returns the first difference between layouts. If a part causes it, the result describes the
    /// part.
    fn layouts(&mut self) -> Option<Difference> {
        /// Maximum depth of nested parts that are examined. Schemas from a peer may have types that
        /// contain themselves.
        const DEPTH: usize = 64;
        let differing = |pairs: &Self, pair| {
            let (local, remote) = pairs.nodes(pair)?;
            layout(local.info, remote.info)
        };
        let mut met = self.met.iter();
        let mut index = met.position(|pair| differing(self, *pair).is_some())?;
        for _ in 0..DEPTH {
            let parts = self.parts(index, *self.met.get(index)?);
            let part = parts.into_iter().find(|part| {
                part.from.is_some_and(|(_, step)| step.is_inline())
                    && differing(self, *part).is_some()
            });
            let Some(part) = part else {
                break;
            };
            index = self.met.len();
            self.met.push(part);
        }
        let pair = *self.met.get(index)?;
        let (within, details) = differing(self, pair)?;
        Some(Difference {
            path: self.path(pair) + &within,
            details,
        })
    }

    /// Describes a pair of different types. The smallest part with a name of its own gives the most
    /// useful description.
    fn other_type(&self, pair: Pair<'s>) -> Difference {
        let mut whole = pair;
        while let Some((index, step)) = whole.from {
            match self.met.get(index) {
                Some(from) if !step.is_named() => whole = *from,
                _ => break,
            }
        }
        for pair in [whole, pair] {
            let local = self.local.spelling(pair.local);
            let remote = self.remote.spelling(pair.remote);
            if local != remote {
                return Difference {
                    path: self.path(pair),
                    details: format!("{local} here, {remote} there"),
                };
            }
        }
        let nouns = self
            .nodes(pair)
            .map(|(local, remote)| (local.info.kind.noun(), remote.info.kind.noun()));
        let (local, remote) = nouns.unwrap_or_default();
        Difference {
            path: self.path(pair),
            details: format!("{local} here, {remote} there"),
        }
    }

    /// Returns the path from the root to a pair.
    fn path(&self, pair: Pair<'s>) -> String {
        /// Maximum number of steps that are shown, counted from the end, in case a peer sends long
        /// paths.
        const STEPS: usize = 32;
        let mut steps = Vec::new();
        let mut from = pair.from;
        while let Some((index, step)) = from {
            steps.push(step);
            from = self.met.get(index).and_then(|pair| pair.from);
        }
        let mut path = self.local.spelling(0);
        if steps.len() > STEPS {
            path.push('…');
        }
        for step in steps.into_iter().take(STEPS).rev() {
            match step {
                Step::Field(name) => path.extend([".", name]),
                Step::Variant(variant, name) => path.extend(["::", variant, ".", name]),
                Step::Case(name) => path.extend(["::", name]),
                Step::Element | Step::Targets => path.push_str("[]"),
                Step::Payload | Step::Target => {}
            }
        }
        path
    }
}

/// Degree to which two types agree, without their layouts and the types of their parts.
enum Agreement {
    Full,
    /// The name and kind agree.
    Except {
        /// The part that differs, as a suffix of the path.
        within: String,
        details: String,
    },
    None,
}

fn definition(local: &TypeInfo, remote: &TypeInfo) -> Agreement {
    let found = match (&local.kind, &remote.kind) {
        _ if local.name != remote.name => return Agreement::None,
        (Kind::Struct(local), Kind::Struct(remote)) => {
            list("field", &names(local), &names(remote)).map(|details| (String::new(), details))
        }
        (
            Kind::Enum { tag, variants },
            Kind::Enum {
                tag: their_tag,
                variants: theirs,
            },
        ) => {
            let of_tag = (tag != their_tag)
                .then(|| format!("tag of {} here, {} there", bytes(*tag), bytes(*their_tag)));
            let ours: Vec<_> = variants.iter().map(|of| &*of.name).collect();
            let their_names: Vec<_> = theirs.iter().map(|of| &*of.name).collect();
            let details = of_tag.or_else(|| list("variant", &ours, &their_names));
            details.map(|details| (String::new(), details)).or_else(|| {
                variants.iter().zip(theirs).find_map(|(local, remote)| {
                    let details = if local.discriminant == remote.discriminant {
                        list("field", &names(&local.fields), &names(&remote.fields))?
                    } else {
                        let (local, remote) = (local.discriminant, remote.discriminant);
                        format!("discriminant {local} here, {remote} there")
                    };
                    Some((format!("::{}", local.name), details))
                })
            })
        }
        (local, remote) => {
            let encoded = [local, remote].map(|kind| {
                let mut bytes = Vec::new();
                kind.put(&mut bytes, &mut |_, _| 0);
                bytes
            });
            let [local, remote] = encoded;
            if local != remote {
                return Agreement::None;
            }
            None
        }
    };
    match found {
        Some((within, details)) => Agreement::Except { within, details },
        None => Agreement::Full,
    }
}

fn names(fields: &[FieldInfo]) -> Vec<&str> {
    fields.iter().map(|field| &*field.name).collect()
}

/// Returns the first difference between two lists of names.
fn list(noun: &str, local: &[&str], remote: &[&str]) -> Option<String> {
    let longest = local.len().max(remote.len());
    let place = (0..longest).find(|i| local.get(*i) != remote.get(*i))?;
    let ours = local.get(place);
    let theirs = remote.get(place);
    let not_in_theirs = ours.filter(|name| !remote.contains(name));
    let not_in_ours = theirs.filter(|name| !local.contains(name));
    Some(match (not_in_theirs, not_in_ours) {
        (Some(ours), Some(theirs)) => {
            format!("{noun} {place} is `{ours}` here, `{theirs}` there")
        }
        (Some(ours), None) => format!("{noun} `{ours}` is missing there"),
        (None, Some(theirs)) => format!("{noun} `{theirs}` is missing here"),
        (None, None) => match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                format!("{noun}s in another order: {place} is `{ours}` here, `{theirs}` there")
            }
            _ => format!("{} {noun}s here, {} there", local.len(), remote.len()),
        },
    })
}

/// Returns the first difference between the layouts of two types that otherwise agree: its path
/// within them, and its description.
fn layout(local: &TypeInfo, remote: &TypeInfo) -> Option<(String, String)> {
    let sizes = (local.size != remote.size)
        .then(|| format!("{} here, {} there", bytes(local.size), bytes(remote.size)));
    let aligns = || {
        (local.align != remote.align)
            .then(|| format!("alignment {} here, {} there", local.align, remote.align))
    };
    let offsets = || {
        let fields = local.kind.fields().zip(remote.kind.fields());
        let moved = |(local, remote): (&FieldInfo, &FieldInfo)| {
            (local.offset != remote.offset).then(|| {
                let (at, their) = (local.offset, remote.offset);
                (
                    format!(".{}", local.name),
                    format!("offset {at} here, {their} there"),
                )
            })
        };
        fields.into_iter().find_map(moved)
    };
    let whole = |details| (String::new(), details);
    offsets().or_else(|| sizes.or_else(aligns).map(whole))
}
