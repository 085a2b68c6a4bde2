//! A writer's limit holds for each segment.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use jstream::{WriteError, Writer};

#[test]
fn text_beyond_the_limit_is_not_written() {
    let text = "x".repeat(1000);
    let result = Writer::with_limit(1000).gather(&[&*text, &*text], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000 })),
        "{result:?}"
    );
}

#[test]
fn bulk_beyond_the_limit_is_not_written() {
    let bytes = vec![7u8; 1000];
    let result = Writer::with_limit(1000).gather(&[&*bytes, &*bytes], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000 })),
        "{result:?}"
    );
}
