//! Messages as text for people.

use std::fmt::{self, Write};
use std::ops::Range;

use super::entries::Entries;
use super::paint::{Colour, Paint};
use super::tree::{Message, Name, Node, Value};
use super::{Fault, Header, Leaf, hex};

/// Options of text output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Style {
    /// Use terminal colours.
    pub colours: bool,
    /// Show the bytes beside the values.
    pub hex: bool,
    /// Offset at which the message begins; displayed offsets include it.
    pub base: usize,
}

impl Style {
    const fn paint(self) -> Paint {
        Paint {
            colours: self.colours,
        }
    }

    fn offset(self, at: usize) -> String {
        self.paint().offset(at.saturating_add(self.base))
    }
}

/// Writes the title of a section.
///
/// # Errors
///
/// Errors of `to`.
pub fn title(text: &str, style: Style, to: &mut dyn Write) -> fmt::Result {
    writeln!(to, "{}", style.paint().paint(Colour::Title, text))
}

/// Writes the fields of a message's header.
///
/// # Errors
///
/// Errors of `to`.
pub fn header(of: &Header, bytes: &[u8], style: Style, to: &mut dyn Write) -> fmt::Result {
    let (objects, bulk, text) = (
        of.objects_end.saturating_sub(crate::wire::HEADER_LEN),
        of.bulk_len,
        of.text_len,
    );
    let base = style.base;
    let at = |at: usize| at.saturating_add(base);
    let lines = [
        (0..4, "magic".to_owned(), "\"jst\", version 1".to_owned()),
        (4..8, "bulk align".into(), of.bulk_align.to_string()),
        (
            8..16,
            "descriptor".into(),
            format!("{:#018x}", of.descriptor),
        ),
        (
            16..24,
            "objects end".into(),
            format!(
                "{:#x}: {objects} bytes of objects from {:#x}",
                of.objects_end,
                at(40)
            ),
        ),
        (
            24..32,
            "bulk length".into(),
            format!("{bulk} bytes from {:#x}", at(of.bulk_start)),
        ),
        (
            32..40,
            "text length".into(),
            format!("{text} bytes from {:#x}", at(of.text_start)),
        ),
    ];
    for (range, name, value) in lines {
        write!(to, "  {}  ", style.offset(range.start))?;
        if style.hex {
            let bytes = bytes.get(range).unwrap_or_default();
            write!(to, "{:23}  ", hex::digits(bytes))?;
        }
        writeln!(to, "{name:12} {value}")?;
    }
    Ok(())
}

/// Writes the values of a message as an indented tree; fields are below their structs, and targets
/// below their pointers.
///
/// # Errors
///
/// Errors of `to`.
pub fn values(message: &Message, bytes: &[u8], style: Style, to: &mut dyn Write) -> fmt::Result {
    let mut writer = TreeWriter {
        message,
        bytes,
        style,
        to,
    };
    // A stack: the last entry is written next.
    let mut waiting = Vec::new();
    if let Some(root) = message.nodes.first() {
        waiting.push((Next::Node(root), 0usize));
    }
    while let Some((next, depth)) = waiting.pop() {
        let (node, label) = match next {
            Next::Node(node) => (node, None),
            Next::Named(node, label) => (node, Some(label)),
            Next::Hidden(count) => {
                writer.hidden(count, depth)?;
                continue;
            }
        };
        let below = writer.node(node, label.as_deref(), depth)?;
        let Some(below) = below else {
            continue;
        };
        let depth = depth.saturating_add(1);
        if let Some(entries) = writer.entries(below) {
            let first = waiting.len();
            writer.push_entries(&entries, depth, &mut waiting);
            let new = waiting.get_mut(first..).unwrap_or_default();
            let hidden = entries.count().saturating_sub(entries.shown(message));
            new.reverse();
            if hidden > 0 {
                waiting.insert(first, (Next::Hidden(hidden), depth));
            }
            continue;
        }
        if below.hidden > 0 {
            waiting.push((Next::Hidden(below.hidden), depth));
        }
        let first = waiting.len();
        waiting.extend(
            message
                .children(below)
                .map(|node| (Next::Node(node), depth)),
        );
        if let Some(new) = waiting.get_mut(first..) {
            new.reverse();
        }
    }
    Ok(())
}

/// The next output line: a node, an entry of a map, or the number of nodes that were left out.
enum Next<'m> {
    Node(&'m Node),
    /// A key or a value of a map, with the text before it.
    Named(&'m Node, String),
    Hidden(usize),
}

struct TreeWriter<'w> {
    message: &'w Message,
    bytes: &'w [u8],
    style: Style,
    to: &'w mut dyn Write,
}

/// Number of bytes beside a value per line, and maximum number of such lines.
const BESIDE: usize = 8;
const LINES: usize = 4;

impl<'w> TreeWriter<'w> {
    fn hidden(&mut self, count: usize, depth: usize) -> fmt::Result {
        let indent = depth.saturating_mul(2);
        let blank = if self.style.hex { 33 } else { 8 };
        writeln!(self.to, "{:blank$}{:indent$}… {count} more", "  ", "")
    }

    /// Returns the entries of a map or set. If the message is invalid, or the bytes are shown, its
    /// columns are shown instead, in which the invalid part and the bytes are.
    fn entries(&self, node: &'w Node) -> Option<Entries<'w>> {
        let by_columns = self.style.hex || self.message.fault.is_some();
        Entries::new(self.message, node).filter(|_| !by_columns)
    }

    /// Appends the entries of a map or set to the lines to write, the first entry first.
    fn push_entries(&self, entries: &Entries<'w>, depth: usize, to: &mut Vec<(Next<'w>, usize)>) {
        let elements = entries.elements(self.message);
        to.extend(elements.map(|node| (Next::Node(node), depth)));
        for (key, value) in entries.pairs(self.message) {
            let (text, below) = describe(self.message, key, self.style.base);
            if below.is_none() {
                to.push((Next::Named(value, format!("[{text}]")), depth));
            } else {
                to.push((Next::Named(key, "key".to_owned()), depth));
                to.push((Next::Named(value, "value".to_owned()), depth));
            }
        }
    }

    /// Writes the line of a node, with `label` instead of its name. Returns the node whose children
    /// are written below it.
    fn node(
        &mut self,
        node: &'w Node,
        label: Option<&str>,
        depth: usize,
    ) -> Result<Option<&'w Node>, fmt::Error> {
        let paint = self.style.paint();
        let indent = depth.saturating_mul(2);
        let (mut value, below) = describe(self.message, node, self.style.base);
        if let Some(entries) = below.and_then(|below| self.entries(below)) {
            let count = entries.count();
            value = match (entries.is_map(), count) {
                (true, 1) => "1 entry".to_owned(),
                (true, _) => format!("{count} entries"),
                (false, _) => elements(count),
            };
        }
        write!(self.to, "  {}  ", self.style.offset(node.at.start))?;
        let own = match below {
            Some(below) => self.own_bytes(node, below),
            None => node.at.clone(),
        };
        let mut lines = Vec::new();
        if self.style.hex {
            let bytes = self.bytes.get(own.clone()).unwrap_or_default();
            lines = bytes.chunks(BESIDE).take(LINES).collect();
            let first = lines.first().copied().unwrap_or_default();
            write!(self.to, "{:23}  ", hex::digits(first))?;
        }
        write!(self.to, "{:indent$}", "")?;
        match &node.name {
            _ if label.is_some() => write!(self.to, "{}: ", label.unwrap_or_default())?,
            Name::Root => {}
            Name::Field(name) => write!(self.to, "{name}: ")?,
            Name::Index(index) => write!(self.to, "[{index}]: ")?,
            Name::Payload | Name::Target => write!(self.to, "*: ")?,
        }
        write!(self.to, "{}", paint.paint(Colour::Type, &node.type_name))?;
        let fault = self.message.fault.as_ref();
        let is_wrong = node.value.is_none() && fault.is_some();
        if is_wrong {
            writeln!(self.to, " {}", paint.paint(Colour::Wrong, "← invalid"))?;
        } else if value == *node.type_name || value.is_empty() {
            writeln!(self.to)?;
        } else {
            writeln!(self.to, " = {value}")?;
        }
        for (i, line) in lines.iter().enumerate().skip(1) {
            let at = own.start.saturating_add(i.saturating_mul(BESIDE));
            writeln!(
                self.to,
                "  {}  {}",
                self.style.offset(at),
                hex::digits(line)
            )?;
        }
        if self.style.hex {
            self.text_bytes(node)?;
        }
        Ok(below)
    }

    /// Returns the range of a node's own bytes, excluding those of its parts. `below` is the inner
    /// node whose children are shown.
    fn own_bytes(&self, node: &'w Node, below: &Node) -> Range<usize> {
        let mut own: Option<Range<usize>> = None;
        let mut around = Some(node);
        while let Some(next) = around {
            let inside = next.marks.iter().map(|mark| &mark.at);
            for at in inside.filter(|at| node.at.start <= at.start && at.end <= node.at.end) {
                let so_far = own.get_or_insert_with(|| at.clone());
                *so_far = so_far.start.min(at.start)..so_far.end.max(at.end);
            }
            around = self.message.child(next).filter(|_| next.id != below.id);
        }
        own.unwrap_or(node.at.start..node.at.start)
    }

    /// Writes the bytes of a string, which lie in another segment.
    fn text_bytes(&mut self, node: &Node) -> fmt::Result {
        let Some(Value::Text { at, .. }) = &node.value else {
            return Ok(());
        };
        let bytes = self.bytes.get(at.clone()).unwrap_or_default();
        for (i, line) in bytes.chunks(BESIDE).take(LINES).enumerate() {
            let at = at.start.saturating_add(i.saturating_mul(BESIDE));
            writeln!(
                self.to,
                "  {}  {}",
                self.style.offset(at),
                hex::digits(line)
            )?;
        }
        Ok(())
    }
}

/// Describes a value in a few words, and returns the node whose children have the rest.
pub(super) fn describe<'m>(
    message: &'m Message,
    node: &'m Node,
    base: usize,
) -> (String, Option<&'m Node>) {
    let inner = || {
        message
            .child(node)
            .map(|child| describe(message, child, base))
    };
    let around = |name: &str| match inner() {
        Some((text, below)) => (format!("{name}({text})"), below),
        None => (format!("{name}(…)"), None),
    };
    match &node.value {
        None => ("?".to_owned(), Some(node)),
        Some(Value::Leaf(leaf)) => (leaf.to_string(), None),
        Some(Value::Struct) => (node.type_name.to_string(), Some(node)),
        Some(Value::Variant { name, .. }) => (name.clone(), Some(node)),
        Some(Value::None) => ("None".to_owned(), None),
        Some(Value::Some) => around("Some"),
        Some(Value::Ok) => around("Ok"),
        Some(Value::Err) => around("Err"),
        Some(Value::Around) => inner().unwrap_or_else(|| ("…".to_owned(), None)),
        Some(Value::Array(count)) => match row(message, node) {
            Some(row) => (row, None),
            None => (elements(*count), Some(node)),
        },
        Some(Value::Text { at, text, number }) => {
            let cut = if text.len() < at.len() { "…" } else { "" };
            (format!("{}{text:?}{cut}", mark(*number)), None)
        }
        Some(Value::Pointer {
            to,
            count,
            many,
            number,
        }) => {
            let place = format!("{}→ {:#x} ", mark(*number), to.saturating_add(base));
            if *many {
                return match row(message, node) {
                    Some(row) => (format!("{place}{row}"), None),
                    None => (format!("{place}{}", elements(*count)), Some(node)),
                };
            }
            match inner() {
                Some((text, below)) => (format!("{place}{text}"), below),
                None => (format!("{place}…"), None),
            }
        }
        Some(Value::Again { number, first }) => {
            let first = first.map(|first| format!(", as at {}", message.path(first)));
            (
                format!("→ #{number} again{}", first.unwrap_or_default()),
                None,
            )
        }
    }
}

fn mark(number: Option<u32>) -> String {
    number.map_or(String::new(), |number| format!("#{number} "))
}

fn elements(count: usize) -> String {
    match count {
        1 => "1 element".to_owned(),
        _ => format!("{count} elements"),
    }
}

/// Formats all elements in one row, if they are plain.
fn row(message: &Message, node: &Node) -> Option<String> {
    let mut row = String::from("[");
    for (i, child) in message.children(node).enumerate() {
        if i > 0 {
            row.push_str(", ");
        }
        match &child.value {
            Some(Value::Leaf(Leaf::Bytes(_))) | None => return None,
            Some(Value::Leaf(leaf)) => row.push_str(&leaf.to_string()),
            Some(Value::None) => row.push_str("None"),
            Some(Value::Variant { name, .. }) if child.children.is_empty() => row.push_str(name),
            _ => return None,
        }
    }
    if node.hidden > 0 {
        let comma = if node.children.is_empty() { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(row, "{comma}… {} more", node.hidden);
    }
    row.push(']');
    Some(row)
}

/// Writes a fault with the bytes around it. The offsets of the fault are relative to `bytes`, which
/// begin at the base of the style.
///
/// # Errors
///
/// Errors of `to`.
/// Those of `to`.
pub fn fault(of: &Fault, bytes: &[u8], style: Style, to: &mut dyn Write) -> fmt::Result {
    fault_of_part(of, bytes, 0, style, to)
}

/// Like [`fault`], but `bytes` has only the bytes from `from` on, a multiple of 16.
///
/// # Errors
///
/// Errors of `to`.
pub fn fault_of_part(
    of: &Fault,
    bytes: &[u8],
    from: usize,
    style: Style,
    to: &mut dyn Write,
) -> fmt::Result {
    let paint = style.paint();
    write!(to, "{}", paint.paint(Colour::Wrong, "error: "))?;
    if !of.path.is_empty() {
        write!(to, "{}: ", of.path)?;
    }
    write!(to, "{} (at offset {:#x}", of.details, of.at.start)?;
    if style.base > 0 {
        let at = of.at.start.saturating_add(style.base);
        write!(to, ", {at:#x} from the start")?;
    }
    writeln!(to, ")")?;
    let marked = of.at.start.saturating_sub(from)..of.at.end.saturating_sub(from);
    hex::context(paint, bytes, &marked, style.base.saturating_add(from), to)
}
