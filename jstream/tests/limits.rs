//! A writer's limit holds for each segment.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "test code"
)]

use std::rc::Rc;

use jstream::{Transportable, WriteError, Writer};

#[test]
fn text_beyond_the_limit_is_not_written() {
    let text = "x".repeat(1000);
    let result = Writer::with_limit(1000).gather(&[&*text, &*text], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000, .. })),
        "{result:?}"
    );
}

#[test]
fn bulk_beyond_the_limit_is_not_written() {
    let bytes = vec![7u8; 1000];
    let result = Writer::with_limit(1000).gather(&[&*bytes, &*bytes], |_| ());
    assert!(
        matches!(result, Err(WriteError::TooLong { limit: 1000, .. })),
        "{result:?}"
    );
}

/// Each node reaches the next twice, so the last is reached in more ways than can be written.
#[derive(Transportable)]
struct Twice<'b> {
    id: u64,
    links: Links<'b>,
}

#[derive(Transportable)]
#[repr(u8)]
enum Links<'b> {
    None,
    Both {
        left: &'b Twice<'b>,
        right: [Option<&'b Twice<'b>>; 2],
    },
}

#[test]
fn sharing_that_explodes_is_stopped_at_a_field() {
    let arena = typed_arena::Arena::new();
    let mut last: &Twice<'_> = arena.alloc(Twice {
        id: 0,
        links: Links::None,
    });
    for id in 1..60 {
        let links = Links::Both {
            left: last,
            right: [None, Some(last)],
        };
        last = arena.alloc(Twice { id, links });
    }
    let said = Writer::with_limit(1 << 16)
        .gather(last, |_| ())
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("`Twice.links.left`") || said.contains("`Twice.links.right[1]`"),
        "{said}"
    );
    assert!(said.contains("#[transportable(shared)]"), "{said}");
}

#[test]
fn the_field_of_too_much_text_or_bulk_is_named() {
    #[derive(Transportable)]
    struct Page {
        title: String,
        parts: (u8, Rc<[u8]>),
    }
    let page = |title, bytes| Page {
        title: "t".repeat(title),
        parts: (1, vec![1u8; bytes].into()),
    };
    let said = |page: &Page| {
        Writer::with_limit(1000)
            .gather(page, |_| ())
            .unwrap_err()
            .to_string()
    };
    assert!(
        said(&page(5000, 1)).contains("`Page.title`"),
        "{}",
        said(&page(5000, 1))
    );
    assert!(
        said(&page(1, 5000)).contains("`Page.parts.1`"),
        "{}",
        said(&page(1, 5000))
    );
}
