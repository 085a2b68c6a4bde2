//! A reader and an inspection find the same faults in a message.

use jstream::inspect::{Code, Message};
use jstream::{MessageSegment, ReadError};

/// Returns the path without the name of the root.
fn tail(path: &str) -> &str {
    let end = path.find(['.', '[', '…']).unwrap_or(path.len());
    &path[end..]
}

/// Returns true if the part at `offset`, which a reader blames, is the faulty part, contains it, or
/// leads to it.
fn is_blamed(found: &Message, offset: usize) -> bool {
    let fault = found.fault.as_ref().unwrap();
    if fault.at.contains(&offset) || fault.at.start == offset {
        return true;
    }
    // A reader blames an option for a fault inside it.
    found.nodes.iter().any(|node| {
        let path = found.path(node.id);
        node.at.start == offset && tail(&fault.path).starts_with(tail(&path))
    })
}

/// Asserts that an inspection and a reader agree, except about faults that only a reader detects.
#[track_caller]
pub(crate) fn assert_agree(details: &str, found: &Message, read: &Result<(), ReadError>) {
    let refused = match read {
        Ok(()) => {
            assert_eq!(found.fault, None, "{details}: a reader accepts it");
            return;
        }
        Err(error) => error,
    };
    let text = refused.to_string();
    // Only readers have limits, and only readers call functions of the program.
    if text.contains("Limits::") || text.contains("is too much") {
        return;
    }
    let Some(fault) = &found.fault else {
        panic!("{details}: not found: {refused}");
    };
    let fits = match refused {
        ReadError::Short { .. } | ReadError::Magic { .. } => fault.code == Code::Magic,
        ReadError::Lengths { .. } => fault.code == Code::Lengths,
        ReadError::Descriptor { .. } => fault.code == Code::Descriptor,
        ReadError::NotUtf8 { offset } => fault.code == Code::NotUtf8 && fault.at.start == *offset,
        // Either may name any object of the cycle.
        ReadError::Value { details, .. } if details.contains("reached from itself") => {
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
                && fault.details.contains(name)
                && fault.details.starts_with(&bytes.to_string())
        }
        other => panic!("{other}"),
    };
    assert!(
        fits,
        "{details}: found {fault}, but a reader says: {refused}"
    );
}
