//! Schemas as text, and the comparison of two structures.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};

use super::Schema;
use super::graph::{Graph, Node};
use super::kind::{FieldInfo, Kind, TUPLE, TypeInfo};
use super::link::{Link, Step, TypeIndex};
use super::rules::{DefaultValue, FieldRules, OlderName, TypeRules};

/// Maximum length of a displayed schema in bytes. If a long name is used many times, a small schema
/// from a peer could otherwise become a large text.
const SHOWN: usize = 1 << 20;

/// Maximum length of a displayed type in bytes. It also limits the depth of the recursion.
const SPELLED: usize = 160;

impl Schema {
    /// Returns a display of a type and all types reachable from it, similar to Rust definitions,
    /// with sizes, the offsets of fields and the rules for messages of other versions. The output
    /// is truncated at 1 MiB.
    pub fn display(&self, root: TypeIndex) -> impl fmt::Display + '_ {
        Display { schema: self, root }
    }

    /// Returns the Rust spelling of each type, in canonical order.
    #[cfg(feature = "cli")]
    pub(crate) fn spellings(&self, root: TypeIndex) -> Vec<String> {
        let named = Named::new(Graph::new(self, root));
        let all = 0..named.graph.nodes.len();
        all.map(|of| named.spelling(of)).collect()
    }

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

/// Formats the type that was described first, which is the root for a schema made by [`Schema::of`]
/// or [`Schema::from_bytes`].
impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(TypeIndex(0)).fmt(f)
    }
}

struct Display<'s> {
    schema: &'s Schema,
    root: TypeIndex,
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Named::new(Graph::new(self.schema, self.root));
        let mut rules = HashMap::new();
        // Of equal structures with different rules, those of the first are shown.
        for (place, node) in &named.graph.places {
            let index = u32::try_from(*place).map(TypeIndex);
            if let Some(of_type) = index.ok().and_then(|index| self.schema.rules(index)) {
                rules.entry(*node).or_insert(of_type);
            }
        }
        cut(f, SHOWN, |to| named.define_all(&rules, to))
    }
}

/// A graph whose definitions have unique names: the second `Pair` is called `Pair#2`.
pub(super) struct Named<'s> {
    pub(super) graph: Graph<'s>,
    names: Vec<Cow<'s, str>>,
}

impl<'s> Named<'s> {
    pub(super) fn new(graph: Graph<'s>) -> Self {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut names = Vec::new();
        for node in &graph.nodes {
            let name = node.info.name.as_str();
            let is_definition = matches!(node.info.kind, Kind::Struct(_) | Kind::Enum { .. });
            names.push(Cow::Borrowed(name));
            if is_definition && name != TUPLE {
                let times = known.entry(name).or_default();
                *times = times.wrapping_add(1);
                if let (Some(last), 2..) = (names.last_mut(), *times) {
                    *last = Cow::Owned(format!("{name}#{times}"));
                }
            }
        }
        Self { graph, names }
    }

    /// Returns the Rust spelling of a type.
    pub(super) fn spelling(&self, of: usize) -> String {
        let mut spelling = String::new();
        // Writing to a string does not fail.
        let _ = cut(&mut spelling, SPELLED, |to| self.express(of, to));
        spelling
    }

    pub(super) fn express(&self, of: usize, to: &mut dyn Write) -> fmt::Result {
        match (self.graph.nodes.get(of), self.names.get(of)) {
            (Some(node), Some(name)) => {
                let is_text = self.leads_to_text(&node.links);
                let mut links = node.links.iter();
                let mut part = |to: &mut dyn Write| match links.next() {
                    Some(link) => self.express(link.to, to),
                    None => Ok(()),
                };
                node.info.kind.express(name, is_text, &mut part, to)
            }
            _ => Ok(()),
        }
    }

    /// Returns true if the only link leads to text.
    pub(super) fn leads_to_text(&self, links: &[Link<'_>]) -> bool {
        let target = links.first().and_then(|link| self.graph.nodes.get(link.to));
        target.is_some_and(|node| node.info.kind == Kind::Text)
    }

    fn define_all(&self, rules: &HashMap<usize, &TypeRules>, to: &mut dyn Write) -> fmt::Result {
        for (i, node) in self.graph.nodes.iter().enumerate() {
            let is_definition = matches!(node.info.kind, Kind::Struct(_) | Kind::Enum { .. });
            if i > 0 && is_definition {
                to.write_str("\n\n")?;
            }
            if i == 0 || is_definition {
                self.define(i, rules.get(&i).copied(), to)?;
            }
        }
        Ok(())
    }

    fn define(&self, of: usize, rules: Option<&TypeRules>, to: &mut dyn Write) -> fmt::Result {
        let Some(node) = self.graph.nodes.get(of) else {
            return Ok(());
        };
        let names = rules.map_or(&[][..], |rules| &rules.names);
        let field_rules = rules.map_or(&[][..], |rules| &rules.fields);
        let variant_rules = rules.map_or(&[][..], |rules| &rules.variants);
        let info = node.info;
        let mut links = node.links.iter();
        let layout = format!("{}, aligned to {}", bytes(info.size), info.align);
        match &info.kind {
            Kind::Struct(fields) => {
                to.write_str(if info.name == TUPLE {
                    "tuple "
                } else {
                    "struct "
                })?;
                to.write_str(&self.spelling(of))?;
                write!(to, " {{ // {layout}")?;
                renamed(names, to)?;
                writeln!(to)?;
                self.fields("    ", fields, &mut links, field_rules, to)?;
                to.write_char('}')
            }
            Kind::Enum { tag, variants } => {
                to.write_str("enum ")?;
                to.write_str(&self.spelling(of))?;
                write!(to, " {{ // {layout}, tag of {}", bytes(*tag))?;
                renamed(names, to)?;
                writeln!(to)?;
                let mut variant_rules = numbered(variant_rules);
                for (number, variant) in variants.iter().enumerate() {
                    let rules = variant_rules(number);
                    write!(to, "    {} = {}", variant.name, variant.discriminant)?;
                    if !variant.fields.is_empty() {
                        writeln!(to, " {{")?;
                        let field_rules = rules.map_or(&[][..], |rules| &rules.fields);
                        let fields = &variant.fields;
                        self.fields("        ", fields, &mut links, field_rules, to)?;
                        to.write_str("    }")?;
                    }
                    to.write_char(',')?;
                    if let Some(rules) = rules {
                        let mut comment = Comment { to, is_first: true };
                        comment.flag(rules.other, "other")?;
                        comment.names(&rules.names)?;
                    }
                    writeln!(to)?;
                }
                to.write_char('}')
            }
            _ => {
                to.write_str(&self.spelling(of))?;
                write!(to, " // {layout}")
            }
        }
    }

    /// Writes the fields of a struct or variant, whose types are the next links.
    fn fields<'l>(
        &self,
        indent: &str,
        fields: &[FieldInfo],
        links: &mut dyn Iterator<Item = &'l Link<'l>>,
        rules: &[(usize, FieldRules)],
        to: &mut dyn Write,
    ) -> fmt::Result {
        let mut rules = numbered(rules);
        for (number, field) in fields.iter().enumerate() {
            write!(to, "{indent}{}: ", field.name)?;
            if let Some(link) = links.next() {
                to.write_str(&self.spelling(link.to))?;
            }
            write!(to, ", // at {}", field.offset)?;
            if let Some(rules) = rules(number) {
                show_rules(rules, to)?;
            }
            writeln!(to)?;
        }
        Ok(())
    }
}

/// Returns a function that returns the rules of each part in turn. They are in ascending order.
fn numbered<'r, R>(rules: &'r [(usize, R)]) -> impl FnMut(usize) -> Option<&'r R> {
    let mut rules = rules.iter().peekable();
    move |number| {
        let next = rules.next_if(|(of, _)| *of <= number)?;
        (next.0 == number).then_some(&next.1)
    }
}

/// Writes the rules of a field behind its offset.
fn show_rules(rules: &FieldRules, to: &mut dyn Write) -> fmt::Result {
    let mut comment = Comment {
        to,
        is_first: false,
    };
    comment.names(&rules.names)?;
    match &rules.default {
        Some(DefaultValue::Message(message)) => {
            comment.separate()?;
            write!(comment.to, "default of {}", bytes(message.len()))?;
        }
        default => comment.flag(default.is_some(), "default")?,
    }
    comment.flag(rules.narrow, "narrow")?;
    comment.flag(rules.must_understand, "must be understood")
}

/// Writes the older names of a type behind its layout.
fn renamed(names: &[OlderName], to: &mut dyn Write) -> fmt::Result {
    let mut comment = Comment {
        to,
        is_first: false,
    };
    comment.names(names)
}

/// A comment behind a definition: phrases with commas between them.
struct Comment<'t> {
    to: &'t mut dyn Write,
    is_first: bool,
}

impl Comment<'_> {
    fn separate(&mut self) -> fmt::Result {
        self.to.write_str(match self.is_first {
            true => " // ",
            false => ", ",
        })?;
        self.is_first = false;
        Ok(())
    }

    fn flag(&mut self, is_set: bool, phrase: &str) -> fmt::Result {
        if is_set {
            self.separate()?;
            self.to.write_str(phrase)?;
        }
        Ok(())
    }

    fn names(&mut self, names: &[OlderName]) -> fmt::Result {
        for (number, name) in names.iter().enumerate() {
            self.separate()?;
            if number == 0 {
                self.to.write_str("renamed from ")?;
            }
            write!(self.to, "{name:?}")?;
        }
        Ok(())
    }
}

/// Formats a number of bytes.
pub(super) fn bytes(n: usize) -> String {
    match n {
        1 => "1 byte".to_owned(),
        n => format!("{n} bytes"),
    }
}

/// Writes the output of `write`, truncated to `limit` bytes; `…` marks the truncation.
fn cut(
    to: &mut dyn Write,
    limit: usize,
    write: impl FnOnce(&mut dyn Write) -> fmt::Result,
) -> fmt::Result {
    let mut cut = Cut {
        to,
        left: limit,
        is_full: false,
    };
    let written = write(&mut cut);
    if cut.is_full {
        return to.write_char('…');
    }
    written
}

struct Cut<'t> {
    to: &'t mut dyn Write,
    left: usize,
    is_full: bool,
}

impl Write for Cut<'_> {
    fn write_str(&mut self, s: &str) -> fmt::Result {
        let mut end = s.len().min(self.left);
        while !s.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        let (fits, rest) = s.split_at(end);
        self.to.write_str(fits)?;
        self.left = self.left.wrapping_sub(end);
        if rest.is_empty() {
            return Ok(());
        }
        self.is_full = true;
        Err(fmt::Error)
    }
}

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
