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
    pub what: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.what)
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
            Named::new(Graph::of(self, root)),
            Named::new(Graph::of(theirs, their_root)),
        );
        pairs.definitions().or_else(|| pairs.layouts())
    }
}

/// Pairs of types of two graphs that must be equal if the roots are, in breadth-first order.
struct Pairs<'s> {
    here: Named<'s>,
    there: Named<'s>,
    met: Vec<Pair<'s>>,
    /// Union-find forest of the types of both graphs: the index of another type of the same class,
    /// or of itself. The types of `there` follow those of `here`. With this algorithm of Hopcroft
    /// and Karp ("A linear algorithm for testing equivalence of finite automata", 1971), fewer
    /// pairs are compared than there are types, regardless of how many pairs are reachable.
    same: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Pair<'s> {
    here: usize,
    there: usize,
    /// Index of the pair from which this pair was reached, and the step.
    from: Option<(usize, Step<'s>)>,
}

impl<'s> Pairs<'s> {
    fn new(here: Named<'s>, there: Named<'s>) -> Self {
        let types = here
            .graph
            .nodes
            .len()
            .saturating_add(there.graph.nodes.len());
        let mut pairs = Self {
            here,
            there,
            met: Vec::new(),
            same: (0..types).collect(),
        };
        pairs.meet(Pair {
            here: 0,
            there: 0,
            from: None,
        });
        pairs
    }

    /// Adds a pair unless it follows from earlier pairs.
    fn meet(&mut self, pair: Pair<'s>) {
        let there = self.here.graph.nodes.len().wrapping_add(pair.there);
        let (a, b) = (self.representative(pair.here), self.representative(there));
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
        let here = self.here.graph.nodes.get(pair.here)?;
        Some((here, self.there.graph.nodes.get(pair.there)?))
    }

    /// Returns the pairs reachable in one step from a pair whose kinds agree.
    fn parts(&self, index: usize, pair: Pair<'s>) -> Vec<Pair<'s>> {
        let Some((here, there)) = self.nodes(pair) else {
            return Vec::new();
        };
        let links = here.links.iter().zip(&there.links);
        let parts = links.map(|(here, there)| Pair {
            here: here.to,
            there: there.to,
            from: Some((index, here.step)),
        });
        parts.collect()
    }

    /// Returns the first difference between definitions.
    fn definitions(&mut self) -> Option<Difference> {
        let mut next = 0usize;
        while let Some(&pair) = self.met.get(next) {
            let (here, there) = self.nodes(pair)?;
            match definition(here.info, there.info) {
                Agreement::Full => {}
                Agreement::Except { within, what } => {
                    return Some(Difference {
                        path: self.path(pair) + &within,
                        what,
                    });
                }
                Agreement::None => return Some(self.other_type(pair)),
            }
            for part in self.parts(next, pair) {
                self.meet(part);
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
            let (here, there) = pairs.nodes(pair)?;
            layout(here.info, there.info)
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
        let (within, what) = differing(self, pair)?;
        Some(Difference {
            path: self.path(pair) + &within,
            what,
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
            let here = self.here.spelling(pair.here);
            let there = self.there.spelling(pair.there);
            if here != there {
                return Difference {
                    path: self.path(pair),
                    what: format!("{here} here, {there} there"),
                };
            }
        }
        let nouns = self
            .nodes(pair)
            .map(|(here, there)| (here.info.kind.noun(), there.info.kind.noun()));
        let (here, there) = nouns.unwrap_or_default();
        Difference {
            path: self.path(pair),
            what: format!("{here} here, {there} there"),
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
        let mut path = self.here.spelling(0);
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
        what: String,
    },
    None,
}

fn definition(here: &TypeInfo, there: &TypeInfo) -> Agreement {
    let found = match (&here.kind, &there.kind) {
        _ if here.name != there.name => return Agreement::None,
        (Kind::Struct(here), Kind::Struct(there)) => {
            list("field", &names(here), &names(there)).map(|what| (String::new(), what))
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
            let what = of_tag.or_else(|| list("variant", &ours, &their_names));
            what.map(|what| (String::new(), what)).or_else(|| {
                variants.iter().zip(theirs).find_map(|(here, there)| {
                    let what = if here.discriminant == there.discriminant {
                        list("field", &names(&here.fields), &names(&there.fields))?
                    } else {
                        let (here, there) = (here.discriminant, there.discriminant);
                        format!("discriminant {here} here, {there} there")
                    };
                    Some((format!("::{}", here.name), what))
                })
            })
        }
        (here, there) => {
            let encoded = [here, there].map(|kind| {
                let mut bytes = Vec::new();
                kind.put(&mut bytes, &mut |_, _| 0);
                bytes
            });
            let [here, there] = encoded;
            if here != there {
                return Agreement::None;
            }
            None
        }
    };
    match found {
        Some((within, what)) => Agreement::Except { within, what },
        None => Agreement::Full,
    }
}

fn names(fields: &[FieldInfo]) -> Vec<&str> {
    fields.iter().map(|field| &*field.name).collect()
}

/// Returns the first difference between two lists of names.
fn list(noun: &str, here: &[&str], there: &[&str]) -> Option<String> {
    let longest = here.len().max(there.len());
    let place = (0..longest).find(|i| here.get(*i) != there.get(*i))?;
    let ours = here.get(place);
    let theirs = there.get(place);
    let missing_there = ours.filter(|name| !there.contains(name));
    let missing_here = theirs.filter(|name| !here.contains(name));
    Some(match (missing_there, missing_here) {
        (Some(ours), Some(theirs)) => {
            format!("{noun} {place} is `{ours}` here, `{theirs}` there")
        }
        (Some(ours), None) => format!("{noun} `{ours}` is missing there"),
        (None, Some(theirs)) => format!("{noun} `{theirs}` is missing here"),
        (None, None) => match (ours, theirs) {
            (Some(ours), Some(theirs)) => {
                format!("{noun}s in another order: {place} is `{ours}` here, `{theirs}` there")
            }
            _ => format!("{} {noun}s here, {} there", here.len(), there.len()),
        },
    })
}

/// Returns the first difference between the layouts of two types that otherwise agree: its path
/// within them, and its description.
fn layout(here: &TypeInfo, there: &TypeInfo) -> Option<(String, String)> {
    let sizes = (here.size != there.size)
        .then(|| format!("{} here, {} there", bytes(here.size), bytes(there.size)));
    let aligns = || {
        (here.align != there.align)
            .then(|| format!("alignment {} here, {} there", here.align, there.align))
    };
    let offsets = || {
        let fields = here.kind.fields().zip(there.kind.fields());
        let moved = |(here, there): (&FieldInfo, &FieldInfo)| {
            (here.offset != there.offset).then(|| {
                let (at, their) = (here.offset, there.offset);
                (
                    format!(".{}", here.name),
                    format!("offset {at} here, {their} there"),
                )
            })
        };
        fields.into_iter().find_map(moved)
    };
    let whole = |what| (String::new(), what);
    offsets().or_else(|| sizes.or_else(aligns).map(whole))
}
