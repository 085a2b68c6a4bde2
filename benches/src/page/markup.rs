//! Pieces of HTML that all sections use.

use std::fmt::Write;

/// Escapes text for an element or a quoted attribute.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// Appends a table that scrolls by itself if it is wider than the page. The first column holds the
/// names of the lines.
pub(super) fn push_table(out: &mut String, header: &[String], lines: &[Vec<String>]) {
    out.push_str("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
    for cell in header {
        // Writing to a `String` cannot fail, neither here nor below.
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(cell));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for line in lines {
        out.push_str("<tr>");
        for (column, cell) in line.iter().enumerate() {
            let cell = escape(cell);
            let _ = if column == 0 {
                write!(out, "<th scope=\"row\">{cell}</th>")
            } else {
                write!(out, "<td>{cell}</td>")
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
}

/// Appends a table that opens on a click. On paper, tables that were not opened are left out.
pub(super) fn push_details(
    out: &mut String,
    title: &str,
    header: &[String],
    lines: &[Vec<String>],
) {
    let _ = writeln!(out, "<details><summary>{}</summary>", escape(title));
    push_table(out, header, lines);
    out.push_str("</details>\n");
}

/// Returns the strings as owned cells.
pub(super) fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}
