//! Schemas as text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Write};

use super::Schema;
use super::graph::Graph;
use super::kind::{FieldInfo, Kind, TUPLE};
use super::link::{Link, TypeIndex};
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
