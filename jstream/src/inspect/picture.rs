//! The objects of a message as boxes, and the pointers between them as arrows.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::text::describe;
use super::tree::{Message, Name, Node, Value};

/// Diagram of objects and the pointers between them.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) boxes: Vec<Box>,
    pub(super) arrows: Vec<Arrow>,
    /// Number of objects that were left out.
    pub(super) left_out: usize,
}

/// A box for an object: the root, or the target of a pointer.
#[derive(Debug)]
pub(super) struct Box {
    pub(super) title: String,
    pub(super) rows: Vec<String>,
    /// Number of arrows from the root to this box, on the path by which it was first reached.
    pub(super) level: usize,
}

#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) row: usize,
    pub(super) to: usize,
    /// True if the target is shared and was reached before.
    pub(super) is_further: bool,
}

/// Maximum number of rows of a box, and of characters of a row.
const ROWS: usize = 24;
const CHARACTERS: usize = 60;

/// Returns the diagram of a message, with at most `most` boxes.
pub(super) fn picture(message: &Message, most: usize) -> Picture {
    let mut drawing = Drawing {
        message,
        most,
        picture: Picture::default(),
        numbers: BTreeMap::new(),
        waiting: Vec::new(),
        further: Vec::new(),
    };
    if let Some(root) = message.nodes.first() {
        drawing.numbers.insert(0, 0);
        drawing.begin(root, &[root], 0);
    }
    // Breadth-first, so that the objects closest to the root are included.
    let mut next = 0usize;
    while let Some(holder) = drawing.waiting.get(next).copied() {
        drawing.follow(holder);
        next = next.saturating_add(1);
    }
    for (from, row, number) in std::mem::take(&mut drawing.further) {
        if let Some(to) = drawing.numbers.get(&number).copied() {
            drawing.picture.arrows.push(Arrow {
                from,
                row,
                to,
                is_further: true,
            });
        }
    }
    drawing.picture
}

/// A pointer that is still to be followed, and its row.
#[derive(Clone, Copy)]
struct Holder<'m> {
    from: usize,
    row: usize,
    level: usize,
    node: &'m Node,
}

struct Drawing<'m> {
    message: &'m Message,
    most: usize,
    picture: Picture,
    /// Boxes of shared targets, by number.
    numbers: BTreeMap<u32, usize>,
    waiting: Vec<Holder<'m>>,
    further: Vec<(usize, usize, u32)>,
}

impl<'m> Drawing<'m> {
    /// Adds a box for some values.
    fn begin(&mut self, title: &Node, values: &[&'m Node], level: usize) {
        let id = self.picture.boxes.len();
        self.picture.boxes.push(Box {
            title: cut(&title.type_name),
            rows: Vec::new(),
            level,
        });
        // A stack: the last entry is drawn next.
        let mut open: Vec<(String, &'m Node)> = Vec::new();
        for (i, value) in values.iter().enumerate().rev() {
            let prefix = if values.len() > 1 || matches!(value.name, Name::Index(_)) {
                format!("[{i}]")
            } else {
                String::new()
            };
            open.push((prefix, value));
        }
        while let Some((prefix, node)) = open.pop() {
            let rows = self.picture.boxes.get(id).map_or(0, |of| of.rows.len());
            if rows >= ROWS {
                self.row(id, format!("… {} more", open.len().saturating_add(1)));
                return;
            }
            match self.end(node) {
                End::Parts(whole) => {
                    if let Some(Value::Variant { name, .. }) = &whole.value {
                        let of = if prefix.is_empty() { "" } else { ": " };
                        self.row(id, format!("{prefix}{of}{name}"));
                    }
                    let children = self.message.children(whole).collect::<Vec<_>>();
                    for child in children.into_iter().rev() {
                        let prefix = match &child.name {
                            Name::Field(name) if prefix.is_empty() => name.clone(),
                            Name::Field(name) => format!("{prefix}.{name}"),
                            Name::Index(index) => format!("{prefix}[{index}]"),
                            _ => prefix.clone(),
                        };
                        open.push((prefix, child));
                    }
                }
                End::Pointer(node) => {
                    let shared = number_of(node).map(|number| format!(" #{number}"));
                    let shared = shared.unwrap_or_default();
                    let row = self.row(id, format!("{prefix}: {}{shared}", node.type_name));
                    self.waiting.push(Holder {
                        from: id,
                        row,
                        level: level.saturating_add(1),
                        node,
                    });
                }
                End::Again(node, number) => {
                    let row = self.row(id, format!("{prefix}: {} #{number}", node.type_name));
                    self.further.push((id, row, number));
                }
                End::Value => {
                    let (text, _) = describe(self.message, node, 0);
                    let of = if prefix.is_empty() { "" } else { " = " };
                    self.row(id, format!("{prefix}{of}{text}"));
                }
            }
        }
    }

    fn row(&mut self, id: usize, text: String) -> usize {
        let Some(of) = self.picture.boxes.get_mut(id) else {
            return 0;
        };
        of.rows.push(cut(&text));
        of.rows.len().saturating_sub(1)
    }

    /// Resolves options and other wrappers, and classifies the value inside.
    fn end(&self, mut node: &'m Node) -> End<'m> {
        loop {
            match &node.value {
                Some(Value::Some | Value::Ok | Value::Err | Value::Around) => {
                    match self.message.child(node) {
                        Some(child) => node = child,
                        None => return End::Value,
                    }
                }
                Some(Value::Pointer { number, many, .. }) => {
                    let (_, below) = describe(self.message, node, 0);
                    let plain = *many && below.is_none();
                    return if node.children.is_empty() || (plain && number.is_none()) {
                        End::Value
                    } else {
                        End::Pointer(node)
                    };
                }
                Some(Value::Text {
                    number: Some(_), ..
                }) => return End::Pointer(node),
                Some(Value::Again { number, .. }) => return End::Again(node, *number),
                Some(Value::Struct | Value::Variant { .. }) if !node.children.is_empty() => {
                    return End::Parts(node);
                }
                Some(Value::Array(_)) => {
                    let (_, below) = describe(self.message, node, 0);
                    return below.map_or(End::Value, End::Parts);
                }
                _ => return End::Value,
            }
        }
    }

    /// Adds a box for the target of a pointer.
    fn follow(&mut self, holder: Holder<'m>) {
        let to = self.picture.boxes.len();
        if to >= self.most {
            self.picture.left_out = self.picture.left_out.saturating_add(1);
            return;
        }
        if let Some(number) = number_of(holder.node) {
            self.numbers.insert(number, to);
        }
        let children = self.message.children(holder.node).collect::<Vec<_>>();
        match (&holder.node.value, children.as_slice()) {
            (Some(Value::Pointer { many: false, .. }), [only]) => {
                self.begin(only, &[only], holder.level);
            }
            (Some(Value::Pointer { .. }), all) => {
                self.begin(holder.node, all, holder.level);
                if holder.node.hidden > 0 {
                    self.row(to, format!("… {} more", holder.node.hidden));
                }
            }
            _ => {
                self.begin(holder.node, &[], holder.level);
                let (text, _) = describe(self.message, holder.node, 0);
                self.row(to, text);
            }
        }
        self.picture.arrows.push(Arrow {
            from: holder.from,
            row: holder.row,
            to,
            is_further: false,
        });
    }
}

/// Returns the number of a pointer's target, if the target is shared.
fn number_of(node: &Node) -> Option<u32> {
    match node.value {
        Some(Value::Pointer { number, .. } | Value::Text { number, .. }) => number,
        _ => None,
    }
}

enum End<'m> {
    /// The fields are drawn in the same box.
    Parts(&'m Node),
    Pointer(&'m Node),
    Again(&'m Node, u32),
    /// The value is shown as text.
    Value,
}

fn cut(text: &str) -> String {
    let mut short = text.chars().take(CHARACTERS).collect::<String>();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Escapes text for XML.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // Characters that XML does not allow, which `Debug` may have left.
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => {
                // Writing to a string does not fail.
                let _ = write!(escaped, "{}", c.escape_unicode());
            }
            c => escaped.push(c),
        }
    }
    escaped
}
