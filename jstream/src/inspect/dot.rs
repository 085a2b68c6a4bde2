//! Graphs of messages in the DOT language of Graphviz.

use std::fmt::{self, Write};

use super::Message;
use super::picture::{escape, picture};

/// Writes the objects of a message as a graph of at most `boxes` boxes.
///
/// # Errors
///
/// Errors of `to`.
pub fn write(message: &Message, boxes: usize, to: &mut dyn Write) -> fmt::Result {
    let picture = picture(message, boxes);
    writeln!(to, "digraph message {{")?;
    writeln!(to, "  rankdir=LR;")?;
    writeln!(
        to,
        "  node [shape=plain, fontname=\"monospace\", fontsize=10];"
    )?;
    for (id, of) in picture.boxes.iter().enumerate() {
        writeln!(
            to,
            "  b{id} [label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"0\">"
        )?;
        writeln!(
            to,
            "    <tr><td port=\"title\" bgcolor=\"#dde6f0\"><b>{}</b></td></tr>",
            escape(&of.title)
        )?;
        for (row, text) in of.rows.iter().enumerate() {
            writeln!(
                to,
                "    <tr><td port=\"r{row}\" align=\"left\">{}</td></tr>",
                escape(text)
            )?;
        }
        writeln!(to, "  </table>>];")?;
    }
    for arrow in &picture.arrows {
        let style = if arrow.is_further {
            " [style=dashed]"
        } else {
            ""
        };
        writeln!(
            to,
            "  b{}:r{} -> b{}:title{style};",
            arrow.from, arrow.row, arrow.to
        )?;
    }
    if picture.left_out > 0 {
        writeln!(
            to,
            "  more [shape=note, label=\"{} more objects\"];",
            picture.left_out
        )?;
    }
    writeln!(to, "}}")
}
