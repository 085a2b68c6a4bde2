//! Metadata of a file of objects: header, commits, and chunks of the index.

use serde_json::Value as Json;
#[cfg(unix)]
use serde_json::json as object;

/// Metadata of a file, as lines of text and as JSON.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no files of objects"))]
pub(crate) struct About {
    pub(crate) lines: Vec<String>,
    pub(crate) json: Json,
}

#[cfg(unix)]
impl About {
    /// Formats the metadata of a file of `len` bytes.
    pub(crate) fn new(summary: &jstream::file::Summary, len: u64) -> Self {
        let version = summary.version;
        let line =
            |at: u64, details: &str, text: &str| format!("  {at:#010x}  {details:<12} {text}");
        let mut lines = vec![line(
            0,
            "header",
            &format!("\"jstfile\", version {version}"),
        )];
        for (number, slot) in summary.slots.iter().enumerate() {
            let counts = number == summary.slot;
            let text = match &slot.commit {
                Some(commit) if counts => format!("{}; current", said(commit)),
                Some(commit) => said(commit),
                None if slot.is_blank => "none yet".to_owned(),
                None => "not valid".to_owned(),
            };
            lines.push(line(slot.place, "commit", &text));
        }
        for chunk in &summary.chunks {
            let first = chunk.first;
            let last = first.saturating_add(chunk.objects).saturating_sub(1);
            let text = match chunk.objects {
                1 => format!("object {first}"),
                _ => format!("objects {first} to {last}"),
            };
            lines.push(line(chunk.place, "index chunk", &text));
        }
        let end = summary.commit.end;
        if len > end {
            let text = format!("{} bytes, ignored", len.saturating_sub(end));
            lines.push(line(end, "behind", &text));
        }
        let slots = summary.slots.iter().map(|slot| {
            object!({
                "at": slot.place,
                "blank": slot.is_blank,
                "commit": slot.commit.as_ref().map(json),
            })
        });
        let chunks = summary.chunks.iter().map(
            |chunk| object!({ "at": chunk.place, "first": chunk.first, "objects": chunk.objects }),
        );
        let json = object!({
            "version": version,
            "commit": json(&summary.commit),
            "slot": summary.slot,
            "slots": slots.collect::<Vec<_>>(),
            "chunks": chunks.collect::<Vec<_>>(),
        });
        Self { lines, json }
    }
}

#[cfg(unix)]
fn said(commit: &jstream::file::CommitInfo) -> String {
    let place = |place: Option<u64>| place.map_or("none".to_owned(), |at| format!("at {at:#x}"));
    format!(
        "generation {}, end {:#x}, objects {}, index {}, schemas {}",
        commit.generation,
        commit.end,
        commit.objects,
        place(commit.index),
        place(commit.schemas)
    )
}

#[cfg(unix)]
fn json(commit: &jstream::file::CommitInfo) -> Json {
    object!({
        "generation": commit.generation,
        "end": commit.end,
        "objects": commit.objects,
        "index": commit.index,
        "schemas": commit.schemas,
    })
}
