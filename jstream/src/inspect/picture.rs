//! The objects of a message as boxes, and the pointers between them as arrows.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::text::describe;
use super::tree::{Message, Name, Node, Value};

/// Objects and what leads from one to another.
#[derive(Debug, Default)]
pub(super) struct Picture {
    pub(super) boxes: Vec<Box>,
    pub(super) arrows: Vec<Arrow>,
    /// How many objects there would be more.
    pub(super) left_out: usize,
}

/// An object: the root, or what a pointer leads to.
#[derive(Debug)]
pub(super) struct Box {
    pub(super) title: String,
    pub(super) rows: Vec<String>,
    /// How many arrows lead to it from the root, on the way on which it was met.
    pub(super) level: usize,
}

#[derive(Debug)]
pub(super) struct Arrow {
    pub(super) from: usize,
    pub(super) row: usize,
    pub(super) to: usize,
    /// Whether it leads to a shared target that was met before.
    pub(super) again: bool,
}

/// Rows of a box, and characters of a row.
const ROWS: usize = 24;
const CHARACTERS: usize = 60;

/// The picture of a message, of so many boxes at most.
pub(super) fn picture(message: &Message, most: usize) -> Picture {
    let mut drawing = Drawing {
        message,
        most,
        picture: Picture::default(),
        numbers: BTreeMap::new(),
        waiting: Vec::new(),
        again: Vec::new(),
    };
    if let Some(root) = message.nodes.first() {
        drawing.numbers.insert(0, 0);
        drawing.begin(root, &[root], 0);
    }
    // First in, first out, so that what is near the root is there.
    let mut next = 0usize;
    while let Some(holder) = drawing.waiting.get(next).copied() {
        drawing.follow(holder);
        next = next.saturating_add(1);
    }
    for (from, row, number) in std::mem::take(&mut drawing.again) {
        if let Some(to) = drawing.numbers.get(&number).copied() {
            drawing.picture.arrows.push(Arrow {
                from,
                row,
                to,
                again: true,
            });
        }
    }
    drawing.picture
}

/// A pointer that is to be followed: the row that it stands in, and it.
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
    /// The boxes of shared targets.
    numbers: BTreeMap<u32, usize>,
    waiting: Vec<Holder<'m>>,
    again: Vec<(usize, usize, u32)>,
}

impl<'m> Drawing<'m> {
    /// Draws the box of some values.
    fn begin(&mut self, title: &Node, values: &[&'m Node], level: usize) {
        let id = self.picture.boxes.len();
        self.picture.boxes.push(Box {
            title: cut(&title.type_name),
            rows: Vec::new(),
            level,
        });
        // What is to be drawn next is the last.
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
                    self.again.push((id, row, number));
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

    /// What a value comes to behind options and the like.
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

    /// Draws what a pointer leads to.
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
            again: false,
        });
    }
}

/// The number of the target of a pointer, if it is shared.
fn number_of(node: &Node) -> Option<u32> {
    match node.value {
        Some(Value::Pointer { number, .. } | Value::Text { number, .. }) => number,
        _ => None,
    }
}

enum End<'m> {
    /// Its parts are drawn in the same box.
    Parts(&'m Node),
    Pointer(&'m Node),
    Again(&'m Node, u32),
    /// It is said in words.
    Value,
}

fn cut(text: &str) -> String {
    let mut short = text.chars().take(CHARACTERS).collect::<String>();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Text as XML has it.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // What XML can't have, and `Debug` may have left.
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => {
                // Writing to a string does not fail.
                let _ = write!(escaped, "{}", c.escape_unicode());
            }
            c => escaped.push(c),
        }
    }
    escaped
}
