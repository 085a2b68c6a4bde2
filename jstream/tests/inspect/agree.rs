//! What is wrong with a message is the same to a reader and to whoever looks into it.

use jstream::inspect::{Code, Message};
use jstream::{MessageSegment, ReadError};

/// The path without the root's name.
fn tail(path: &str) -> &str {
    let end = path.find(['.', '[', '…']).unwrap_or(path.len());
    &path[end..]
}

/// Whether what a reader blames is, or holds, or leads to what was found.
fn is_blamed(found: &Message, offset: usize) -> bool {
    let fault = found.fault.as_ref().unwrap();
    if fault.at.contains(&offset) || fault.at.start == offset {
        return true;
    }
    // A reader blames an option for what stands in it.
    found.nodes.iter().any(|node| {
        let path = found.path(node.id);
        node.at.start == offset && tail(&fault.path).starts_with(tail(&path))
    })
}

/// Asserts that what was found is what a reader says, but for what readers alone can know.
#[track_caller]
pub(crate) fn assert_agree(what: &str, found: &Message, read: &Result<(), ReadError>) {
    let refused = match read {
        Ok(()) => {
            assert_eq!(found.fault, None, "{what}: a reader accepts it");
            return;
        }
        Err(error) => error,
    };
    let text = refused.to_string();
    // Limits are a reader's own, and so are functions of the program.
    if text.contains("Limits::") || text.contains("is too much") {
        return;
    }
    let Some(fault) = &found.fault else {
        panic!("{what}: not found: {refused}");
    };
    let fits = match refused {
        ReadError::Short { .. } | ReadError::Magic { .. } => fault.code == Code::Magic,
        ReadError::Lengths { .. } => fault.code == Code::Lengths,
        ReadError::Descriptor { .. } => fault.code == Code::Descriptor,
        ReadError::NotUtf8 { offset } => fault.code == Code::NotUtf8 && fault.at.start == *offset,
        // Any object of the circle may be named.
        ReadError::Value { what, .. } if what.contains("reached from itself") => {
            fault.code == Code::Circle
        }
        ReadError::Value { offset, .. } => is_blamed(found, *offset),
        ReadError::Unused { segment, bytes } => {
            let name = match segment {
                MessageSegment::Objects => "objects",
                MessageSegment::Bulk => "bulk",
                _ => "text",
            };
            fault.code == Code::Unused
                && fault.what.contains(name)
                && fault.what.starts_with(&bytes.to_string())
        }
        other => panic!("{other}"),
    };
    assert!(fits, "{what}: found {fault}, but a reader says: {refused}");
}
