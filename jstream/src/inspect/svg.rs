//! Diagrams of messages as SVG, with one column per level; objects are placed beside their targets.

use std::fmt::{self, Write};

use super::Message;
use super::picture::{Picture, escape, picture};

/// Lengths in pixels.
const LINE: f64 = 16.0;
const CHARACTER: f64 = 7.6;
const MARGIN: f64 = 16.0;
const BETWEEN: f64 = 20.0;
const COLUMNS: f64 = 72.0;

/// Position and size of a box.
#[derive(Debug, Clone, Copy, Default)]
struct BoxPosition {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Writes the objects of a message as an SVG image of at most `boxes` boxes.
///
/// # Errors
///
/// Errors of `to`.
pub fn write(message: &Message, boxes: usize, to: &mut dyn Write) -> fmt::Result {
    let picture = picture(message, boxes);
    let places = places(&picture);
    let right = places.iter().map(|of| of.x + of.width).fold(0.0, f64::max);
    let bottom = places.iter().map(|of| of.y + of.height).fold(0.0, f64::max);
    let note = if picture.left_out > 0 {
        2.0 * LINE
    } else {
        0.0
    };
    let (width, height) = (right + COLUMNS, bottom + MARGIN + note);
    writeln!(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" font-family=\"monospace\" font-size=\"12\">"
    )?;
    writeln!(
        to,
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#456\"/></marker></defs>"
    )?;
    writeln!(to, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
    // Boxes are drawn later, so that they cover arrows that lead backwards.
    arrows(&picture, &places, to)?;
    for (of, place) in picture.boxes.iter().zip(&places) {
        let BoxPosition {
            x,
            y,
            width,
            height,
        } = place;
        writeln!(to, "<g transform=\"translate({x:.1} {y:.1})\">")?;
        writeln!(
            to,
            "<rect width=\"{width:.1}\" height=\"{height:.1}\" rx=\"3\" fill=\"#fafbfc\" \
             stroke=\"#456\"/>"
        )?;
        let head = LINE + 4.0;
        writeln!(
            to,
            "<rect width=\"{width:.1}\" height=\"{head}\" rx=\"3\" fill=\"#dde6f0\" stroke=\"#456\"/>"
        )?;
        let title = escape(&of.title);
        writeln!(
            to,
            "<text x=\"6\" y=\"15\" font-weight=\"bold\">{title}</text>"
        )?;
        for (row, text) in (1u32..).zip(&of.rows) {
            let y = f64::from(row).mul_add(LINE, 18.0);
            let text = escape(text);
            writeln!(
                to,
                "<text x=\"6\" y=\"{y}\" xml:space=\"preserve\">{text}</text>"
            )?;
        }
        writeln!(to, "</g>")?;
    }
    if picture.left_out > 0 {
        let y = bottom + LINE + MARGIN;
        writeln!(
            to,
            "<text x=\"{MARGIN}\" y=\"{y:.1}\" font-style=\"italic\">{} more objects</text>",
            picture.left_out
        )?;
    }
    writeln!(to, "</svg>")
}

fn arrows(picture: &Picture, places: &[BoxPosition], to: &mut dyn Write) -> fmt::Result {
    for arrow in &picture.arrows {
        let (Some(from), Some(target)) = (places.get(arrow.from), places.get(arrow.to)) else {
            continue;
        };
        let row = u32::try_from(arrow.row).unwrap_or_default();
        let (x, y) = (
            from.x + from.width,
            from.y + f64::from(row).mul_add(LINE, 30.0),
        );
        let top = target.y + 10.0;
        let dash = if arrow.is_further {
            " stroke-dasharray=\"4 3\""
        } else {
            ""
        };
        let path = if target.x > x {
            let half = (target.x - x) / 2.0;
            format!(
                "M{x:.1} {y:.1}C{:.1} {y:.1} {:.1} {top:.1} {:.1} {top:.1}",
                x + half,
                target.x - half,
                target.x
            )
        } else {
            // Backwards: to the right side of a box further left.
            let end = target.x + target.width;
            let out = x.max(end) + COLUMNS / 2.0;
            format!("M{x:.1} {y:.1}C{out:.1} {y:.1} {out:.1} {top:.1} {end:.1} {top:.1}")
        };
        writeln!(
            to,
            "<path d=\"{path}\" fill=\"none\" stroke=\"#456\"{dash} marker-end=\"url(#tip)\"/>"
        )?;
    }
    Ok(())
}

/// Returns the width of a character in columns of a monospaced font: 2 for East Asian characters
/// and emoji.
const fn columns_of(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        // These characters may come from a wider fallback font.
        '→' | '…' => 2,
        _ => 1,
    }
}

fn length(n: usize) -> f64 {
    u32::try_from(n).map_or(0.0, f64::from)
}

/// Computes the positions of all boxes, in columns by level. A box is centred on its children, or
/// placed below the box above it.
fn places(picture: &Picture) -> Vec<BoxPosition> {
    let mut places: Vec<BoxPosition> = Vec::new();
    let mut columns: Vec<f64> = Vec::new();
    for of in &picture.boxes {
        let longest = of
            .rows
            .iter()
            .chain([&of.title])
            .map(|text| text.chars().map(columns_of).sum::<usize>());
        let width = length(longest.max().unwrap_or(0)).mul_add(CHARACTER, 12.0);
        let height = length(of.rows.len()).mul_add(LINE, LINE + 10.0);
        places.push(BoxPosition {
            width,
            height,
            ..BoxPosition::default()
        });
        if columns.len() <= of.level {
            columns.resize(of.level.saturating_add(1), 0.0);
        }
        if let Some(column) = columns.get_mut(of.level) {
            *column = column.max(width);
        }
    }
    let mut left = Vec::new();
    let mut x = MARGIN;
    for width in &columns {
        left.push(x);
        x += width + COLUMNS;
    }
    // Without the arrows to targets that were reached before, the boxes form a tree in which
    // parents come first.
    let mut children = vec![Vec::new(); picture.boxes.len()];
    for arrow in picture.arrows.iter().filter(|arrow| !arrow.is_further) {
        if let Some(list) = children.get_mut(arrow.from) {
            list.push(arrow.to);
        }
    }
    let mut free = vec![MARGIN; columns.len()];
    // Each box is visited twice: before and after its children.
    let mut open = vec![(0usize, false)];
    while let Some((id, is_after)) = open.pop() {
        let below = children.get(id).map(Vec::as_slice).unwrap_or_default();
        if !is_after {
            open.push((id, true));
            open.extend(below.iter().rev().map(|child| (*child, false)));
            continue;
        }
        let middle = |id: &usize| places.get(*id).map(|of| of.y + of.height / 2.0);
        let first = below.first().and_then(middle);
        let last = below.last().and_then(middle);
        let level = picture.boxes.get(id).map_or(0, |of| of.level);
        let (Some(place), Some(free)) = (places.get_mut(id), free.get_mut(level)) else {
            continue;
        };
        let beside = first
            .zip(last)
            .map_or(0.0, |(a, b)| (a + b) / 2.0 - place.height / 2.0);
        place.x = left.get(level).copied().unwrap_or(MARGIN);
        place.y = beside.max(*free);
        *free = place.y + place.height + BETWEEN;
    }
    places
}
